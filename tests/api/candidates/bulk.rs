//! One action on many candidates in one request.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::clock::Clock as _;
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, Staff, last_segment, merge};
use tests::http::{Request, Response};

use crate::candidates::import::KEY;

pub(crate) fn request(project: &str, key: Option<&str>, body: &Value) -> Request {
    let request = Request::post(&format!("{project}candidates/bulk/")).json(body);
    match key {
        Some(key) => request.header("idempotency-key", key),
        None => request,
    }
}

pub(crate) async fn act(caller: &impl Caller, project: &str, body: Value) -> Response {
    caller.send(request(project, None, &body)).await
}

pub(crate) fn rows(report: &Value) -> &Vec<Value> {
    report["objects"].as_array().unwrap()
}

pub(crate) fn statuses(report: &Value) -> Vec<&str> {
    rows(report).iter().map(|row| row["status"].as_str().unwrap()).collect()
}

/// The service, its owner, and a running project without passwords.
pub(crate) async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    (app, owner, project)
}

/// Requests about one candidate, and the same action in a request about many.
fn actions(app: &TestApp, uri: &str) -> [(Request, Value); 5] {
    let deadline = json!({ "deadline": app.clock().in_days(20) });
    let filled = json!({ "reason": "The position is filled.", "notify": true });
    [
        (Request::patch(&format!("{uri}status/advance/")), json!({ "action": "advance" })),
        (
            Request::patch(&format!("{uri}deadline/")).json(&deadline),
            json!({ "action": "deadline", "deadline": deadline["deadline"] }),
        ),
        (Request::post(&format!("{uri}reminder/")), json!({ "action": "remind" })),
        (Request::patch(&format!("{uri}status/skip/")), json!({ "action": "skip" })),
        (
            Request::post(&format!("{uri}cancel/")).json(&filled),
            json!({ "action": "cancel", "reason": filled["reason"], "notify": true }),
        ),
    ]
}

/// The fields of a candidate that two candidates in the same situation share.
fn comparable(candidate: &Value) -> Value {
    let mut fields = candidate.clone();
    for own in [
        "id",
        "resource_uri",
        "activation_key",
        "interview_key",
        "interview_suite_url",
        "interview_url",
        "email",
        "evaluations",
        "vetos",
        "result",
    ] {
        fields.as_object_mut().unwrap().remove(own);
    }
    let links: Vec<String> = fields
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, value)| value.as_str().is_some_and(|text| text.contains("/candidates/")))
        .map(|(name, _)| name.clone())
        .collect();
    for link in links {
        fields.as_object_mut().unwrap().remove(&link);
    }
    fields
}

#[tokio::test]
async fn each_action_does_and_refuses_what_the_request_for_one_candidate_does_and_refuses() {
    let (app, owner, project) = given().await;
    for status in CandidateStatus::ALL {
        for number in 0..5 {
            let [alone, among] =
                [owner.candidate_at(&project, status).await, owner.candidate_at(&project, status).await];
            let (single, _) = actions(&app, &alone)[number].clone();
            let (_, mut many) = actions(&app, &among)[number].clone();
            let single = owner.send(single).await;
            merge(&mut many, json!({ "candidates": [among] }));
            let report = act(&owner, &project, many.clone()).await.expect(200).json();
            let row = &report["objects"][0];
            let fate = if single.status == 200 { "done" } else { "failed" };
            assert_eq!(
                (&row["status"], &row["index"], &row["candidate"]),
                (&json!(fate), &json!(0), &json!(among))
            );
            let (expected, code) = match fate {
                "done" => (json!({}), None),
                _ => (single.json(), Some(single.json()["code"].clone())),
            };
            assert_eq!((&row["errors"], row.get("code")), (&expected, code.as_ref()), "{status:?} {many}");
            assert_eq!((row.get("retry_after"), row.get("deadline_set")), (None, None));
            let [alone, among] =
                [owner.get(&alone).await.expect(200).json(), owner.get(&among).await.expect(200).json()];
            assert_eq!(comparable(&alone), comparable(&among), "{status:?} {many}");
            let link = if fate == "done" { among["interview_url"].clone() } else { json!("") };
            assert_eq!(row["interview_url"], link, "{status:?} {many}");
            let (done, failed) = if fate == "done" { (1, 0) } else { (0, 1) };
            let meta = json!({ "total": 1, "done": done, "failed": failed, "pending": 0, "more": false, "next": null });
            assert_eq!(report["meta"], meta);
        }
    }
}

