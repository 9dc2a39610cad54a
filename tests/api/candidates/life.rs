//! The whole life of a candidate, from its creation to its evaluation.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Invited, PASSWORD, last_segment};
use tests::platform::event;

#[tokio::test]
async fn from_creation_over_invitation_and_interview_to_evaluation() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [one, two] = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
    let fields = json!({ "evaluators": [one.uri, two.uri], "support_lang": "de" });
    let project = owner.running_project(fields).await;
    let counts = async || {
        let project = owner.get(&project).await.expect(200).json();
        let count = |name: &str| project[format!("{name}candidates_count")].as_i64().unwrap();
        ["", "invited_", "confirmed_", "interviewing_", "interviewed_", "evaluated_"].map(count)
    };

    // Created: it knows of nothing.
    let names = json!({ "email": "ada@mail.example", "username": "ada" });
    let uri = owner.candidate(&project, names).await;
    assert_eq!(counts().await, [1, 0, 0, 0, 0, 0]);
    let dated = owner.set_deadline(&uri, "2026-11-15T10:00:00Z").await.expect(200).json();
    assert_eq!((&dated["status"], &dated["deadline"]), (&json!("new"), &json!("2026-11-15T10:00:00Z")));
    assert_eq!((&dated["activation_key"], &dated["interview_key"]), (&json!(""), &json!("")));

    // Invited: it gets a key, which nobody sees but itself and its managers.
    app.clock().advance(TimeDelta::minutes(60));
    let response = owner.advance(&uri).await.expect(200);
    let candidate = Invited::shown_in(&app, &response);
    let mut expected = dated;
    expected["status"] = json!("invited");
    expected["invitationdate"] = json!("2026-11-08T11:00:00Z");
    expected["activation_key"] = json!(candidate.key);
    expected["interview_url"] = json!(format!("https://hr.example/register/{}", candidate.key));
    assert_eq!(response.json(), expected);
    owner.get(&uri).await.expect_json(200, expected.clone());
    let to_evaluator = one.get(&uri).await.expect(200);
    assert!(!to_evaluator.to_string().contains(&candidate.key), "{to_evaluator}");
    assert_eq!(counts().await, [1, 1, 0, 0, 0, 0]);

    // The candidate, by its key: it looks around, and chooses a password.
    let mut own = expected.clone();
    own.as_object_mut().unwrap().retain(|field, _| {
        ![
            "cancellation",
            "external_id",
            "is_on_hold",
            "next_reminder_at",
            "opened_at",
            "partner_data",
            "reopening",
            "shares",
        ]
        .contains(&field.as_str())
    });
    candidate.get(&uri).await.expect_json(200, own.clone());
    let mut around = own.clone();
    around["company"] = json!({
        "id": "acme", "resource_uri": "https://hr.example/api/v3/companies/acme/",
        "name": "Acme & Sons", "timezone": "", "logo": null,
    });
    around["project"] = json!({
        "id": last_segment(&project),
        "resource_uri": project, "name": "Sales", "job_url": "", "support_lang": "de", "language": "de-DE",
        "interview_platform": "builtin", "videos": [],
    });
    around["contact"] = json!({ "person": "", "email": "" });
    around["return_url"] = json!("");
    around["message"] = json!("");
    around["seconds_until_deadline"] = json!(7 * 24 * 3600 - 3600);
    candidate.get("/whoami/candidate/").await.expect_json(200, around.clone());
    let whoami = candidate.get("/whoami/").await.expect(200).json();
    assert_eq!((&whoami["kind"], &whoami["resource"]), (&json!("candidate"), &own));
    let by_key = json!({ "kind": "activation_key", "expires_at": "2026-11-15T10:00:00Z" });
    assert_eq!(whoami["token"], by_key);
    own["phone"] = json!("+41 44 123 45 67");
    let change = json!({ "phone": "+41 44 123 45 67", "password": PASSWORD });
    candidate.patch(&uri, change).await.expect_json(200, own.clone());

    // Confirmed: the key has done its work.
    app.clock().advance(TimeDelta::minutes(1));
    own["status"] = json!("confirmed");
    own["confirmationdate"] = json!("2026-11-08T11:01:00Z");
    own["activation_key"] = json!("");
    own["interview_url"] = json!("https://hr.example/interview/acme/");
    candidate.advance(&uri).await.expect_json(200, own.clone());
    candidate.get(&uri).await.expect_code(401, "invalid_credential");
    let ended = candidate.get("/whoami/candidate/").await.expect(401).json();
    assert_eq!(ended["code"], "key_registered");
    assert_eq!(counts().await, [1, 0, 1, 0, 0, 0]);

    // It logs in, by either name.
    for name in ["ada", "ada@mail.example", "ADA"] {
        let token = app.anonymous().log_in("acme", name, PASSWORD).await.expect(200).uri("token");
        let whoami = app.token(&token).get("/whoami/").await.expect(200).json();
        let expected = json!({
            "company": "https://hr.example/api/v3/companies/acme/",
            "kind": "candidate",
            "resource": own,
            "permissions": [
                "read_video", "read_questions", "read_candidate", "export_candidate", "request_erasure",
                "withdraw_erasure", "change_candidate", "answer_questions", "ask_for_help",
                "advance_candidate",
            ],
            "token": { "kind": "token", "expires_at": "2026-11-08T13:01:00Z" },
            "on_behalf_by": null,
        });
        assert_eq!(whoami, expected, "{name}");
    }
    let token = app.anonymous().log_in("acme", "ada", PASSWORD).await.expect(200).uri("token");
    let candidate = app.token(&token);

    // Interviewing, elsewhere.
    own["status"] = json!("interviewing");
    own["interview_url"] = json!("");
    candidate.advance(&uri).await.expect_json(200, own.clone());
    assert_eq!(counts().await, [1, 0, 0, 1, 0, 0]);

    // Interviewed, as the platform reports some time later.
    app.clock().advance(TimeDelta::minutes(40));
    let completed = event("interview.completed", "2026-11-08T11:30:00Z", json!({ "candidate": uri }));
    app.report(completed).await.unwrap();
    own["status"] = json!("interviewed");
    own["interviewdate"] = json!("2026-11-08T11:30:00Z");
    candidate.get(&uri).await.expect_code(401, "invalid_credential");
    let token = app.anonymous().log_in("acme", "ada", PASSWORD).await.expect(200).uri("token");
    app.token(&token).get(&uri).await.expect_json(200, own.clone());
    assert_eq!(counts().await, [1, 0, 0, 0, 1, 0]);

    // Evaluated, by one and by the other.
    app.evaluate(&uri, &two.uri, true).await;
    let shown = one.get(&uri).await.expect(200).json();
    assert_eq!([&shown["evaluation_status"], &shown["my_evaluation_status"]], ["partial", "pending"]);
    assert_eq!(counts().await, [1, 0, 0, 0, 1, 0]);
    assert_refusal!(owner.set_status(&project, "60-closed").await, @r#"400 {"code":"cannot_archive","detail":"The project cannot be closed while candidates are invited, confirmed, interviewing or not fully evaluated."}"#);
    app.evaluate(&uri, &one.uri, true).await;
    let shown = one.get(&uri).await.expect(200).json();
    assert_eq!([&shown["evaluation_status"], &shown["my_evaluation_status"]], ["completed", "completed"]);
    assert_eq!(counts().await, [1, 0, 0, 0, 1, 1]);
    owner.set_status(&project, "60-closed").await.expect(200);
}

