//! Creating, reading and changing projects.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::files::Form;
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

const PROJECTS: &str = "/companies/acme/projects/";
/// Identifiers that no test gives to anything.
const NOBODY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Everything that a client may say of a project, apart from people, labels and videos.
fn settings() -> Value {
    json!({
        "name": "Sales – Zürich",
        "job_url": "https://jobs.example/1?ref=a&b=c",
        "return_url": "https://jobs.example/done?a=b",
        "email_alias": "jobs@acme.example",
        "mode": "rolling",
        "maximum_score": 10,
        "support_lang": "de",
        "internal_id": "S-1",
        "external_id": "REQ#7",
        "allow_hash_login": true,
        "max_interview_time": 45,
        "interview_platform": "external",
        "invite_candidates": true,
        "default_interview_period": 14,
        "closedate": "2026-12-31",
        "activationdate": "2026-11-09",
        "creationdate": "2026-11-01",
        "contact_person": "Grace Hopper",
        "veto_enabled": true,
        "team_evaluation": 2,
        "reminder_days": [1, 3],
        "partner_data": { "a": [1, 2.5, null, { "ä": "€" }] },
    })
}

#[tokio::test]
async fn a_name_is_enough() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let response = owner.post(PROJECTS, json!({ "name": " Sales " })).await.expect(201);
    let uri = response.uri("resource_uri");
    assert_eq!(response.header("location"), Some(uri.as_str()));
    let expected = json!({
        "id": last_segment(&uri),
        "resource_uri": uri,
        "company": "https://hr.example/api/v3/companies/acme/",
        "name": "Sales",
        "job_url": "",
        "return_url": "",
        "email_alias": "",
        "mode": "rolling",
        "maximum_score": 5,
        "support_lang": "",
        "language": "en-GB",
        "status": "10-incomplete",
        "internal_id": "",
        "external_id": "",
        "allow_hash_login": false,
        "max_interview_time": null,
        "interview_platform": "builtin",
        "invite_candidates": false,
        "default_interview_period": null,
        "closedate": null,
        "activationdate": null,
        "creationdate": "2026-11-08",
        "contact_person": "",
        "veto_enabled": false,
        "status_update_uri": format!("{uri}status/"),
        "evaluators": [],
        "interview_managers": [owner.uri],
        "reviewers": [],
        "labels": [],
        "questions": format!("{uri}questions/"),
        "candidates": format!("{uri}candidates/"),
        "results": format!("{uri}results/"),
        "roles": format!("{uri}roles/"),
        "criteria": format!("{uri}criteria/"),
        "videos": [],
        "can_evaluate": false,
        "can_see_results": false,
        "can_archive": true,
        "candidates_count": 0,
        "interviewed_candidates_count": 0,
        "expired_candidates_count": 0,
        "invited_candidates_count": 0,
        "confirmed_candidates_count": 0,
        "interviewing_candidates_count": 0,
        "aborted_candidates_count": 0,
        "evaluated_candidates_count": 0,
        "my_pending_evaluations_count": null,
        "skipped_candidates_count": 0,
        "partner_data": {},
        "reminder_days": [],
        "evaluation_days": null,
        "team_evaluation": 0,
        "interview_suite_url": format!("https://hr.example/project/acme/{}/", last_segment(&uri)),
    });
    assert_eq!(response.json(), expected, "{response}");
    owner.get(&uri).await.expect_json(200, expected);
}

#[tokio::test]
async fn every_field_is_kept_as_sent() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (label, video) = (owner.label("Vertrieb").await, format!("videos/{NOBODY}/"));
    app.table().put_attachment("acme", "VIDEO", NOBODY).await;
    let company = "https://hr.example/api/v3/companies/acme/";
    let [evaluator, manager] = [app.staff("hiring-manager").await.uri, app.staff("recruiter").await.uri];
    let reviewer = app.staff("hiring-manager").await.uri;
    let mut sent = settings();
    sent["evaluators"] = json!([evaluator]);
    sent["interview_managers"] = json!([owner.uri, manager]);
    sent["reviewers"] = json!([reviewer]);
    sent["labels"] = json!([label]);
    sent["videos"] = json!([{ "uri": format!("{company}{video}"), "position": 3 }]);

    let created = owner.post(PROJECTS, sent.clone()).await.expect(201);
    let uri = created.uri("resource_uri");
    let read = owner.get(&uri).await.expect(200).json();
    assert_eq!(read, created.json());
    for (name, value) in sent.as_object().unwrap() {
        assert_eq!(read[name], *value, "{name}");
    }
    assert_eq!(read["language"], "de-DE");
}