#[tokio::test]
async fn refusals_by_mails_rates_and_a_project_that_does_not_run_are_those_of_single_requests() {
    let (app, owner, project) = given().await;
    let deadline = app.clock().in_days(7);
    let silent = owner.invite(&project, json!({ "receive_mails": false, "email": "" })).await.uri;
    let nameless = owner.candidate(&project, json!({ "deadline": deadline })).await;
    let limited = owner.invite(&project, json!({})).await.uri;
    for _ in 0..5 {
        owner.remind(&limited).await.expect(200);
    }
    let overdue = owner.invite(&project, json!({})).await.uri;
    owner.set_deadline(&overdue, &app.clock().in_days(0)).await.expect(200);
    for (action, uri, code) in [
        ("remind", &silent, "mails_off"),
        ("advance", &nameless, "email_missing"),
        ("remind", &limited, "throttled"),
        ("remind", &overdue, "deadline_passed"),
    ] {
        let single = match action {
            "remind" => owner.remind(uri).await,
            _ => owner.advance(uri).await,
        };
        let report =
            act(&owner, &project, json!({ "action": action, "candidates": [uri] })).await.expect(200);
        let row = &report.json()["objects"][0];
        assert_eq!((&row["errors"], &row["code"]), (&single.json(), &json!(code)));
        let wait = row.get("retry_after").map(|seconds| seconds.to_string());
        assert_eq!((wait.as_deref(), wait.is_some()), (single.header("retry-after"), code == "throttled"));
    }
    let draft = owner.project(json!({})).await;
    let ready = owner.candidate(&draft, json!({ "email": app.next_email(), "deadline": deadline })).await;
    let report = act(&owner, &draft, json!({ "action": "advance", "candidates": [ready] })).await.expect(200);
    assert_eq!(report.json()["objects"][0]["errors"], owner.advance(&ready).await.expect(400).json());
}

#[tokio::test]
async fn candidates_are_named_by_url_or_key_and_unknown_ones_fail_like_404() {
    let (app, owner, project) = given().await;
    let ready = || json!({ "email": app.next_email(), "deadline": app.clock().in_days(7) });
    let mut keyed = ready();
    keyed["external_id"] = json!("A-17");
    let keyed = owner.candidate(&project, keyed).await;
    let plain = owner.candidate(&project, ready()).await;
    let deleted = owner.candidate(&project, ready()).await;
    owner.delete(&deleted).await.expect(204);
    let elsewhere = owner.project(json!({})).await;
    let mut hidden = ready();
    hidden["external_id"] = json!("B-18");
    let hidden = owner.candidate(&elsewhere, hidden).await;
    let stranger = app.owner_of("globex").await;
    let theirs = stranger.project(json!({})).await;
    let foreign = stranger.candidate(&theirs, json!({})).await;
    // In this project, with the identifier of a candidate of another one.
    let mixed = format!("{project}candidates/{}/", last_segment(&hidden));
    let names = [
        "external_id: A-17 ",
        plain.trim_end_matches('/'),
        &deleted,
        &hidden,
        &foreign,
        &mixed,
        "external_id:B-18",
        "external_id:nobody",
    ];
    let before = owner.get(&hidden).await.expect(200).json();
    let manager = owner.colleague("recruiter", json!({})).await.activate().await;
    owner.patch(&project, json!({ "interview_managers": [manager.uri] })).await.expect(200);
    let report = act(&manager, &project, json!({ "action": "advance", "candidates": names })).await;
    let report = report.expect(200).json();
    let meta = json!({ "total": 8, "done": 2, "failed": 6, "pending": 0, "more": false, "next": null });
    assert_eq!(report["meta"], meta);
    for (row, uri) in rows(&report).iter().zip([&keyed, &plain]) {
        assert_eq!((&row["candidate"], &row["status"]), (&json!(uri), &json!("done")));
        let candidate = owner.get(uri).await.expect(200).json();
        assert_eq!(
            (&candidate["status"], &row["interview_url"]),
            (&json!("invited"), &candidate["interview_url"])
        );
    }
    let not_found = owner.get(&deleted).await.expect(404).json();
    for row in &rows(&report)[2..] {
        assert_eq!(
            (&row["candidate"], &row["errors"], &row["code"], &row["interview_url"]),
            (&Value::Null, &not_found, &json!("not_found"), &json!(""))
        );
    }
    assert_eq!(owner.get(&hidden).await.expect(200).json(), before);
}

