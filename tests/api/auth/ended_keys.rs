//! Answers to candidates' keys that have ended.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff, last_segment};
use tests::http::{Request, Response};

const WHOAMI: &str = "/whoami/candidate/";
const CONTACT: &str = "jobs@acme.example";

/// The service, its owner, and a project with or without passwords whose candidates know whom to ask.
async fn given(allow_hash_login: bool) -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    owner.patch("/companies/acme/", json!({ "registration_email": CONTACT })).await.expect(200);
    let fields = json!({ "allow_hash_login": allow_hash_login, "contact_person": "Zoë" });
    let project = owner.running_project(fields).await;
    (app, owner, project)
}

/// The code with which the key is refused.
async fn code_of(candidate: &Invited) -> Value {
    candidate.get(WHOAMI).await.expect(401).json()["code"].clone()
}

/// The answer to a refused key, without the address of the candidate.
fn told(response: Response, candidate: &Invited) -> Value {
    assert_eq!(response.header("www-authenticate"), Some("Token"));
    let mut body = response.json();
    assert_eq!(body.as_object_mut().unwrap().remove("resource_uri"), Some(json!(candidate.uri)));
    body
}

fn ended(code: &str, detail: &str) -> Value {
    json!({
        "code": code,
        "detail": detail,
        "company": {
            "resource_uri": "https://hr.example/api/v3/companies/acme/", "name": "Acme & Sons", "logo": null,
        },
        "contact": { "person": "Zoë", "email": CONTACT },
        "return_url": "",
        "interviewdate": null,
        "answers": null,
        "ended_by_time": false,
        "ended_at": null,
        "help_request": null,
    })
}

