//! The deadline action: what it takes, and what it leaves alone.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

/// The service, its owner, and a candidate of a running project.
async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let uri = owner.candidate(&project, json!({ "email": "ada@mail.example" })).await;
    (app, owner, uri)
}

#[tokio::test]
async fn any_moment_with_a_zone_is_taken_and_shown_in_utc() {
    let (_, owner, uri) = given().await;
    let mut expected = owner.get(&uri).await.expect(200).json();
    for (sent, shown) in [
        ("2026-12-24T18:00:00Z", "2026-12-24T18:00:00Z"),
        ("2026-12-24T18:00:00+01:00", "2026-12-24T17:00:00Z"),
        ("2027-01-01T00:30:00+05:45", "2026-12-31T18:45:00Z"),
        ("2026-12-24T18:00:00-0800", "2026-12-25T02:00:00Z"),
        ("2026-12-24T18:00:00.999Z", "2026-12-24T18:00:00Z"),
        ("2099-01-02t03:04:05z", "2099-01-02T03:04:05Z"),
        ("2099-01-02 03:04:05+00:00", "2099-01-02T03:04:05Z"),
        ("2099-12-31T24:00:00Z", "2100-01-01T00:00:00Z"),
        // A past one too, so that rules can be seen to refuse.
        ("2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z"),
        // A hundred years after the moment of the test.
        ("2126-11-08T10:00:00Z", "2126-11-08T10:00:00Z"),
    ] {
        expected["deadline"] = json!(shown);
        owner.set_deadline(&uri, sent).await.expect_json(200, expected.clone());
        owner.get(&uri).await.expect_json(200, expected.clone());
    }
}

