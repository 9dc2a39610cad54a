//! Importing many candidates in one request, once.

use std::time::Duration;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, last_segment};
use tests::http::{Request, Response};

pub(crate) const KEY: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";

/// An entry that will be invited.
pub(crate) fn entry(app: &TestApp, number: usize) -> Value {
    json!({
        "first_name": "Ada",
        "last_name": format!("Number {number}"),
        "username": format!("ada-{number}"),
        "email": format!("ada-{number}@mail.example"),
        "deadline": app.clock().in_days(7),
    })
}

pub(crate) fn entries(app: &TestApp, count: usize) -> Vec<Value> {
    (0..count).map(|number| entry(app, number)).collect()
}

/// Entries of every fate, with the fates.
pub(crate) fn mixed(app: &TestApp) -> (Value, Vec<&'static str>) {
    let mut list = entries(app, 12);
    list[2]["last_name"] = Value::Null;
    list[5]["email"] = Value::Null;
    list[6] = json!("Ada");
    for (number, entry) in list.iter_mut().enumerate().filter(|(_, entry)| entry.is_object()) {
        entry["external_id"] = json!(format!("key {number}"));
    }
    list[9]["username"] = json!("ADA-1");
    list[9]["external_id"] = json!("key 3");
    list[10]["deadline"] = json!("2001-01-01T00:00:00Z");
    let fates = (0..list.len()).map(|number| match number {
        2 | 6 | 9 => "failed",
        5 | 10 => "new",
        _ => "invited",
    });
    let fates = fates.collect();
    (list.into(), fates)
}

fn request(project: &str, key: Option<&str>, body: &Value) -> Request {
    let request = Request::post(&format!("{project}candidates/import/")).json(body);
    match key {
        Some(key) => request.header("idempotency-key", key),
        None => request,
    }
}

pub(crate) async fn import(caller: &impl Caller, project: &str, key: Option<&str>, body: &Value) -> Response {
    caller.send(request(project, key, body)).await
}

fn fates(report: &Value) -> Vec<&str> {
    report["objects"].as_array().unwrap().iter().map(|row| row["status"].as_str().unwrap()).collect()
}

/// The report without identifiers and keys, which no two imports share.
pub(crate) fn without_references(report: &Value) -> Value {
    let mut report = report.clone();
    for row in report["objects"].as_array_mut().unwrap() {
        row["candidate"] = row["candidate"].is_string().into();
        row["interview_suite_url"] = row["interview_suite_url"].is_string().into();
        row["interview_url"] = (row["interview_url"] != "").into();
    }
    report
}

/// Every candidate in the order of creation: name, status, how many mails it is to get.
pub(crate) async fn candidates(app: &TestApp) -> Vec<(String, String, usize)> {
    let items = app.table().snapshot().await;
    let candidates =
        items.iter().filter(|((pk, sk), _)| pk.starts_with("COMPANY#") && sk.starts_with("CANDIDATE#"));
    let candidates = candidates.map(|(_, candidate)| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mails = items
            .iter()
            .filter(|((_, sk), effect)| sk == "EFFECT" && effect["task"]["candidate"] == candidate["id"]);
        (text(&candidate["profile"]["last_name"]), text(&candidate["status"]), mails.count())
    });
    candidates.collect()
}

/// Makes sure that a replayed answer is the first one, which is not itself one.
#[track_caller]
pub(crate) fn assert_replayed(replayed: Response, first: &Response) {
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"), "{replayed}");
    assert_eq!(first.header("idempotent-replayed"), None, "{first}");
    assert_eq!((replayed.status, &replayed.body), (first.status, &first.body));
    assert_eq!(replayed.header("content-type"), first.header("content-type"));
}