#[tokio::test]
async fn sending_back_a_resource_changes_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for fields in [json!({}), settings()] {
        let uri = owner.project(fields).await;
        owner.candidate(&uri, json!({})).await;
        let read = owner.get(&uri).await.expect(200).json();
        let before = app.table().snapshot().await;
        owner.patch(&uri, read.clone()).await.expect_json(200, read);
        assert_eq!(app.table().snapshot().await, before);
    }
}

#[tokio::test]
async fn a_patch_changes_only_the_fields_it_names() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = owner.project(json!({})).await;
    let mut expected = owner.get(&uri).await.expect(200).json();
    for (name, value) in settings().as_object().unwrap() {
        expected[name] = value.clone();
        expected["language"] = if expected["support_lang"] == "de" { "de-DE" } else { "en-GB" }.into();
        owner.patch(&uri, json!({ name: value })).await.expect_json(200, expected.clone());
        owner.get(&uri).await.expect_json(200, expected.clone());
    }
}

#[tokio::test]
async fn null_and_empty_strings_clear_optional_fields() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let texts = [
        "job_url",
        "return_url",
        "email_alias",
        "support_lang",
        "internal_id",
        "external_id",
        "contact_person",
    ];
    let dates = ["closedate", "activationdate", "max_interview_time", "default_interview_period"];
    for empty in [Value::Null, json!("")] {
        let uri = owner.project(settings()).await;
        for name in texts {
            let project = owner.patch(&uri, json!({ name: empty })).await.expect(200).json();
            assert_eq!(project[name], "", "{name}");
        }
    }
    let uri = owner.project(settings()).await;
    for name in dates {
        let project = owner.patch(&uri, json!({ name: null })).await.expect(200).json();
        assert_eq!(project[name], Value::Null, "{name}");
    }
    let project = owner.patch(&uri, json!({ "partner_data": null })).await.expect(200).json();
    assert_eq!(project["partner_data"], json!({}));
    assert_refusal!(owner.patch(&uri, json!({ "name": null })).await, @r#"400 {"name":["This field may not be null."]}"#);
    assert_refusal!(owner.patch(&uri, json!({ "name": " " })).await, @r#"400 {"name":["This field may not be blank."]}"#);
}

#[tokio::test]
async fn a_project_must_have_a_name() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let missing = json!({ "name": ["This field is required."] });
    owner.post(PROJECTS, json!({ "mode": "rolling" })).await.expect_json(400, missing);
    let names = [
        json!(""),
        json!("  "),
        json!("\u{200d}"),
        json!("\u{301}"),
        Value::Null,
        json!(1),
        json!("x".repeat(151)),
    ];
    assert_refusals!(send_each(names, |name| owner.post(PROJECTS, json!({ "name": name }))).await, @r#"
        4 x 400 {"name":["This field may not be blank."]}
        400 {"name":["This field may not be null."]}
        400 {"name":["Not a valid string."]}
        400 {"name":["Ensure this field has no more than 150 characters."]}
        "#);
    assert_eq!(owner.get(PROJECTS).await.expect(200).json()["meta"]["total_count"], 0);
}

#[tokio::test]
async fn read_only_fields_are_ignored() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let ignored = json!({
        "resource_uri": "https://elsewhere.example/",
        "company": "https://hr.example/api/v3/companies/globex/",
        "language": "nl-NL",
        "status": "60-closed",
        "candidates_count": 7,
        "can_archive": "no",
        "questions": 1,
    });
    let uri = owner.project(ignored.clone()).await;
    let read = owner.get(&uri).await.expect(200).json();
    assert_eq!((&read["status"], &read["language"]), (&json!("10-incomplete"), &json!("en-GB")));
    assert_eq!(read["candidates_count"], 0);
    owner.patch(&uri, ignored).await.expect_json(200, read);
}

