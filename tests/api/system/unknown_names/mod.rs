//! Names that an operation does not know are refused, wherever they stand: whoever mistypes a restriction must not get the
//! unrestricted thing.

mod walk;

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};
use tests::document::document;
use tests::files::Form;
use tests::http::Request;
use tests::{assert_refusal, assert_refusals};

use crate::system::access::{AccessFixture, AccessTable};

const NO_FIELD: &str = "There is no such field.";

#[tokio::test]
async fn what_was_read_can_be_sent_back() {
    let given = AccessFixture::new().await;
    let document = document().finish().unwrap();
    let mut tried = BTreeSet::new();
    for row in AccessTable::read().rows.iter().filter(|row| matches!(row.method, Method::PATCH | Method::PUT))
    {
        let is_shown = document["paths"][row.path].get("get").is_some();
        let is_json =
            document["paths"][row.path][row.method.as_str().to_ascii_lowercase()]["requestBody"]["content"]
                .get("application/json")
                .is_some();
        if !is_shown || !is_json {
            continue;
        }
        let request = given.request(AccessFixture::doer(row), row).await;
        // First, because there may be nothing to read before.
        let written = given.app.send(request.clone()).await;
        assert!(written.status.is_success(), "{written}");
        let read = given.app.send(request.clone().without_body().as_get()).await.expect(200);
        let sent = given.app.send(request.without_body().json(&read.json())).await;
        assert!(sent.status.is_success(), "{} {}: {sent}", row.method, row.path);
        tried.insert(row.path);
    }
    assert!(tried.len() >= 14, "{tried:?}");
}

#[tokio::test]
async fn resources_in_the_place_of_references_can_be_sent_back() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let label = owner.label("Senior").await;
    let colleague = owner.colleague("recruiter", json!({})).await;
    let project = owner.project(json!({
        "labels": [label], "evaluators": [owner.uri], "reviewers": [colleague.uri], "interview_managers": [owner.uri],
    }));
    let project = project.await;
    let names = "evaluators,interview_managers,reviewers,labels,roles,videos,questions,criteria";
    let expanded = owner.get(&format!("{project}?expand={names}")).await.expect(200).json();
    assert_eq!(expanded["evaluators"][0]["resource_uri"], owner.uri);
    let before = owner.get(&project).await.expect(200).json();
    owner.patch(&project, expanded).await.expect_json(200, before.clone());
    // A row of the list has another spelling.
    let row = owner.get("/companies/acme/projects/").await.expect(200).json()["objects"][0].clone();
    assert!(row.get("skipped_candiates_count").is_some());
    owner.patch(&project, row).await.expect_json(200, before);
    let refused = json!({ "labels": [{ "text": "Senior" }], "evaluators": [{}], "videos": [{ "url": "x", "position": 1 }] });
    assert_refusal!(owner.patch(&project, refused).await, @r#"
        400 {
          "evaluators":["Expected a list of references."],
          "labels":["Expected a list of references."],
          "videos":["Expected objects with uri and position."],
          "videos[0].url":["There is no such field. Did you mean uri?"]
        }
        "#);
}