#[tokio::test]
async fn each_entry_is_created_and_invited_or_says_why_not() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    owner.candidate(&project, json!({ "username": "taken" })).await;
    let good = |fields: Value| {
        let mut entry = json!({ "first_name": "Ada", "last_name": "Byron", "email": "ada@mail.example",
            "deadline": app.clock().in_days(7) });
        entry.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        entry
    };
    let list = json!([
        good(json!({ "username": "first", "phone": "123", "partner_data": { "id": 7 }, "status": "interviewed" })),
        good(json!({ "email": null })),
        good(json!({ "deadline": null })),
        good(json!({ "deadline": "2001-01-01T00:00:00Z" })),
        good(json!({ "deadline": "2026-12-24T18:00:00", "first_name": null })),
        { "email": "nobody" },
        good(json!({ "username": "TAKEN" })),
        [],
        good(json!({ "username": "FIRST" })),
        good(json!({ "username": "last" })),
    ]);
    let response = import(&owner, &project, None, &list).await.expect(200);
    let report = response.json();
    assert_eq!(report["meta"], json!({ "total": 10, "created": 5, "invited": 2, "failed": 5, "pending": 0 }));
    let objects = report["objects"].as_array().unwrap();
    for (index, row) in objects.iter().enumerate() {
        assert_eq!(row["index"], index);
        assert_eq!(row["candidate"].is_null(), row["status"] == "failed", "{row}");
        assert_eq!(row["interview_url"] != "", row["status"] == "invited", "{row}");
        let has_code = row["errors"] != json!({});
        assert_eq!(
            (row["code"].is_string(), row.as_object().unwrap().len()),
            (has_code, 6 + usize::from(has_code))
        );
    }
    let expected =
        ["invited", "new", "new", "new", "failed", "failed", "failed", "failed", "failed", "invited"];
    assert_eq!(fates(&report), expected);
    for (index, code) in [(1, "email_missing"), (2, "deadline_missing"), (3, "deadline_passed")] {
        assert_eq!(
            (&objects[index]["errors"]["code"], &objects[index]["code"]),
            (&json!(code), &json!(code))
        );
        assert!(objects[index]["errors"]["detail"].is_string());
    }
    let required = json!(["This field is required."]);
    let zone = json!(["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]);
    let taken = json!({ "username": ["This username is already in use."] });
    for (index, errors) in [
        (0, json!({})),
        (4, json!({ "deadline": zone, "first_name": ["This field may not be null."] })),
        (
            5,
            json!({ "email": ["Enter a valid email address."], "first_name": required, "last_name": required }),
        ),
        (6, taken.clone()),
        (7, json!({ "non_field_errors": ["Invalid data. Expected an object."] })),
        (8, taken),
    ] {
        assert_eq!(objects[index]["errors"], errors, "{index}");
        assert!(objects[index].get("code").is_none_or(|code| code == "invalid"), "{index}");
    }

    let first = owner.get(objects[0]["candidate"].as_str().unwrap()).await.expect(200).json();
    assert_eq!([&first["status"], &first["username"], &first["phone"]], ["invited", "first", "123"]);
    assert_eq!((&first["created_by"], &first["partner_data"]), (&json!(owner.uri), &json!({ "id": 7 })));
    assert!(
        first["activation_key"].as_str().unwrap().starts_with("ivk_") && first["invitationdate"].is_string()
    );
    let refused = owner.get(objects[3]["candidate"].as_str().unwrap()).await.expect(200).json();
    assert_eq!([&refused["status"], &refused["deadline"]], ["new", "2001-01-01T00:00:00Z"]);
    // The list has them in the order of the request, behind what was there before.
    let listed = owner.get(&format!("{project}candidates/")).await.expect(200).json();
    let listed: Vec<&Value> =
        listed["objects"].as_array().unwrap().iter().map(|row| &row["resource_uri"]).collect();
    let reported: Vec<&Value> =
        objects.iter().map(|row| &row["candidate"]).filter(|uri| uri.is_string()).collect();
    assert_eq!(listed[1..], reported);
    let mails: Vec<usize> = candidates(&app).await.into_iter().map(|(_, _, mails)| mails).collect();
    assert_eq!(mails, [0, 1, 0, 0, 0, 1]);
}

#[tokio::test]
async fn a_project_that_does_not_run_gets_candidates_who_are_not_invited() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let report = import(&owner, &project, None, &entries(&app, 3).into()).await.expect(200).json();
    assert_eq!(report["meta"], json!({ "total": 3, "created": 3, "invited": 0, "failed": 0, "pending": 0 }));
    assert_eq!(report["objects"][2]["errors"]["code"], "project_not_running");
}

#[tokio::test]
async fn the_project_or_the_company_gives_a_deadline_to_those_without() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "default_interview_period": 5 })).await;
    let list = json!([{ "first_name": "Ada", "last_name": "Byron", "email": "ada@mail.example" }]);
    let report = import(&owner, &project, None, &list).await.expect(200).json();
    assert_eq!(fates(&report), ["invited"]);
    let candidate = owner.get(report["objects"][0]["candidate"].as_str().unwrap()).await.expect(200).json();
    assert_eq!(candidate["deadline"], app.clock().in_days(5));
}