#[tokio::test]
async fn each_end_has_its_code_and_costs_one_call() {
    let (app, owner, project) = given(false).await;
    let registered = owner.invite(&project, json!({})).await;
    registered.choose_password().await;
    registered.advance(&registered.uri).await.expect(200);

    let completed = owner.invite(&project, json!({})).await;
    let session = completed.register().await;
    completed.advance(&completed.uri).await.expect(200);
    session.advance(&completed.uri).await.expect(200);
    app.complete(&completed.uri).await;
    let date = owner.get(&completed.uri).await.expect(200).json()["interviewdate"].clone();

    let withdrawn = owner.invite(&project, json!({})).await;
    owner.skip(&withdrawn.uri).await.expect(200);

    let moved = owner.invite(&project, json!({})).await;
    owner.patch(&moved.uri, json!({ "email": "another@mail.example" })).await.expect(200);

    let expired = owner.invite(&project, json!({})).await;
    owner.set_deadline(&expired.uri, &app.clock().in_days(0)).await.expect(200);
    let overdue = ended("deadline_passed", "The time for the interview is over. Ask the company for more.");
    // Before the schedule has run, and afterwards.
    assert_eq!(told(expired.get(WHOAMI).await.expect(401), &expired), overdue);
    app.expire_overdue().await;

    let renewed = owner.invite(&project, json!({})).await;
    owner.set_deadline(&renewed.uri, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    owner.set_deadline(&renewed.uri, &app.clock().in_days(1)).await.expect(200);
    owner.advance(&renewed.uri).await.expect(200);

    let replaced =
        ended("key_replaced", "A newer mail has replaced this key. Use the link in the latest one.");
    let mut done = ended("interview_completed", "The candidate has completed the interview.");
    done["interviewdate"] = date;
    for (candidate, expected) in [
        (&registered, ended("key_registered", "The candidate has chosen a password. Log in with it.")),
        (&completed, done),
        (
            &withdrawn,
            ended("withdrawn", "The company has cancelled the interview. Ask it if this is a mistake."),
        ),
        (&expired, overdue),
        (&renewed, replaced.clone()),
        (&moved, replaced),
    ] {
        let refused = candidate.get(WHOAMI).await.expect(401);
        assert_eq!(refused.log().dynamodb_calls, 1, "{expected}");
        assert_eq!(told(refused, candidate), expected);
        // It opens nothing, and tells nothing anywhere else.
        for path in ["/whoami/", &candidate.uri, &format!("{}interview/", candidate.uri)] {
            let elsewhere = candidate.get(path).await.expect_code(401, "invalid_credential");
            assert_eq!(elsewhere.json().as_object().unwrap().len(), 2, "{path}");
        }
    }
}

#[tokio::test]
async fn the_answers_of_an_interview_are_counted_that_the_service_has_conducted() {
    let (app, owner, _) = given(true).await;
    let fields = json!({ "allow_hash_login": true, "interview_platform": "builtin" });
    let project = owner.running_project(fields).await;
    for position in 1..=3 {
        let question =
            json!({ "text": "Why us?", "kind": "text", "position": position, "is_required": false });
        owner.post(&format!("{project}questions/"), question).await.expect(201);
    }
    let candidate = owner.invite(&project, json!({})).await;
    for _ in 0..2 {
        candidate.advance(&candidate.uri).await.expect(200);
    }
    let questions = owner.get(&format!("{project}questions/")).await.expect(200).json();
    for question in &questions["objects"].as_array().unwrap()[..2] {
        let id = last_segment(question["resource_uri"].as_str().unwrap());
        let answer = format!("{}answers/{id}/", candidate.uri);
        candidate.send(Request::put(&answer).json(&json!({ "text": "Because." }))).await.expect(201);
    }
    candidate.advance(&candidate.uri).await.expect(200);
    let refused = candidate.get(WHOAMI).await.expect(401);
    assert_eq!(refused.json()["code"], "interview_completed");
    assert_eq!(refused.log().dynamodb_calls, 2);
    assert_eq!(refused.json()["answers"], 2);
    app.settle().await;
}

#[tokio::test]
async fn an_address_that_is_no_longer_the_candidates_learns_nothing_of_them() {
    let (app, owner, _) = given(true).await;
    let fields =
        json!({ "allow_hash_login": true, "contact_person": "Zoë", "interview_platform": "builtin" });
    let project = owner.running_project(fields).await;
    let question = json!({ "text": "Why us?", "kind": "text", "is_required": false });
    owner.post(&format!("{project}questions/"), question).await.expect(201);
    let first = owner.invite(&project, json!({})).await;
    let moved = owner.patch(&first.uri, json!({ "email": "another@mail.example" })).await.expect(200);
    let second = Invited::shown_in(&app, &moved);
    for _ in 0..3 {
        second.advance(&second.uri).await.expect(200);
    }
    let done = second.get(WHOAMI).await.expect(401).json();
    assert_eq!((&done["code"], &done["answers"]), (&json!("interview_completed"), &json!(0)));
    assert!(done["interviewdate"].is_string(), "{done}");
    // The former holder learns neither that the interview took place, nor when.
    let replaced =
        ended("key_replaced", "A newer mail has replaced this key. Use the link in the latest one.");
    assert_eq!(told(first.get(WHOAMI).await.expect(401), &first), replaced);
    app.settle().await;
}

#[tokio::test]
async fn unknown_keys_cost_and_tell_what_they_always_have() {
    let (app, owner, project) = given(true).await;
    let known = owner.invite(&project, json!({})).await;
    owner.skip(&known.uri).await.expect(200);
    assert_eq!(code_of(&known).await, "withdrawn");
    let deleted = owner.invite(&project, json!({})).await;
    deleted.advance(&deleted.uri).await.expect(200);
    owner.delete(&deleted.uri).await.expect(204);
    app.settle().await;
    let erased = owner.invite(&project, json!({})).await;
    erased.advance(&erased.uri).await.expect(200);
    erased.send(Request::put(&format!("{}erasure-request/", erased.uri))).await.expect(200);
    owner.skip(&erased.uri).await.expect(200);
    // Until the request is carried out.
    assert_eq!(code_of(&erased).await, "withdrawn");
    app.clock().advance(TimeDelta::days(31));
    app.erase_due().await;
    app.settle().await;

    // One of the candidate's identifiers with another secret.
    let letters = known.key.as_bytes();
    let place = letters.len() - 12;
    let other = if letters[place] == b'A' { "B" } else { "A" };
    let guessed = format!("{}{other}{}", &known.key[..place], &known.key[place + 1..]);
    let guessed = Invited::new(&app, &known.uri, &guessed, "");
    let expected =
        json!({ "detail": "The credential is invalid or has expired.", "code": "invalid_credential" });
    for unknown in [&deleted, &erased, &guessed] {
        let refused = unknown.get(WHOAMI).await.expect(401);
        assert_eq!((refused.json(), refused.log().dynamodb_calls), (expected.clone(), 1));
    }
    let nonsense = Invited::new(&app, &known.uri, "ivk_nothing", "");
    let refused = nonsense.get(WHOAMI).await.expect(401);
    assert_eq!((refused.json(), refused.log().dynamodb_calls), (expected, 0));
}

#[tokio::test]
async fn the_end_of_a_company_makes_all_keys_unknown() {
    let (app, owner, project) = given(true).await;
    let candidate = owner.invite(&project, json!({})).await;
    owner.skip(&candidate.uri).await.expect(200);
    assert_eq!(code_of(&candidate).await, "withdrawn");
    app.operate(json!({ "command": "erase-company", "company": "acme", "confirm": "acme" })).await.unwrap();
    candidate.get(WHOAMI).await.expect_code(401, "invalid_credential");
}

#[tokio::test]
async fn candidates_know_whom_to_ask() {
    let (_, owner, project) = given(true).await;
    let candidate = owner.invite(&project, json!({})).await;
    let contact = async || candidate.get(WHOAMI).await.expect(200).json()["contact"].clone();
    assert_eq!(contact().await, json!({ "person": "Zoë", "email": CONTACT }));
    owner.patch(&project, json!({ "email_alias": "sales@acme.example" })).await.expect(200);
    let sales = json!({ "person": "Zoë", "email": "sales@acme.example" });
    assert_eq!(contact().await, sales);
    let withdrawn = owner.invite(&project, json!({})).await;
    owner.skip(&withdrawn.uri).await.expect(200);
    assert_eq!(withdrawn.get(WHOAMI).await.expect(401).json()["contact"], sales);
    let nothing = json!({ "email_alias": null, "contact_person": "" });
    owner.patch(&project, nothing).await.expect(200);
    owner.patch("/companies/acme/", json!({ "registration_email": "" })).await.expect(200);
    assert_eq!(contact().await, json!({ "person": "", "email": "" }));
}

#[tokio::test]
async fn former_keys_are_kept_as_hashes_a_few_of_them() {
    let (app, owner, project) = given(true).await;
    let first = owner.invite(&project, json!({})).await;
    let mut keys = vec![first.key.clone()];
    for number in 0..6 {
        let fields = json!({ "email": format!("another-{number}@mail.example") });
        keys.push(owner.patch(&first.uri, fields).await.expect(200).uri("activation_key"));
        // Five invitations an hour.
        app.clock().advance(TimeDelta::minutes(61));
    }
    let items = app.table().snapshot().await;
    let stored = items.values().find(|item| item["former_keys"].is_array()).unwrap();
    assert_eq!(stored["former_keys"].as_array().unwrap().len(), 5);
    let by = |key: &str| Invited::new(&app, &first.uri, key, "");
    by(&keys[0]).get(WHOAMI).await.expect_code(401, "invalid_credential");
    assert_eq!(code_of(&by(&keys[1])).await, "key_replaced");
    by(&keys[6]).get(WHOAMI).await.expect(200);
    let table: String = items.values().map(Value::to_string).collect();
    assert!(keys.iter().all(|key| !table.contains(key.as_str())));
}