#[tokio::test]
async fn expired_and_aborted_candidates_get_another_chance() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let invited = owner.invite(&project, json!({})).await;
    let uri = invited.uri.clone();

    // Missed before it had a password: invited anew, with another key.
    app.clock().advance(TimeDelta::days(7));
    app.expire_overdue().await;
    let owner = owner.new_token().await;
    let expired = owner.get(&uri).await.expect(200).json();
    assert_eq!((&expired["status"], &expired["activation_key"]), (&json!("expired"), &json!("")));
    assert_refusal!(owner.advance(&uri).await, @r#"400 {"code":"deadline_passed","detail":"The candidate's deadline has passed. Set a later one first."}"#);
    owner.set_deadline(&uri, &app.clock().in_days(2)).await.expect(200);
    let again = owner.advance(&uri).await.expect(200);
    assert_eq!(again.json()["invitationdate"], "2026-11-15T10:00:00Z");
    let again = Invited::shown_in(&app, &again);
    assert_ne!(again.key, invited.key);
    invited.get(&uri).await.expect(401);
    again.get(&uri).await.expect(200);

    // Missed after it had chosen one: confirmed, and it logs in as before.
    again.choose_password().await;
    app.clock().advance(TimeDelta::days(2));
    app.expire_overdue().await;
    let [owner, token] = [
        app.token(&app.anonymous().log_in("acme", "owner", PASSWORD).await.expect(200).uri("token")),
        app.token(&app.anonymous().log_in("acme", &again.email, PASSWORD).await.expect(200).uri("token")),
    ];
    assert_eq!(token.get(&uri).await.expect(200).json()["status"], "expired");
    owner.set_deadline(&uri, &app.clock().in_days(2)).await.expect(200);
    let confirmed = owner.advance(&uri).await.expect(200).json();
    assert_eq!((&confirmed["status"], &confirmed["activation_key"]), (&json!("confirmed"), &json!("")));
    assert_eq!(confirmed["confirmationdate"], "2026-11-17T10:00:00Z");

    // Broken off: confirmed again, and this time to the end.
    token.advance(&uri).await.expect(200);
    app.abort(&uri).await;
    let token = again.log_in().await;
    assert_eq!(token.get(&uri).await.expect(200).json()["status"], "aborted");
    assert_eq!(owner.advance(&uri).await.expect(200).json()["status"], "confirmed");
    token.advance(&uri).await.expect(200);
    app.complete(&uri).await;
    assert_eq!(owner.get(&uri).await.expect(200).json()["status"], "interviewed");
    let project = owner.get(&project).await.expect(200).json();
    assert_eq!([&project["candidates_count"], &project["interviewed_candidates_count"]], [1, 1]);
}