#[tokio::test]
async fn restrictions_that_are_mistyped_are_refused_with_what_may_have_been_meant() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidates = format!("{project}candidates/");
    let candidate = owner.candidate(&project, json!({})).await;
    let ada = |name: &str, value: Value| json!({ "first_name": "Ada", "last_name": "Byron", name: value });
    let token = |name: &str, value: Value| json!({ "name": "CI", name: value });
    let bodies = [
        (candidates.clone(), ada("recieve_mails", json!(false))),
        (candidates.clone(), ada("externalId", json!("7"))),
        (candidates.clone(), ada("Deadline", json!(null))),
        ("/companies/acme/projects/".to_owned(), json!({ "name": "Copy", "copyOf": project })),
        ("/companies/acme/tokens/".to_owned(), token("readonly", json!(true))),
        ("/companies/acme/tokens/".to_owned(), token("accountType", json!("admin"))),
        ("/companies/acme/tokens/".to_owned(), token("expires", json!("2027-01-01T00:00:00Z"))),
        (format!("{candidate}guest-links/"), json!({ "recipient": "Sales", "hideName": true })),
        (format!("{candidates}bulk/"), json!({ "action": "skip", "status": "new", "dryrun": true })),
        (format!("{candidate}reminder/"), json!({ "dry_run": true })),
    ];
    let before = app.table().snapshot().await;
    let mut refusals = Vec::new();
    for (target, body) in bodies {
        refusals.push(owner.post(&target, body).await);
    }
    refusals.push(owner.patch(&candidate, json!({ "adjustments": { "time_faktor": 2 } })).await);
    refusals.push(owner.patch(&format!("{candidate}status/skip/"), json!({ "mail": false })).await);
    assert_refusals!(refusals, @r#"
        400 {"recieve_mails":["There is no such field. Did you mean receive_mails?"]}
        400 {"externalId":["There is no such field. Did you mean external_id?"]}
        400 {"Deadline":["There is no such field. Did you mean deadline?"]}
        400 {"copyOf":["There is no such field. Did you mean copy_of?"]}
        400 {"readonly":["There is no such field. Did you mean read_only?"]}
        400 {"accountType":["There is no such field. Did you mean account_type?"]}
        400 {"expires":["There is no such field. Did you mean expires_at?"]}
        400 {"hideName":["There is no such field. Did you mean hide_name?"]}
        400 {"dryrun":["There is no such field. Did you mean dry_run?"]}
        400 {"dry_run":["There is no such field."]}
        400 {"adjustments.time_faktor":["There is no such field. Did you mean time_factor?"]}
        400 {"mail":["There is no such field. Did you mean email?"]}
        "#);
    let mut refusals = Vec::new();
    for query in [
        "externalid=7",
        "external_Id=7",
        "stauts=new",
        "ordering=name",
        "limit=5",
        "pageSize=5",
        "=",
        "page=1&page=2",
        "status=new&status=x",
    ] {
        refusals.push(owner.get(&format!("{candidates}?{query}")).await);
    }
    refusals.push(owner.get(&format!("{project}?expand=labels&expnad=roles")).await);
    refusals.push(owner.get("/companies/acme/events/?page=2").await);
    refusals.push(owner.get("/companies/acme/search/?q=a&Q=b").await);
    refusals.push(
        owner.post(&format!("{candidates}import/?dryrun=true"), json!([ada("email", json!(null))])).await,
    );
    refusals.push(owner.send(Request::delete(&format!("{candidate}?dry_run=true"))).await);
    assert_refusals!(refusals, @r#"
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter externalid. Did you mean external_id?",
          "parameter":"externalid"
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter external_Id. Did you mean external_id?",
          "parameter":"external_Id"
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter stauts. Did you mean status?",
          "parameter":"stauts"
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter ordering.",
          "parameter":"ordering"
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter limit.",
          "parameter":"limit"
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter pageSize. Did you mean page_size?",
          "parameter":"pageSize"
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter .",
          "parameter":""
        }
        400 {
          "code":"repeated_parameter",
          "detail":"The parameter page may be sent only once.",
          "parameter":"page"
        }
        400 {
          "code":"repeated_parameter",
          "detail":"The parameter status may be sent only once.",
          "parameter":"status"
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter expnad. Did you mean expand?",
          "parameter":"expnad"
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter page.",
          "parameter":"page"
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter Q. Did you mean q?",
          "parameter":"Q"
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter dryrun. Did you mean dry_run?",
          "parameter":"dryrun"
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter dry_run.",
          "parameter":"dry_run"
        }
        "#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn a_refusal_tells_twenty_names_and_a_hundred_characters_of_each() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let many: Value = (0..1000)
        .map(|number| (format!("{}{number:04}", "x".repeat(1000)), json!(1)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let refused = owner.patch(&project, many.clone()).await.expect(400);
    let errors = refused.json();
    // All begin alike, so they are one field.
    assert_eq!(errors.as_object().unwrap().keys().collect::<Vec<_>>(), [&format!("{}…", "x".repeat(100))]);
    let short: Value =
        (0..1000).map(|number| (format!("x{number:04}"), json!(1))).collect::<serde_json::Map<_, _>>().into();
    let errors = owner.patch(&project, short.clone()).await.expect(400).json();
    assert_eq!(errors.as_object().unwrap().len(), 20);
    // Each row tells one in any case.
    let rows: Vec<Value> = (0..100).map(|_| short.clone()).collect();
    let report = owner.post(&format!("{project}candidates/import/"), json!(rows)).await.expect(200).json();
    let unknown =
        |row: &Value| row["errors"].as_object().unwrap().keys().filter(|name| name.starts_with('x')).count();
    let counts: Vec<usize> = report["objects"].as_array().unwrap().iter().map(unknown).collect();
    assert_eq!((counts[0], &counts[1..]), (20, &[1; 99][..]));
    let refused =
        owner.get(&format!("{project}?{}=1", "y".repeat(2000))).await.expect_code(400, "unknown_parameter");
    assert_eq!(refused.json()["parameter"], format!("{}…", "y".repeat(100)));
    assert!(refused.body.len() < 400);
}

#[tokio::test]
async fn names_are_looked_at_after_admission_and_before_values() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let hiring = app.staff("hiring-manager").await;
    let project = owner.project(json!({})).await;
    let (_, reading) = owner.named_token_with(json!({ "read_only": true })).await;
    let labels = Request::post("/companies/acme/labels/?madeup=1").json(&json!({ "madeup": 1, "text": 7 }));
    app.send(labels.clone()).await.expect(401);
    hiring.send(labels.clone()).await.expect_code(403, "permission_denied");
    reading.send(labels.clone()).await.expect_code(403, "read_only_token");
    hiring.patch(&format!("{project}?madeup=1"), json!({ "madeup": 1 })).await.expect(404);
    owner.send(labels).await.expect_code(400, "unknown_parameter");
    let values = owner.post("/companies/acme/labels/", json!({ "madeup": 1, "text": 7 })).await;
    let query = owner.get("/companies/acme/customers/?status=x&page=0&account_type=x").await;
    let unknown = owner.get("/companies/acme/customers/?status=x&page=0&madeup=x").await;
    assert_refusals!([values, query, unknown], @r#"
        400 {"madeup":["There is no such field."],"text":["Not a valid string."]}
        400 {
          "account_type":["\"x\" is not a valid choice. Use one of: hiring-manager, recruiter, admin, owner."],
          "page":["Use a whole number from 1 to 18446744073709551615."],
          "status":["\"x\" is not a valid choice. Use one of: invited, confirmed."]
        }
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter madeup.",
          "parameter":"madeup"
        }
        "#);
    // A client may correct the names and send the same key, as for wrong values.
    let label =
        |body: Value| Request::post("/companies/acme/labels/").header("idempotency-key", "one").json(&body);
    owner.send(label(json!({ "text": "New", "txet": 1 }))).await.expect(400);
    owner.send(label(json!({ "text": "New" }))).await.expect(201);
}

#[tokio::test]
async fn the_dry_run_of_a_bulk_is_taken_from_body_and_query() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let bulk = format!("{project}candidates/bulk/");
    let skip = |dry_run: Value| json!({ "action": "skip", "candidates": [candidate], "dry_run": dry_run });
    let without = json!({ "action": "skip", "candidates": [candidate] });
    let before = app.table().snapshot().await;
    for (query, body) in
        [("?dry_run=true", without.clone()), ("?dry_run=true", skip(json!(true))), ("", skip(json!(true)))]
    {
        let report = owner.post(&format!("{bulk}{query}"), body).await.expect(200).json();
        assert_eq!(report["meta"]["mails"], 0, "{report}");
    }
    let disagree = owner.post(&format!("{bulk}?dry_run=true"), skip(json!(false))).await;
    let other = owner.post(&format!("{bulk}?dry_run=false"), skip(json!(true))).await;
    let wrong = owner.post(&format!("{bulk}?dry_run=yes"), without.clone()).await;
    let empty = owner.post(&format!("{bulk}?dry_run="), without.clone()).await;
    assert_refusals!([disagree, other, wrong, empty], @r#"
        2 x 400 {"dry_run":["Body and query disagree. Send `dry_run` in one of them."]}
        2 x 400 {"dry_run":["Must be `true` or `false`."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    owner.post(&format!("{bulk}?dry_run=false"), without).await.expect(200);
    assert_eq!(owner.get(&candidate).await.expect(200).json()["status"], "skipped");
}

#[tokio::test]
async fn rows_with_unknown_names_fail_alone_or_all_together() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let ada = json!({ "first_name": "Ada", "last_name": "Byron" });
    let mut mistyped = ada.clone();
    mistyped["dry_run"] = json!(true);
    // A candidate as another list shows them can be imported.
    let shown = owner.get(&owner.candidate(&project, json!({})).await).await.expect(200).json();
    let report = owner.post(&format!("{project}candidates/import/"), json!([ada, mistyped, shown])).await;
    let report = report.expect(200).json();
    let statuses: Vec<_> =
        report["objects"].as_array().unwrap().iter().map(|row| row["status"].clone()).collect();
    assert_eq!(statuses, ["new", "failed", "new"], "{report}");
    assert_eq!(report["objects"][1]["errors"], json!({ "dry_run": [NO_FIELD] }));
    let mut staff = owner.get(&owner.uri).await.expect(200).json();
    staff["pk_attribute"] = json!("username");
    let mut other = staff.clone();
    other["username"] = json!("other");
    other["acount_type"] = json!("admin");
    let import = "/companies/acme/customers/batch-import/";
    assert_refusal!(owner.post(import, json!([staff, other])).await, @r#"400 {"[1].acount_type":["There is no such field. Did you mean account_type?"]}"#);
    owner.post(import, json!([staff])).await.expect(200);
}

#[tokio::test]
async fn only_null_takes_a_date_away_but_in_forms() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({ "deadline": "2027-01-01T00:00:00Z" })).await;
    let mut refusals = Vec::new();
    for name in ["closedate", "activationdate", "creationdate"] {
        refusals.push(owner.patch(&project, json!({ name: "" })).await);
        owner.patch(&project, json!({ name: null })).await.expect(200);
    }
    refusals.push(owner.patch(&candidate, json!({ "deadline": " " })).await);
    refusals.push(owner.post("/companies/acme/tokens/", json!({ "name": "CI", "expires_at": "" })).await);
    refusals.push(
        owner
            .post(&format!("{candidate}guest-links/"), json!({ "recipient": "Sales", "expires_at": "" }))
            .await,
    );
    let hold = json!({ "reason": "A lawsuit.", "until": "" });
    refusals.push(owner.send(Request::put(&format!("{candidate}hold/")).json(&hold)).await);
    let advance = json!({ "action": "advance", "candidates": [candidate], "deadline": "" });
    refusals.push(owner.post(&format!("{project}candidates/bulk/"), advance).await);
    assert_refusals!(refusals, @r#"
        400 {"closedate":["Date has wrong format. Use YYYY-MM-DD."]}
        400 {"activationdate":["Date has wrong format. Use YYYY-MM-DD."]}
        400 {"creationdate":["Date has wrong format. Use YYYY-MM-DD."]}
        2 x 400 {"deadline":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]}
        2 x 400 {"expires_at":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]}
        400 {"until":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]}
        "#);
    let cleared =
        owner.send(Request::patch(&candidate).form(Form::new().text("deadline", ""))).await.expect(200);
    assert_eq!(cleared.json()["deadline"], Value::Null);
}

