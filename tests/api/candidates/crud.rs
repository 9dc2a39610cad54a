//! Creating, reading, changing and deleting candidates.

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::http::send_each;
use tests::{assert_refusal, assert_refusals};

/// Everything that a client may say of a candidate.
fn profile() -> Value {
    json!({
        "first_name": "Zoë",
        "last_name": "O’Neil-Łukasz",
        "username": "Zoe.1",
        "email": "zoe.o'neil+jobs@mail.example.com",
        "external_id": "4711/7 b",
        "deadline": "2026-12-24T18:00:00Z",
        "phone": "+41 44 123 45 67",
        "gender": "mrs",
        "address": "Bahnhofstrasse 1, Zürich",
        "partner_data": { "id": 7, "tags": ["a", null] },
    })
}

#[tokio::test]
async fn two_names_are_enough() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let names = json!({ "first_name": " Ada ", "last_name": "Lovelace" });
    let response = owner.post(&format!("{project}candidates/"), names).await.expect(201);
    let uri = response.uri("resource_uri");
    assert_eq!(response.header("location"), Some(uri.as_str()));
    assert!(uri.starts_with(&format!("{project}candidates/")), "{uri}");
    let page = format!("https://hr.example/result/acme/{}/{}/", last_segment(&project), last_segment(&uri));
    let expected = json!({
        "id": last_segment(&uri),
        "resource_uri": uri,
        "company": "https://hr.example/api/v3/companies/acme/",
        "project": project,
        "first_name": "Ada",
        "last_name": "Lovelace",
        "username": "",
        "email": "",
        "external_id": "",
        "email_confirmed": true,
        "email_status": "",
        "status": "new",
        "confirmationdate": null,
        "invitationdate": null,
        "interviewdate": null,
        "ended_by_time": false,
        "deadline": null,
        "photo": "",
        "cv": "",
        "evaluation_status": "pending",
        "my_evaluation_status": null,
        "phone": "",
        "gender": "",
        "created_by": owner.uri,
        "address": "",
        "partner_data": {},
        "adjustments": null,
        "erasure_due_at": null,
        "adjustments": null,
        "is_on_hold": false,
        "shares": [],
        "interview_key": "",
        "activation_key": "",
        "interview_url": "",
        "language": null,
        "receive_mails": true,
        "next_reminder_at": null,
        "opened_at": null,
        "reopening": null,
        "cancellation": null,
        "help_request": null,
        "interview_suite_url": page,
    });
    assert_eq!(response.json(), expected, "{response}");
    owner.get(&uri).await.expect_json(200, expected);
    assert_eq!(owner.get(&project).await.expect(200).json()["candidates_count"], 1);
}

#[tokio::test]
async fn names_are_required_and_all_that_is_wrong_is_reported_at_once() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let candidates = format!("{}candidates/", owner.project(json!({})).await);
    let required = json!(["This field is required."]);
    let missing = json!({ "first_name": required, "last_name": required });
    owner.post(&candidates, json!({ "email": "a@b.co" })).await.expect_json(400, missing);
    let wrong = json!({
        "first_name": "",
        "last_name": null,
        "username": "with space",
        "email": "nobody",
        "deadline": "2026-12-24T18:00:00",
        "phone": "1".repeat(51),
        "gender": 1,
        "address": [],
        "partner_data": "x",
    });
    assert_refusal!(owner.post(&candidates, wrong).await, @r#"
        400 {
          "address":["Not a valid string."],
          "deadline":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."],
          "email":["Enter a valid email address."],
          "first_name":["This field may not be blank."],
          "gender":["Not a valid string."],
          "last_name":["This field may not be null."],
          "partner_data":["Expected an object."],
          "phone":["Ensure this field has no more than 50 characters."],
          "username":["A username may not contain spaces."]
        }
        "#);
    assert_eq!(owner.get(&candidates).await.expect(200).json()["meta"]["total_count"], 0);
}

#[tokio::test]
async fn every_field_is_kept_as_sent() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let uri = owner.candidate(&project, profile()).await;
    let read = owner.get(&uri).await.expect(200).json();
    for (name, value) in profile().as_object().unwrap() {
        assert_eq!(read[name], *value, "{name}");
    }
}

#[tokio::test]
async fn read_only_fields_are_ignored() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let ignored = json!({
        "status": "interviewed",
        "invitationdate": "2026-01-01T00:00:00Z",
        "evaluation_status": "completed",
        "company": "https://hr.example/api/v3/companies/globex/",
        "project": 1,
        "created_by": null,
        "shares": [1],
        "activation_key": "guessed",
    });
    let uri = owner.candidate(&project, ignored.clone()).await;
    let read = owner.get(&uri).await.expect(200).json();
    assert_eq!((&read["status"], &read["invitationdate"]), (&json!("new"), &Value::Null));
    assert_eq!((&read["created_by"], &read["project"]), (&json!(owner.uri), &json!(project)));
    owner.patch(&uri, ignored).await.expect_json(200, read);
}