#[tokio::test]
async fn everything_wrong_is_reported_at_once() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let wrong = json!({
        "name": ["Sales"],
        "job_url": "javascript:alert(1)",
        "return_url": "javascript:alert(1)",
        "email_alias": "nobody",
        "mode": "rocking",
        "maximum_score": 0,
        "support_lang": "xx",
        "internal_id": 1,
        "external_id": 1,
        "allow_hash_login": "yes",
        "max_interview_time": -1,
        "interview_platform": "here",
        "invite_candidates": 1,
        "default_interview_period": 1.5,
        "closedate": "31.12.2026",
        "activationdate": "2026-02-30",
        "creationdate": 20_261_108,
        "contact_person": {},
        "veto_enabled": null,
        "team_evaluation": 3,
        "partner_data": [],
        "labels": "none",
        "videos": [{ "uri": "x" }],
        "evaluators": [1],
        "interview_managers": {},
        "reviewers": ["https://elsewhere.example/"],
    });
    let uri = owner.project(json!({})).await;
    for refused in [owner.post(PROJECTS, wrong.clone()).await, owner.patch(&uri, wrong).await] {
        assert_refusal!(refused, @r#"
            400 {
              "activationdate":["Date has wrong format. Use YYYY-MM-DD."],
              "allow_hash_login":["Must be a valid boolean."],
              "closedate":["Date has wrong format. Use YYYY-MM-DD."],
              "contact_person":["Not a valid string."],
              "creationdate":["Not a valid string."],
              "default_interview_period":["A valid integer is required."],
              "email_alias":["Enter a valid email address."],
              "evaluators":["Expected a list of references."],
              "external_id":["Not a valid string."],
              "internal_id":["Not a valid string."],
              "interview_managers":["Expected a list of items."],
              "interview_platform":["\"here\" is not a valid choice. Use one of: builtin, external."],
              "invite_candidates":["Must be a valid boolean."],
              "job_url":["Enter a valid URL that begins with https:// or http://."],
              "labels":["Expected a list of items."],
              "max_interview_time":["Ensure this value is from 1 to 100000."],
              "maximum_score":["Ensure this value is from 1 to 1000."],
              "mode":["\"rocking\" is not a valid choice. Use one of: rolling."],
              "name":["Not a valid string."],
              "partner_data":["Expected an object."],
              "return_url":["Use a URL that begins with https://"],
              "reviewers":["\"https://elsewhere.example/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."],
              "support_lang":["\"xx\" is not a valid choice. Use one of: en, de, fr, es, it, nl."],
              "team_evaluation":["Ensure this value is from 0 to 2."],
              "veto_enabled":["This field may not be null."],
              "videos":["Expected objects with uri and position."]
            }
            "#);
    }
    let values = [json!(-1), json!(3), json!("1"), Value::Null];
    let refusals = send_each(values, |value| owner.patch(&uri, json!({ "team_evaluation": value }))).await;
    assert_refusals!(refusals, @r#"
        2 x 400 {"team_evaluation":["Ensure this value is from 0 to 2."]}
        400 {"team_evaluation":["A valid integer is required."]}
        400 {"team_evaluation":["This field may not be null."]}
        "#);
}

#[tokio::test]
async fn partner_data_is_bounded() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = owner.project(json!({})).await;
    let fits = json!({ "a": "x".repeat(4088) });
    owner.patch(&uri, json!({ "partner_data": fits })).await.expect(200);
    let over = json!({ "a": "x".repeat(4089) });
    assert_refusal!(owner.patch(&uri, json!({ "partner_data": over })).await, @r#"400 {"partner_data":["Ensure this field has no more than 4096 bytes as JSON."]}"#);
}

#[tokio::test]
async fn partner_data_keeps_all_digits_of_numbers() {
    const SENT: &str =
        r#"{ "id": 18446744073709551616, "of": [ -9223372036854775809, 0.12345678901234567890, 1.50 ] }"#;
    const KEPT: &str = r#""partner_data":{"id":18446744073709551616,"of":[-9223372036854775809,0.12345678901234567890,1.50]}"#;
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = owner.project(json!({})).await;
    let body = |rest: &str| format!(r#"{{{rest} "partner_data": {SENT}}}"#);
    let change = Request::patch(&uri).body("application/json", body(""));
    let changed = String::from_utf8(owner.send(change).await.expect(200).body).unwrap();
    assert!(changed.contains(KEPT), "{changed}");
    let ada = body(r#""first_name": "Ada", "last_name": "Byron","#);
    let candidates = format!("{uri}candidates/");
    let created =
        owner.send(Request::post(&candidates).body("application/json", ada.clone())).await.expect(201);
    let by_form = Form::new().text("first_name", "Ada").text("last_name", "Byron").text("partner_data", SENT);
    let by_form = owner.send(Request::post(&candidates).form(by_form)).await.expect(201);
    let list = format!("[{ada}, {ada}]");
    let import = Request::post(&format!("{candidates}import/")).body("application/json", list);
    owner.send(import).await.expect(200);
    for response in [
        owner.get(&uri).await,
        owner.get(&created.uri("resource_uri")).await,
        owner.get(&by_form.uri("resource_uri")).await,
        owner.get(&format!("{}data/", created.uri("resource_uri"))).await,
    ] {
        let shown = String::from_utf8(response.expect(200).body).unwrap();
        assert!(shown.contains(KEPT), "{shown}");
    }
    let listed = String::from_utf8(owner.get(&candidates).await.expect(200).body).unwrap();
    assert_eq!(listed.matches(KEPT).count(), 4, "{listed}");
}

#[tokio::test]
async fn projects_are_not_deleted() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = owner.project(json!({})).await;
    let response = owner.send(Request::delete(&uri)).await;
    assert_refusal!(response, @r#"405 {"code":"method_not_allowed","detail":"Method not allowed. The `Allow` header lists the methods of this path."}"#);
    assert_eq!(response.header("allow"), Some("GET,HEAD,PATCH"));
}