#[tokio::test]
async fn names_that_mean_nothing_are_let_pass() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    for query in ["format=json", "_=1764374400000", "_=1&format=json&_=2", ""] {
        owner.get(&format!("{project}?{query}")).await.expect(200);
        owner.get(&format!("{project}candidates/?page=1&{query}")).await.expect(200);
    }
    // GET ignores what it compares with nothing, as HTTP says.
    let get = Request::get("/companies/acme/labels/").header("if-match", "*").header("if-none-match", "*");
    owner.send(get).await.expect(200);
    owner.get(&format!("{project}?format=csv")).await.expect_code(400, "unknown_parameter");
    // Browsers send this for a button without a chosen file.
    let form = Form::new().text("phone", "1").file("attachment", "", "application/octet-stream", b"");
    owner.send(Request::patch(&candidate).form(form)).await.expect(200);
    let form = Form::new().text("phone", "1").file("attachment", "a.pdf", "application/pdf", b"x");
    assert_refusal!(owner.send(Request::patch(&candidate).form(form)).await, @r#"400 {"attachment":["There is no such field."]}"#);
    // Only candidates choose their password, and a manager may send back that of a form.
    owner.patch(&candidate, json!({ "password": "ignored" })).await.expect(200);
    owner.patch(&owner.uri, json!({ "current_password": PASSWORD })).await.expect(200);
    let login = json!({ "company": "acme", "username": "owner", "password": PASSWORD, "extended_expiration_period": 7 });
    let login = Request::post("/api-session-auth/").header("sec-fetch-site", "same-origin").json(&login);
    app.send(login).await.expect(200);
    // Clients send empty objects where there is nothing to say, and proxies drop the bodies of DELETE.
    owner.patch(&format!("{candidate}status/skip/"), json!({})).await.expect(200);
    owner.send(Request::delete(&candidate).json(&json!({ "madeup": 1 }))).await.expect(204);
}