#[tokio::test]
async fn candidates_without_a_deadline_get_one_with_the_invitation() {
    let app = TestApp::start().await;
    // No moment of a request is a whole second.
    app.clock().advance(TimeDelta::milliseconds(250));
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "default_interview_period": 14 })).await;
    let uri = owner.candidate(&project, json!({ "email": "ada@mail.example" })).await;
    let invited = owner.advance(&uri).await.expect(200).json();
    assert_eq!(invited["deadline"], "2026-11-22T10:00:00Z");

    // Sent back as it was read, it is the same.
    let before = app.table().snapshot().await;
    owner.patch(&uri, invited.clone()).await.expect_json(200, invited.clone());
    owner.set_deadline(&uri, "2026-11-22T10:00:00Z").await.expect_json(200, invited);
    assert_eq!(app.table().snapshot().await, before);

    // A candidate with a deadline keeps it.
    let own = json!({ "email": "bob@mail.example", "deadline": "2026-11-09T10:00:00Z" });
    let uri = owner.candidate(&project, own).await;
    assert_eq!(owner.advance(&uri).await.expect(200).json()["deadline"], "2026-11-09T10:00:00Z");
}

#[tokio::test]
async fn a_deleted_candidate_is_gone_for_itself_as_well() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let invited = owner.invite(&project, json!({ "username": "ada" })).await;
    let token = invited.register().await;
    owner.delete(&invited.uri).await.expect(204);
    invited.get(&invited.uri).await.expect_code(401, "invalid_credential");
    token.get("/whoami/").await.expect_code(401, "invalid_credential");
    for name in ["ada", &invited.email] {
        app.anonymous().log_in("acme", name, PASSWORD).await.expect_code(401, "invalid_credentials");
    }
    let list = owner.get(&format!("{project}candidates/")).await.expect(200);
    assert!(!list.to_string().contains(last_segment(&invited.uri)), "{list}");
}