#[tokio::test]
async fn a_body_that_is_no_list_of_one_to_a_thousand_is_refused_whole() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let before = app.table().snapshot().await;
    let mut long = entries(&app, 1_000);
    long.push(entry(&app, 1_000));
    for (body, message) in [
        (entry(&app, 0), "Invalid data. Expected a list."),
        (json!("x"), "Invalid data. Expected a list."),
        (Value::Null, "Invalid data. Expected a list."),
        (json!([]), "This list may not be empty."),
        (long.into(), "Ensure this list has no more than 1000 items."),
    ] {
        for key in [None, Some(KEY)] {
            let refused = import(&owner, &project, key, &body).await;
            refused.expect_json(400, json!({ "non_field_errors": [message] }));
        }
    }
    let path = format!("{project}candidates/import/");
    let malformed = owner.send(Request::post(&path).body("application/json", "[{]")).await.expect(400).json();
    assert!(malformed["detail"].as_str().unwrap().starts_with("JSON parse error - "), "{malformed}");
    assert_refusal!(owner.send(Request::post(&path).body("text/csv", "a,b")).await, @r#"415 {"code":"unsupported_media_type","detail":"Send the body as application/json."}"#);
    let huge = json!([{ "first_name": "a".repeat(4 * 1024 * 1024) }]);
    assert_refusal!(owner.post(&path, huge).await, @r#"413 {"code":"too_large","detail":"The request body is too large."}"#);
    assert_refusal!(owner.get(&path).await, @r#"405 {"code":"method_not_allowed","detail":"Method not allowed. The `Allow` header lists the methods of this path."}"#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn one_bad_entry_of_a_hundred_keeps_none_of_the_others() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let mut list = entries(&app, 100);
    list[57]["deadline"] = json!("10000-01-01T00:00:00Z");
    let report = import(&owner, &project, None, &list.into()).await.expect(200).json();
    assert_eq!(
        report["meta"],
        json!({ "total": 100, "created": 99, "invited": 99, "failed": 1, "pending": 0 })
    );
    assert_eq!(report["objects"][57]["status"], "failed");
    let numbers: Vec<String> = candidates(&app).await.into_iter().map(|(name, _, _)| name).collect();
    let expected: Vec<String> = (0..100).filter(|n| *n != 57).map(|n| format!("Number {n}")).collect();
    assert_eq!(numbers, expected);
}

#[tokio::test]
async fn it_costs_one_transaction_an_entry() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (list, _) = mixed(&app);
    let project = owner.running_project(json!({})).await;
    let plain = import(&owner, &project, None, &list).await.expect(200);
    assert_eq!(
        plain.log().dynamodb_calls,
        1 + 4 + 9,
        "the caller's check, the slot twice, keys and who has them, and an entry each"
    );
    let elsewhere = app.owner_of("globex").await;
    let project = elsewhere.running_project(json!({})).await;
    let keyed = import(&elsewhere, &project, Some(KEY), &list).await.expect(200);
    assert_eq!(keyed.log().dynamodb_calls, 1 + 4 + 9 + 2, "and a note before and after");
    let replayed = import(&elsewhere, &project, Some(KEY), &list).await.expect(200);
    assert_eq!(replayed.log().dynamodb_calls, 1, "found in the same read as the caller");
    assert_eq!(replayed.log().write_units, 0.0);
}

#[tokio::test]
async fn four_transactions_at_once_never_meet() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    chaos.delay(Duration::from_millis(5));
    let (list, _) = mixed(&app);
    import(&owner, &project, None, &list).await.expect(200);
    assert_eq!(chaos.traffic(), (4, 0));
}

#[tokio::test]
async fn a_repeat_with_the_same_key_gets_the_same_answer() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let (list, expected) = mixed(&app);
    let first = import(&owner, &project, Some(KEY), &list).await.expect(200);
    assert_eq!(fates(&first.json()), expected);
    let before = app.table().snapshot().await;
    assert_replayed(import(&owner, &project, Some(KEY), &list).await, &first);
    // By another session of the same user as well.
    assert_replayed(import(&owner.new_token().await, &project, Some(KEY), &list).await, &first);
    let other = json!([entry(&app, 99)]);
    assert_refusal!(import(&owner, &project, Some(KEY), &other).await, @r#"422 {"code":"idempotency_key_reused","detail":"This `Idempotency-Key` was used with a different request. Send a new key."}"#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn a_key_is_known_for_one_user_and_one_route_only() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let list = json!([{ "first_name": "Ada", "last_name": "Byron" }]);
    let [project, other] = [owner.project(json!({})).await, owner.project(json!({})).await];
    let admin = app.staff("admin").await;
    let mut created = Vec::new();
    for response in [
        import(&owner, &project, Some(KEY), &list).await,
        import(&admin, &project, Some(KEY), &list).await,
        import(&owner, &other, Some(KEY), &list).await,
        import(&owner, &project, Some("another"), &list).await,
        import(&owner, &project, None, &list).await,
        import(&owner, &project, None, &list).await,
    ] {
        assert_eq!(response.header("idempotent-replayed"), None, "{response}");
        created.push(
            last_segment(response.expect(200).json()["objects"][0]["candidate"].as_str().unwrap()).to_owned(),
        );
    }
    assert!(created.is_sorted_by(|a, b| a < b), "{created:?}");
}