#[tokio::test]
async fn a_body_where_none_is_taken_is_read_like_any_other() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let skip = format!("{}status/skip/", owner.candidate(&project, json!({})).await);
    let before = app.table().snapshot().await;
    let form = Form::new().text("status", "new").text("madeup", "1");
    let refusals = [
        owner.patch(&skip, json!({ "status": "new", "madeup": 1 })).await,
        owner.send(Request::patch(&skip).form(form)).await,
        owner.patch(&skip, json!([])).await,
        owner.send(Request::patch(&skip).body("application/json", "{")).await,
        owner.send(Request::patch(&skip).body("application/x-www-form-urlencoded", "madeup=1")).await,
    ];
    assert_refusals!(refusals, @r#"
        2 x 400 {"madeup":["There is no such field."]}
        400 {"non_field_errors":["Invalid data. Expected an object."]}
        400 {"code":"parse_error","detail":"JSON parse error - EOF while parsing an object at line 1 column 1"}
        415 {"code":"unsupported_media_type","detail":"Send the body as application/json, or as multipart/form-data with files."}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    // The response may be sent back, and null, which some clients send for no body.
    let other = format!("{}status/skip/", owner.candidate(&project, json!({})).await);
    owner.send(Request::patch(&other).body("application/json", "null")).await.expect(200);
    let shown = owner.get(skip.trim_end_matches("status/skip/")).await.expect(200).json();
    owner.patch(&skip, shown).await.expect(200);
}
