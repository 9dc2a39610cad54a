//! Changing the company's settings.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::{assert_refusal, assert_refusals};

const COMPANY: &str = "/companies/acme/";

fn settings() -> Value {
    json!({
        "name": "Acme GmbH",
        "address": "Hauptstraße 1\nHinterhaus",
        "city": "Berlin",
        "postcode": "10115",
        "country": "Deutschland",
        "phone": "+49 30 1234",
        "default_interview_period": 14,
        "default_maximum_score": 10,
        "default_project_lang": "de",
        "registration_email": "jobs@acme.example",
        "app_url": "https://app.acme.example/",
        "timezone": "Europe/Berlin",
    })
}

#[tokio::test]
async fn every_setting_is_kept_as_sent() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let mut expected = settings();
    let changed = owner.patch(COMPANY, settings()).await.expect(200);
    expected["id"] = "acme".into();
    expected["resource_uri"] = "https://hr.example/api/v3/companies/acme/".into();
    expected["logo"] = Value::Null;
    assert_eq!(changed.json(), expected);
    assert_eq!(changed.log().dynamodb_calls, 2);
    owner.get(COMPANY).await.expect_json(200, expected.clone());

    // Each may be taken back, or left alone.
    let emptied = json!({
        "address": null, "city": "", "phone": null, "default_interview_period": null,
        "registration_email": "", "app_url": "", "timezone": "",
    });
    for (name, value) in emptied.as_object().unwrap() {
        expected[name] = if name == "default_interview_period" { Value::Null } else { "".into() };
        let changed = owner.patch(COMPANY, json!({ name: value })).await.expect(200);
        assert_eq!(changed.json(), expected, "{name}");
    }
    for name in ["registration_email", "app_url", "timezone"] {
        owner.patch(COMPANY, json!({ name: null })).await.expect_json(200, expected.clone());
    }
}

#[tokio::test]
async fn sending_back_a_resource_changes_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    owner.patch(COMPANY, settings()).await.expect(200);
    let before = app.table().snapshot().await;
    let mut read = owner.get(COMPANY).await.expect(200).json();
    owner.patch(COMPANY, read.clone()).await.expect_json(200, read.clone());
    // Nor do fields that are not a client's to set.
    read["resource_uri"] = "https://elsewhere.example/".into();
    read["logo"] = "https://elsewhere.example/".into();
    let unchanged = owner.patch(COMPANY, read).await.expect(200);
    assert_eq!(unchanged.log().write_units, 0.0);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn invalid_fields_are_named_and_nothing_is_changed() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let before = app.table().snapshot().await;
    let mut refusals = Vec::new();
    for (name, values) in [
        ("name", json!(["", " ", null, 1, "x".repeat(151)])),
        ("address", json!([1, "x".repeat(256)])),
        ("city", json!(["x".repeat(151)])),
        ("postcode", json!(["x".repeat(21)])),
        ("country", json!(["x".repeat(101)])),
        ("phone", json!(["x".repeat(51)])),
        ("default_interview_period", json!([0, -1, 3651, 1.5, "7"])),
        ("default_maximum_score", json!([0, 1001, null, "5"])),
        ("default_project_lang", json!(["", "xx", "EN", null])),
        ("registration_email", json!(["nobody", "a@b", "Jobs <jobs@acme.example>", 1])),
        ("app_url", json!(["app.example", "javascript:alert(1)", 1])),
        ("timezone", json!(["Berlin", "europe/berlin", "+01:00", "Europe/Nowhere", 1])),
    ] {
        for value in values.as_array().unwrap() {
            refusals.push(owner.patch(COMPANY, json!({ name: value })).await);
        }
    }
    assert_refusals!(refusals, @r#"
        2 x 400 {"name":["This field may not be blank."]}
        400 {"name":["This field may not be null."]}
        400 {"name":["Not a valid string."]}
        400 {"name":["Ensure this field has no more than 150 characters."]}
        400 {"address":["Not a valid string."]}
        400 {"address":["Ensure this field has no more than 255 characters."]}
        400 {"city":["Ensure this field has no more than 150 characters."]}
        400 {"postcode":["Ensure this field has no more than 20 characters."]}
        400 {"country":["Ensure this field has no more than 100 characters."]}
        400 {"phone":["Ensure this field has no more than 50 characters."]}
        3 x 400 {"default_interview_period":["Ensure this value is from 1 to 3650."]}
        2 x 400 {"default_interview_period":["A valid integer is required."]}
        2 x 400 {"default_maximum_score":["Ensure this value is from 1 to 1000."]}
        400 {"default_maximum_score":["This field may not be null."]}
        400 {"default_maximum_score":["A valid integer is required."]}
        400 {"default_project_lang":["\"\" is not a valid choice. Use one of: en, de, fr, es, it, nl."]}
        400 {"default_project_lang":["\"xx\" is not a valid choice. Use one of: en, de, fr, es, it, nl."]}
        400 {"default_project_lang":["\"EN\" is not a valid choice. Use one of: en, de, fr, es, it, nl."]}
        400 {"default_project_lang":["This field may not be null."]}
        3 x 400 {"registration_email":["Enter a valid email address."]}
        400 {"registration_email":["Not a valid string."]}
        2 x 400 {"app_url":["Enter a valid URL that begins with https:// or http://."]}
        400 {"app_url":["Not a valid string."]}
        4 x 400 {"timezone":["Use an IANA time zone name, for example Europe/Berlin."]}
        400 {"timezone":["Not a valid string."]}
        "#);
    let all = json!({ "name": "", "timezone": "x", "registration_email": "x" });
    assert_refusal!(owner.patch(COMPANY, all).await, @r#"
        400 {
          "name":["This field may not be blank."],
          "registration_email":["Enter a valid email address."],
          "timezone":["Use an IANA time zone name, for example Europe/Berlin."]
        }
        "#);
    assert_refusal!(owner.patch(COMPANY, json!([])).await, @r#"400 {"non_field_errors":["Invalid data. Expected an object."]}"#);
    assert_eq!(app.table().snapshot().await, before);
    // Invisible characters are dropped, and the rest is stored.
    let pasted = owner.patch(COMPANY, json!({ "city": "a\u{7}b\u{feff}" })).await.expect(200).json();
    assert_eq!(pasted["city"], "ab");
}

#[tokio::test]
async fn new_projects_begin_with_the_companys_defaults() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    owner.patch(COMPANY, settings()).await.expect(200);
    let project = owner.running_project(json!({})).await;
    let read = owner.get(&project).await.expect(200).json();
    assert_eq!((&read["maximum_score"], &read["language"]), (&json!(10), &json!("de-DE")));
    let candidate = owner.candidate(&project, json!({ "email": "ada@mail.example" })).await;
    let advanced = owner.advance(&candidate).await.expect(200).json();
    assert_eq!(advanced["deadline"], app.clock().in_days(14));
}

#[tokio::test]
async fn of_two_changes_at_once_none_is_lost() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let change = async |name: &str, value: &str| loop {
        let response = owner.patch(COMPANY, json!({ name: value })).await;
        match response.status.as_u16() {
            409 => response.expect_code(409, "changed"),
            _ => break response.expect(200),
        };
    };
    tokio::join!(change("city", "Berlin"), change("phone", "123"), change("country", "Deutschland"));
    let read = owner.get(COMPANY).await.expect(200).json();
    assert_eq!(
        [&read["city"], &read["phone"], &read["country"]],
        [&json!("Berlin"), &json!("123"), &json!("Deutschland")]
    );
}