#[tokio::test]
async fn sending_back_a_resource_changes_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    for fields in [json!({}), profile()] {
        let uri = owner.candidate(&project, fields).await;
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
    let project = owner.project(json!({})).await;
    let uri = owner.candidate(&project, json!({ "username": "ada", "email": "ada@acme.example" })).await;
    let mut expected = owner.get(&uri).await.expect(200).json();
    for (name, value) in profile().as_object().unwrap() {
        expected[name] = value.clone();
        owner.patch(&uri, json!({ name: value })).await.expect_json(200, expected.clone());
        owner.get(&uri).await.expect_json(200, expected.clone());
    }
}

#[tokio::test]
async fn null_and_empty_strings_clear_optional_fields() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let mut refusals = Vec::new();
    for empty in [Value::Null, json!("")] {
        let uri = owner.candidate(&project, profile()).await;
        for name in ["username", "email", "external_id", "phone", "gender", "address"] {
            let candidate = owner.patch(&uri, json!({ name: empty })).await.expect(200).json();
            assert_eq!(candidate[name], "", "{name}");
        }
        for name in ["first_name", "last_name"] {
            refusals.push(owner.patch(&uri, json!({ name: empty })).await);
        }
    }
    assert_refusals!(refusals, @r#"
        400 {"first_name":["This field may not be null."]}
        400 {"last_name":["This field may not be null."]}
        400 {"first_name":["This field may not be blank."]}
        400 {"last_name":["This field may not be blank."]}
        "#);
}

#[tokio::test]
async fn a_deadline_carries_a_time_zone() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let uri = owner.candidate(&project, json!({})).await;
    for (sent, shown) in [
        ("2026-12-24T18:00:00Z", "2026-12-24T18:00:00Z"),
        ("2026-12-24T18:00:00.999+01:00", "2026-12-24T17:00:00Z"),
        ("2026-12-24T18:00:00-0530", "2026-12-24T23:30:00Z"),
        // A past one too, so that rules can be seen to refuse.
        ("2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z"),
    ] {
        let candidate = owner.patch(&uri, json!({ "deadline": sent })).await.expect(200).json();
        assert_eq!(candidate["deadline"], shown, "{sent}");
    }
    let values = [json!("2026-12-24T18:00:00"), json!("2026-12-24"), json!("soon"), json!(1_798_135_200)];
    assert_refusals!(send_each(values, |value| owner.patch(&uri, json!({ "deadline": value }))).await, @r#"
        3 x 400 {"deadline":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]}
        400 {"deadline":["Not a valid string."]}
        "#);
}

#[tokio::test]
async fn a_username_is_unique_in_the_company_ignoring_case() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [project, other] = [owner.project(json!({})).await, owner.project(json!({})).await];
    let ada = owner.candidate(&project, json!({ "username": "Ada" })).await;
    let bob = owner.candidate(&other, json!({ "username": "bob" })).await;
    let before = app.table().snapshot().await;
    let taken = json!({ "username": ["This username is already in use."] });
    for name in ["Ada", "ADA", " ada ", "ＡＤＡ", "owner", "OWNER", &owner.email.to_uppercase()] {
        let body = json!({ "first_name": "Eve", "last_name": "E", "username": name });
        owner.post(&format!("{project}candidates/"), body).await.expect_json(400, taken.clone());
        owner.patch(&bob, json!({ "username": name })).await.expect_json(400, taken.clone());
    }
    assert_eq!(app.table().snapshot().await, before, "nothing of all that is done");

    // One's own name in another spelling is free, and so is a name that was given up.
    owner.patch(&ada, json!({ "username": "ADA" })).await.expect(200);
    owner.patch(&ada, json!({ "username": "countess" })).await.expect(200);
    owner.patch(&bob, json!({ "username": "Ada" })).await.expect(200);
    // Another company has names of its own.
    let stranger = app.owner_of("globex").await;
    let abroad = stranger.project(json!({})).await;
    stranger.candidate(&abroad, json!({ "username": "ada" })).await;
}

#[tokio::test]
async fn an_email_may_belong_to_several_candidates() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let same = json!({ "email": "Ada@Example.com" });
    let ada = owner.candidate(&project, same.clone()).await;
    owner.candidate(&project, same.clone()).await;
    owner.candidate(&owner.project(json!({})).await, json!({ "email": "ada@example.COM" })).await;
    owner.candidate(&project, json!({ "email": owner.email })).await;
    owner.delete(&ada).await.expect(204);
    owner.new_token().await.get("/whoami/").await.expect(200);
}