#[tokio::test]
async fn a_key_that_is_none_is_refused() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let list = json!([{ "first_name": "Ada", "last_name": "Byron" }]);
    for key in ["", "two words", &"k".repeat(256)] {
        assert_refusal!(import(&owner, &project, Some(key), &list).await, @r#"400 {"code":"invalid_idempotency_key","detail":"Send one Idempotency-Key of 1 to 255 visible ASCII characters."}"#);
    }
    import(&owner, &project, Some(&"k".repeat(255)), &list).await.expect(200);
}

#[tokio::test]
async fn a_key_is_forgotten_after_a_day() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let list = json!([{ "first_name": "Ada", "last_name": "Byron" }]);
    let first = import(&owner, &project, Some(KEY), &list).await.expect(200);
    app.clock().advance(TimeDelta::hours(24) - TimeDelta::seconds(1));
    let owner = owner.new_token().await;
    assert_replayed(import(&owner, &project, Some(KEY), &list).await, &first);
    app.clock().advance(TimeDelta::seconds(1));
    let other = json!([{ "first_name": "Grace", "last_name": "Hopper" }]);
    let anew = import(&owner, &project, Some(KEY), &other).await.expect(200);
    assert_eq!(anew.header("idempotent-replayed"), None);
    assert_replayed(import(&owner, &project, Some(KEY), &other).await, &anew);
    assert_eq!(candidates(&app).await.len(), 2);
}

#[tokio::test]
async fn an_answer_longer_than_an_item_is_given_again_whole() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let wrong = json!({ "username": "with space", "email": "nobody", "deadline": "soon", "phone": 1, "gender": 1,
        "address": 1, "partner_data": "x" });
    let list: Value = vec![wrong; 1_000].into();
    let first = import(&owner, &project, Some(KEY), &list).await.expect(200);
    assert!(first.body.len() > 400 * 1024, "{}", first.body.len());
    assert_replayed(import(&owner, &project, Some(KEY), &list).await, &first);
}

#[tokio::test]
async fn a_running_import_is_not_started_again() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let list = json!([entry(&app, 0)]);
    let held = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        held.reached().await;
        app.clock().advance(TimeDelta::seconds(29));
        let refused = import(&owner, &project, Some(KEY), &list).await;
        assert_refusal!(refused, @r#"409 {"code":"in_progress","detail":"A request with this `Idempotency-Key` is still running. Retry after the seconds in `Retry-After`."}"#);
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert_refusal!(import(&owner, &project, Some(KEY), &json!([{}])).await, @r#"422 {"code":"idempotency_key_reused","detail":"This `Idempotency-Key` was used with a different request. Send a new key."}"#);
        app.clock().advance(TimeDelta::seconds(-29));
        let refused = import(&owner, &project, Some(KEY), &list).await;
        assert_refusal!(refused, @r#"409 {"code":"in_progress","detail":"A request with this `Idempotency-Key` is still running. Retry after the seconds in `Retry-After`."}"#);
        assert_eq!(refused.header("retry-after"), Some("5"));
        held.resume();
    };
    let (first, ()) = tokio::join!(import(&owner, &project, Some(KEY), &list), meanwhile);
    assert_eq!(first.json()["meta"]["invited"], 1);
    assert_replayed(import(&owner, &project, Some(KEY), &list).await, &first);
}

#[tokio::test]
async fn a_refused_request_may_be_corrected_under_the_same_idempotency_key() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    import(&owner, &project, Some(KEY), &json!([])).await.expect(400);
    let list = json!([{ "first_name": "Ada", "last_name": "Byron" }]);
    let mended = import(&owner, &project, Some(KEY), &list).await.expect(200);
    assert_eq!(mended.header("idempotent-replayed"), None);
}