#[tokio::test]
async fn what_is_wrong_with_the_request_is_said_at_once_and_nothing_is_done() {
    let (app, owner, project) = given().await;
    let ada = owner.candidate(&project, json!({ "external_id": "A-17" })).await;
    let other = owner.project(json!({})).await;
    let elsewhere = owner.candidate(&other, json!({})).await;
    let before = app.table().snapshot().await;
    let deadline = app.clock().in_days(3);
    let mut responses = Vec::new();
    for body in [
        json!({}),
        json!({ "action": "delete", "candidates": [] }),
        json!({ "action": "deadline", "candidates": [ada] }),
        json!({ "action": "deadline", "candidates": [ada], "deadline": null }),
        json!({ "action": "deadline", "candidates": [ada], "deadline": "soon" }),
        json!({ "action": "remind", "candidates": [ada], "deadline": deadline }),
        json!({ "action": "skip", "status": "new", "candidates": [ada], "deadline": deadline }),
        json!({ "action": "skip", "status": "gone", "dry_run": "yes" }),
        json!({ "action": "skip", "candidates": [ada, "Ada"] }),
        json!({ "action": "skip", "candidates": [7] }),
        json!({ "action": "skip", "candidates": ["external_id:"] }),
        json!({ "action": "skip", "candidates": [ada, ada.trim_end_matches('/')] }),
        json!({ "action": "skip", "candidates": [ada, "external_id:A-17"] }),
        json!({ "action": "skip", "candidates": vec![&ada; 1_001] }),
        json!({ "action": "skip", "candidates": [ada], "after": ada }),
        json!({ "action": "skip", "status": "new", "after": "external_id:A-17" }),
        json!({ "action": "skip", "status": "new", "after": elsewhere }),
        json!({ "action": "skip", "status": "new", "after": elsewhere.replace("acme", "globex") }),
        json!({ "action": "skip", "status": "new", "after": 7 }),
        json!({ "action": "deadline", "candidates": [ada], "deadline": "2126-11-08T10:00:01Z" }),
        json!({ "action": "cancel", "candidates": [ada] }),
        json!({ "action": "cancel", "candidates": [ada], "reason": " ", "notify": "yes", "deadline": deadline }),
        json!({ "action": "cancel", "status": "new", "reason": "x".repeat(201) }),
        json!({ "action": "skip", "status": "new", "reason": "The position is filled.", "notify": false }),
    ] {
        for key in [None, Some(KEY)] {
            let refused = owner.send(request(&project, key, &body)).await;
            if key.is_none() {
                responses.push(refused);
            } else {
                assert_eq!(refused.json(), responses.last().unwrap().json());
            }
        }
    }
    assert_refusals!(responses, @r#"
    400 {"action":["This field is required."],"candidates":["Send `candidates` or `status`."]}
    400 {"action":["\"delete\" is not a valid choice. Use one of: advance, deadline, remind, skip, cancel."],"candidates":["This list may not be empty."]}
    2 x 400 {"deadline":["This field is required."]}
    400 {"deadline":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]}
    400 {"deadline":["Only `advance` and `deadline` take a deadline."]}
    400 {"deadline":["Only `advance` and `deadline` take a deadline."],"status":["Send either `candidates` or `status`."]}
    400 {"dry_run":["Must be a valid boolean."],"status":["\"gone\" is not a valid choice. Use one of: new, invited, confirmed, interviewing, interviewed, expired, aborted, skipped."]}
    400 {"candidates":["\"Ada\" is not the URL of a candidate under https://hr.example/api/v3."]}
    400 {"candidates":["Expected a list of references."]}
    400 {"candidates":["This field may not be blank."]}
    2 x 400 {"candidates":["Each candidate may appear only once."]}
    400 {"candidates":["Ensure this list has no more than 1000 items."]}
    400 {"after":["Only `status` takes `after`."]}
    400 {"after":["\"external_id:A-17\" is not the URL of a candidate under https://hr.example/api/v3."]}
    2 x 400 {"after":["Send the URL of a candidate of this project."]}
    400 {"after":["Not a valid string."]}
    400 {"deadline":["Must be within a hundred years."]}
    400 {"reason":["This field is required."]}
    400 {
      "deadline":["Only `advance` and `deadline` take a deadline."],
      "notify":["Must be a valid boolean."],
      "reason":["This field may not be blank."]
    }
    400 {"reason":["Ensure this field has no more than 200 characters."]}
    400 {"notify":["Only `cancel` takes `notify`."],"reason":["Only `cancel` takes `reason`."]}
    "#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn a_status_stands_for_all_who_are_in_it_and_for_nobody_else() {
    let (app, owner, project) = given().await;
    let mut expired = Vec::new();
    for _ in 0..3 {
        expired.push(owner.candidate_at(&project, CandidateStatus::Expired).await);
    }
    let confirmed = owner.candidate_at(&project, CandidateStatus::Confirmed).await;
    let deadline = app.clock().in_days(14);
    let body = json!({ "action": "advance", "status": "expired", "deadline": deadline });
    let first = owner.send(request(&project, Some(KEY), &body)).await.expect(200);
    let report = first.json();
    assert_eq!(
        report["meta"],
        json!({ "total": 3, "done": 3, "failed": 0, "pending": 0, "more": false, "next": null })
    );
    let candidates: Vec<&Value> = rows(&report).iter().map(|row| &row["candidate"]).collect();
    assert_eq!(candidates, expired.iter().collect::<Vec<_>>());
    for uri in &expired {
        let candidate = owner.get(uri).await.expect(200).json();
        assert_eq!((&candidate["status"], &candidate["deadline"]), (&json!("invited"), &json!(deadline)));
    }
    assert_eq!(owner.get(&confirmed).await.expect(200).json()["status"], "confirmed");
    let again = owner.send(request(&project, Some(KEY), &body)).await;
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));
    let none = act(&owner, &project, body).await.expect(200).json();
    let meta = json!({ "total": 0, "done": 0, "failed": 0, "pending": 0, "more": false, "next": null });
    assert_eq!(none, json!({ "meta": meta, "objects": [] }));
}