#[tokio::test]
async fn a_candidate_is_deleted_with_everything_that_belongs_to_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let kept = owner.candidate(&project, json!({ "username": "kept", "email": "a@b.co" })).await;
    let before = app.table().snapshot().await;

    let uri = owner.candidate(&project, profile()).await;
    assert_ne!(app.table().snapshot().await.len(), before.len());
    let response = owner.delete(&uri).await.expect(204);
    assert!(response.body.is_empty());
    assert_refusal!(owner.get(&uri).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);
    owner.delete(&uri).await.expect_code(404, "not_found");
    owner.patch(&uri, json!({})).await.expect_code(404, "not_found");
    owner.get(&kept).await.expect(200);
    assert_eq!(owner.get(&project).await.expect(200).json()["candidates_count"], 1);

    app.settle().await;
    assert_eq!(app.ledger().len(), 1);
    let after = app.table().snapshot().await;
    // Tallies keep a count of their writes, and the history is another's; everything else is as it was.
    let is_kept = |(pk, sk): &(String, String)| {
        !sk.starts_with("TALLY#") && !pk.starts_with("HISTORY#") && sk != "SEQUENCE"
    };
    let rest = |items: std::collections::BTreeMap<(String, String), Value>| -> Vec<_> {
        items.into_iter().filter(|(key, _)| is_kept(key)).collect()
    };
    assert_eq!(rest(after), rest(before));
    // The name is free again.
    owner.candidate(&project, profile()).await;
}

#[tokio::test]
async fn only_managers_see_shares_and_keys() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let admin = app.staff("admin").await;
    let [manager, evaluator, reviewer] =
        [app.staff("recruiter").await, app.staff("hiring-manager").await, app.staff("hiring-manager").await];
    let project =
        manager.project(json!({ "evaluators": [evaluator.uri], "reviewers": [reviewer.uri] })).await;
    let uri = manager.candidate(&project, json!({})).await;
    let list = format!("{project}candidates/");
    let fields = ["shares", "interview_key", "activation_key"];
    for (caller, sees) in
        [(&owner, true), (&admin, true), (&manager, true), (&evaluator, false), (&reviewer, false)]
    {
        let one = caller.get(&uri).await.expect(200).json();
        let listed = &caller.get(&list).await.expect(200).json()["objects"][0];
        assert_eq!(&one, listed);
        for field in fields {
            assert_eq!(one.get(field).is_some(), sees, "{field}: {one:#}");
        }
        let evaluates = std::ptr::eq(caller, &evaluator);
        let status = if evaluates { json!("pending") } else { Value::Null };
        assert_eq!(one["my_evaluation_status"], status);
        let own = format!("{uri}evaluations/{}/", caller.id());
        assert_eq!(one.get("my_evaluation"), evaluates.then_some(&json!(own)), "{one:#}");
    }
}

#[tokio::test]
async fn evaluations_show_as_far_as_they_have_come() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [one, two] = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
    let fields = json!({ "evaluators": [one.uri, two.uri], "allow_hash_login": true });
    let project = owner.running_project(fields).await;
    let uri = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
    for (evaluates, status, my_status) in [
        (None, "pending", "pending"),
        (Some(&two.uri), "partial", "pending"),
        (Some(&one.uri), "completed", "completed"),
    ] {
        if let Some(by) = evaluates {
            app.evaluate(&uri, by, true).await;
        }
        let candidate = one.get(&uri).await.expect(200).json();
        assert_eq!(
            [&candidate["evaluation_status"], &candidate["my_evaluation_status"]],
            [status, my_status]
        );
        assert_eq!(candidate["status"], "interviewed");
    }
    // A change of the profile leaves all that alone.
    let changed = owner.patch(&uri, json!({ "first_name": "Grace" })).await.expect(200).json();
    assert_eq!([&changed["evaluation_status"], &changed["status"]], ["completed", "interviewed"]);
    app.assert_sound();
    owner.delete(&uri).await.expect(204);
}

#[tokio::test]
async fn a_candidate_is_found_in_its_own_project_only() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [project, other] = [owner.project(json!({})).await, owner.project(json!({})).await];
    let uri = owner.candidate(&project, json!({})).await;
    let elsewhere = format!("{other}candidates/{}/", last_segment(&uri));
    owner.get(&elsewhere).await.expect_code(404, "not_found");
    owner.delete(&elsewhere).await.expect_code(404, "not_found");
    owner.get(&uri).await.expect(200);
}

#[tokio::test]
async fn a_candidate_of_many_words_can_be_changed_whole() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let words = |first: u32| {
        let words: Vec<String> =
            (first..first + 75).filter_map(char::from_u32).map(|letter| letter.to_string()).collect();
        words.join(" ")
    };
    let names = |first: u32| {
        let username = format!("user-{first}");
        json!({ "first_name": words(first), "last_name": words(first + 75), "username": username })
    };
    let uri = owner.candidate(&project, names(0x4e00)).await;
    app.assert_sound();
    owner.patch(&uri, names(0x5e00)).await.expect(200);
    owner.delete(&uri).await.expect(204);
}