#[tokio::test]
async fn a_deadline_needs_a_time_zone() {
    let (app, owner, uri) = given().await;
    let target = format!("{uri}deadline/");
    let before = app.table().snapshot().await;
    let required = json!({ "deadline": ["This field is required."] });
    owner.patch(&target, json!({})).await.expect_json(400, required);
    assert_refusal!(owner.patch(&target, json!({ "Deadline": "2026-12-24T18:00:00Z" })).await, @r#"400 {"Deadline":["There is no such field. Did you mean deadline?"],"deadline":["This field is required."]}"#);
    assert_refusal!(owner.patch(&target, json!({ "deadline": null })).await, @r#"400 {"deadline":["This field may not be null."]}"#);
    let form = json!({ "deadline": ["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."] });
    for text in [
        "2026-12-24T18:00:00",
        "2026-12-24",
        "soon",
        "24.12.2026 18:00",
        "2026-02-30T00:00:00Z",
        "2026-12-24T24:00:01Z",
        "2026-12-24T25:00:00Z",
        "10000-01-01T00:00:00Z",
        "+10000-01-01T00:00:00Z",
        "9999-12-31T23:59:59-01:00",
    ] {
        owner.set_deadline(&uri, text).await.expect_json(400, form.clone());
    }
    for text in ["2126-11-08T10:00:01Z", "9999-12-31T23:59:59Z"] {
        let far = json!({ "deadline": ["Must be within a hundred years."] });
        owner.set_deadline(&uri, text).await.expect_json(400, far);
    }
    let values = [json!(""), json!(1_798_135_200), json!(true), json!(["2026-12-24T18:00:00Z"]), json!({})];
    assert_refusals!(send_each(values, |value| owner.patch(&target, json!({ "deadline": value }))).await, @r#"
        400 {"deadline":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]}
        4 x 400 {"deadline":["Not a valid string."]}
        "#);
    let without_body = owner.send(Request::patch(&target)).await;
    assert!(without_body.status.is_client_error(), "{without_body}");
    owner.patch(&target, json!(["2026-12-24T18:00:00Z"])).await.expect(400);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn the_same_deadline_again_is_no_write() {
    let (app, owner, uri) = given().await;
    owner.set_deadline(&uri, "2026-12-24T18:00:00Z").await.expect(200);
    owner.advance(&uri).await.expect(200);
    let before = app.table().snapshot().await;
    for same in ["2026-12-24T18:00:00Z", "2026-12-24T19:00:00+01:00", "2026-12-24T18:00:00.5Z"] {
        let again = owner.set_deadline(&uri, same).await.expect(200);
        assert_eq!(again.log().write_units, 0.0, "{same}");
    }
    assert_eq!(app.table().snapshot().await, before, "nor is anybody told");
}

#[tokio::test]
async fn it_changes_the_deadline_and_nothing_else() {
    let (_, owner, uri) = given().await;
    let mut expected = owner.get(&uri).await.expect(200).json();
    expected["deadline"] = json!("2026-12-24T18:00:00Z");
    let body = json!({
        "deadline": "2026-12-24T18:00:00Z", "first_name": "Eve", "email": "eve@mail.example", "status": "invited",
    });
    owner.patch(&format!("{uri}deadline/"), body).await.expect_json(200, expected);
}

#[tokio::test]
async fn candidates_continue_as_soon_as_the_deadline_is_moved() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let invited = owner.invite(&project, json!({})).await;
    owner.set_deadline(&invited.uri, "2001-01-01T00:00:00Z").await.expect(200);
    assert_refusal!(invited.advance(&invited.uri).await, @r#"401 {"code":"invalid_credential","detail":"The credential is invalid or has expired."}"#);
    owner.set_deadline(&invited.uri, "2026-12-24T18:00:00Z").await.expect(200);
    let confirmed = invited.advance(&invited.uri).await.expect(200).json();
    assert_eq!(confirmed["status"], "confirmed");
    // Cleared, it never passes; but without one no interview begins.
    owner.patch(&invited.uri, json!({ "deadline": null })).await.expect(200);
    let whoami = invited.get("/whoami/candidate/").await.expect(200).json();
    assert_eq!((&whoami["deadline"], &whoami["seconds_until_deadline"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn five_mails_an_hour_tell_of_new_deadlines_or_remind() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    let silent = owner.invite(&project, json!({ "receive_mails": false })).await;
    for days in 8..13 {
        owner.set_deadline(&ada.uri, &app.clock().in_days(days)).await.expect(200);
    }
    let before = app.table().snapshot().await;
    assert_refusal!(owner.set_deadline(&ada.uri, &app.clock().in_days(13)).await, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
    let patched = owner.patch(&ada.uri, json!({ "deadline": app.clock().in_days(13) })).await;
    assert_eq!(patched.expect(429).header("retry-after"), Some("3600"));
    owner.post(&format!("{}reminder/", ada.uri), json!({})).await.expect(429);
    assert_eq!(app.table().snapshot().await, before);
    // Changes that send no mail are not limited.
    owner.set_deadline(&ada.uri, &app.clock().in_days(12)).await.expect(200);
    for days in 8..16 {
        owner.set_deadline(&silent.uri, &app.clock().in_days(days)).await.expect(200);
    }
    app.settle().await;
    let told = app.mails_to(&ada.email);
    assert_eq!(told.len(), 6, "with the invitation");
    app.clock().advance(TimeDelta::hours(1));
    owner.set_deadline(&ada.uri, &app.clock().in_days(13)).await.expect(200);
}

#[tokio::test]
async fn no_request_sets_a_deadline_more_than_a_hundred_years_ahead() {
    let (_, owner, uri) = given().await;
    let (project, _) = uri.split_once("candidates/").unwrap();
    let person = |deadline: &str| json!({ "first_name": "Ada", "last_name": "Byron", "deadline": deadline });
    let [latest, beyond] = ["2126-11-08T10:00:00Z", "2126-11-08T10:00:01Z"];
    let refusal = json!({ "deadline": ["Must be within a hundred years."] });
    let list = format!("{project}candidates/");
    for (deadline, is_taken) in [(latest, true), (beyond, false)] {
        let answers = [
            (owner.post(&list, person(deadline)).await, 201),
            (owner.patch(&uri, json!({ "deadline": deadline })).await, 200),
            (owner.set_deadline(&uri, deadline).await, 200),
            (
                owner
                    .post(
                        &format!("{list}bulk/"),
                        json!({ "action": "advance", "candidates": [uri], "deadline": deadline }),
                    )
                    .await,
                200,
            ),
        ];
        for (answer, status) in answers {
            if is_taken {
                answer.expect(status);
            } else {
                answer.expect_json(400, refusal.clone());
            }
        }
        let row = owner.post(&format!("{list}import/"), json!([person(deadline)])).await.expect(200).json()["objects"][0].clone();
        let (status, errors) =
            if is_taken { ("new", row["errors"].clone()) } else { ("failed", refusal.clone()) };
        assert_eq!((&row["status"], &row["errors"]), (&json!(status), &errors), "{row}");
    }
}