#[tokio::test]
async fn a_deadline_stays_if_the_advance_after_it_is_refused() {
    let (app, owner, project) = given().await;
    let deadline = app.clock().in_days(14);
    let unreachable = owner.candidate(&project, json!({})).await;
    let invited = owner.invite(&project, json!({})).await;
    app.settle().await;
    let body = json!({ "action": "advance", "candidates": [unreachable, invited.uri], "deadline": deadline });
    let report = act(&owner, &project, body).await.expect(200).json();
    let said = rows(&report).iter().map(|row| (&row["code"], &row["deadline_set"]));
    let [missing, moved] = ["email_missing", "no_transition"].map(Value::from);
    assert_eq!(said.collect::<Vec<_>>(), [(&missing, &json!(true)), (&moved, &json!(true))]);
    for uri in [&unreachable, &invited.uri] {
        assert_eq!(owner.get(uri).await.expect(200).json()["deadline"], deadline);
    }
    app.settle().await;
    assert_eq!(app.mails_to(&invited.email).len(), 2, "the invitation and the new deadline");
}

#[tokio::test]
async fn of_more_than_a_thousand_in_a_status_the_oldest_thousand_are_meant() {
    let (app, owner, project) = given().await;
    app.fill(&project, 1_001, app.clock().now() + TimeDelta::days(7)).await;
    let body = json!({ "action": "remind", "status": "invited", "dry_run": true });
    let report = act(&owner, &project, body.clone()).await.expect(200).json();
    let uris: Vec<&str> = rows(&report).iter().map(|row| row["candidate"].as_str().unwrap()).collect();
    assert!(uris.is_sorted());
    let last = uris[999];
    assert_eq!(
        report["meta"],
        json!({ "total": 1_000, "done": 0, "failed": 1_000, "pending": 0, "more": true, "next": last, "dry_run": true, "mails": 0 })
    );
    assert_eq!(rows(&report)[999]["code"], "email_missing");

    // A thousand who fail do not keep the others from their turn, also once the last of them is gone.
    owner.delete(last).await.expect(204);
    for is_dry in [true, false] {
        let mut next = body.clone();
        merge(&mut next, json!({ "after": last, "dry_run": is_dry }));
        let rest = act(&owner, &project, next).await.expect(200).json();
        assert_eq!((&rest["meta"]["total"], &rest["meta"]["next"]), (&json!(1), &Value::Null));
        assert!(rows(&rest)[0]["candidate"].as_str().unwrap() > last);
    }
    let mut none = body;
    merge(&mut none, json!({ "after": uris[0], "status": "new" }));
    assert_eq!(act(&owner, &project, none).await.expect(200).json()["meta"]["total"], 0);
}

#[tokio::test]
async fn a_deadline_that_is_not_set_is_told_apart_from_one_that_is() {
    let (app, owner, project) = given().await;
    let deadline = app.clock().in_days(14);
    let new = owner.candidate(&project, json!({ "email": app.next_email() })).await;
    let skipped = owner.candidate_at(&project, CandidateStatus::Skipped).await;
    let limited = owner.invite(&project, json!({})).await.uri;
    for _ in 0..5 {
        owner.remind(&limited).await.expect(200);
    }
    let has = owner.candidate(&project, json!({ "deadline": deadline })).await;
    let names = json!([new, skipped, limited, has, "external_id:nobody"]);
    let body = json!({ "action": "advance", "candidates": names, "deadline": deadline });
    let mut dry = body.clone();
    merge(&mut dry, json!({ "dry_run": true }));
    for body in [dry, body] {
        let report = act(&owner, &project, body).await.expect(200).json();
        let set: Vec<&Value> = rows(&report).iter().map(|row| &row["deadline_set"]).collect();
        assert_eq!(set, [&json!(true), &json!(true), &json!(false), &json!(true), &json!(false)], "{report}");
    }
    for (uri, is_set) in [(&new, true), (&skipped, true), (&limited, false), (&has, true)] {
        let candidate = owner.get(uri).await.expect(200).json();
        assert_eq!(candidate["deadline"] == json!(deadline), is_set, "{candidate}");
    }
}

/// References of candidates who are nowhere.
fn made_up(project: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{project}candidates/01JQ8Z6R7ZP4S3C0V9N2M{number:05}/")).collect()
}

#[tokio::test]
async fn a_thousand_made_up_references_are_settled_by_batch_reads() {
    let (_app, owner, project) = given().await;
    let keys: Vec<String> = (0..1_000).map(|number| format!("external_id:{number}")).collect();
    for names in [made_up(&project, 1_000), keys] {
        for key in [None, Some("made-up")] {
            let body = json!({ "action": "skip", "candidates": names });
            let key = key.map(|key| format!("{key}-{}", &names[0][..8]));
            let response = owner.send(request(&project, key.as_deref(), &body)).await.expect(200);
            let report = response.json();
            assert_eq!(report["meta"]["failed"], 1_000);
            assert!(rows(&report).iter().all(|row| row["code"] == "not_found"));
            assert!(response.log().dynamodb_calls <= 30, "{:?}", response.log());
        }
    }
}
