//! Named tokens with fewer rights than an owner: what they are created with, and what they see and do.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, Token, last_segment};
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

const TOKENS: &str = "/companies/acme/tokens/";
const PROJECTS: &str = "/companies/acme/projects/";

async fn token_with(owner: &Staff, fields: Value) -> Token {
    owner.named_token_with(fields).await.1
}

async fn sees(caller: &impl Caller) -> Vec<Value> {
    let list = caller.get(PROJECTS).await.expect(200).json();
    assert_eq!(list["meta"]["total_count"], list["objects"].as_array().unwrap().len());
    list["objects"].as_array().unwrap().iter().map(|project| project["resource_uri"].clone()).collect()
}

#[tokio::test]
async fn a_token_shows_its_rights_and_so_does_whoami() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let body = json!({
        "name": "Report", "account_type": "hiring-manager", "projects": [project, project],
        "read_only": true, "expires_at": "2027-01-01T01:00:00+01:00",
    });
    let created = owner.post(TOKENS, body).await.expect(201);
    let (uri, token) = (created.uri("resource_uri"), app.token(&created.uri("value")));
    let shown = owner.get(&uri).await.expect(200).json();
    let rights = json!({ "account_type": "hiring-manager", "projects": [project], "read_only": true });
    for (name, value) in rights.as_object().unwrap() {
        assert_eq!((&created.json()[name], &shown[name]), (value, value), "{name}");
    }
    assert_eq!((&shown["expires_at"], &shown["is_expired"]), (&json!("2027-01-01T00:00:00Z"), &json!(false)));
    let whoami = token.get("/whoami/").await.expect(200).json();
    let reads = ["read_events", "read_webhooks", "read_project", "read_questions", "read_agreement"];
    let reads: Vec<&str> =
        reads.into_iter().chain(["read_candidate", "read_history", "export_candidate"]).collect();
    let mut shown = rights.clone();
    shown["in_projects"] = json!([{ "project": project, "permissions": reads }]);
    assert_eq!(whoami["rights"], shown);
    assert_eq!(whoami["token"], json!({ "kind": "named", "expires_at": "2027-01-01T00:00:00Z" }));
    assert_eq!(owner.get("/whoami/").await.expect(200).json().get("rights"), None);

    // Only the permissions that read are left of a token that may only read.
    let permissions = async |rights: Value| {
        let token = token_with(&owner, rights).await;
        let whoami = token.get("/whoami/").await.expect(200).json();
        let names: Vec<String> = serde_json::from_value(whoami["permissions"].clone()).unwrap();
        names.join(" ")
    };
    assert_eq!(
        permissions(json!({ "read_only": true })).await,
        "read_company read_video list_projects see_all_projects read_events read_usage read_webhooks search \
         read_project read_questions read_agreement read_candidate read_history export_candidate"
    );
    assert_eq!(
        permissions(json!({ "account_type": "recruiter" })).await,
        "read_company manage_labels manage_videos read_video manage_customers list_projects search create_project"
    );
    for account_type in ["recruiter", "hiring-manager"] {
        for read_only in [true, false] {
            let rights =
                json!({ "account_type": account_type, "projects": [project], "read_only": read_only });
            assert_eq!(permissions(rights).await, "read_company read_video list_projects search");
        }
    }
    assert_eq!(permissions(json!({})).await, permissions(json!({ "account_type": "admin" })).await);
    // A repeated creation shows the rights too, without the value.
    let post = Request::post(TOKENS).json(&json!({ "name": "Once", "read_only": true }));
    let post = post.header("idempotency-key", "once");
    let first = owner.send(post.clone()).await.expect(201).json();
    let again = owner.send(post).await.expect(201).json();
    assert_eq!((&again["read_only"], again.get("value")), (&json!(true), None));
    assert_eq!(again["resource_uri"], first["resource_uri"]);
}

#[tokio::test]
async fn rights_that_do_not_go_together_are_refused() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let stranger = app.owner_of("globex").await;
    let theirs = stranger.project(json!({})).await;
    let unknown = project.replace(last_segment(&project), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    // In this company's path, so that only the table can tell.
    let hidden = unknown.replace("01ARZ3NDEKTSV4RRFFQ69G5FAV", last_segment(&theirs));
    let before = app.table().snapshot().await;
    let create = async |fields: Value| {
        let mut body = json!({ "name": "Service" });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        owner.post(TOKENS, body).await
    };
    let rights = [
        json!({ "account_type": "candidate" }),
        json!({ "account_type": null }),
        json!({ "account_type": "hiring-manager" }),
        json!({ "account_type": "hiring-manager", "projects": [] }),
        json!({ "account_type": "recruiter", "projects": [] }),
        json!({ "account_type": "hiring-manager", "projects": null }),
        json!({ "account_type": "hiring-manager", "projects": [7] }),
        json!({ "account_type": "hiring-manager", "projects": vec![&project; 51] }),
        json!({ "projects": [project] }),
        json!({ "account_type": "admin", "projects": [project] }),
        json!({ "account_type": "owner", "projects": [] }),
        json!({ "read_only": "yes" }),
        json!({ "expires_at": "tomorrow" }),
        json!({ "expires_at": "2026-11-08T10:59:59Z" }),
        json!({ "expires_at": "2036-11-08T10:00:01Z" }),
        json!({ "expires_at": "2026-01-01T00:00:00Z", "account_type": "hiring-manager", "read_only": 1, "value": "x" }),
    ];
    assert_refusals!(send_each(rights, create).await, @r#"
        400 {"account_type":["\"candidate\" is not a valid choice. Use one of: hiring-manager, recruiter, admin, owner."]}
        400 {"account_type":["This field may not be null."]}
        400 {"projects":["Name at least one project: tokens of this account type see no others."]}
        2 x 400 {"projects":["Name at least one project."]}
        400 {"projects":["This field may not be null."]}
        400 {"projects":["Expected a list of references."]}
        400 {"projects":["Ensure this list has no more than 50 items."]}
        3 x 400 {"projects":["Tokens of this account type see all projects. Omit this field."]}
        400 {"read_only":["Must be a valid boolean."]}
        400 {"expires_at":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]}
        2 x 400 {"expires_at":["Choose a time that is at least an hour and at most ten years ahead."]}
        400 {
          "expires_at":["Choose a time that is at least an hour and at most ten years ahead."],
          "projects":["Name at least one project: tokens of this account type see no others."],
          "read_only":["Must be a valid boolean."],
          "value":["Ensure this field has 32 to 256 characters."]
        }
        "#);
    // One that does not exist and one of another company give the same answer, but for the identifier.
    let mut answers = Vec::new();
    for one in [&unknown, &hidden] {
        let refused = create(json!({ "account_type": "recruiter", "projects": [project, one] })).await;
        answers.push(refused.expect(400).refusal().replace(last_segment(one), "…"));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], r#"400 {"projects":["Project [id] does not exist."]}"#);
    assert_eq!(app.table().snapshot().await, before);
    for fields in [
        json!({ "expires_at": null, "read_only": false }),
        json!({ "expires_at": "2026-11-08T11:00:00Z" }),
        json!({ "expires_at": "2036-11-08T10:00:00Z", "account_type": "owner" }),
    ] {
        create(fields).await.expect(201);
    }
    let fifty = json!({ "account_type": "recruiter", "projects": vec![&project; 50] });
    create(fifty).await.expect(201);
}

#[tokio::test]
async fn only_owners_create_tokens_so_that_none_has_more_rights_than_its_creator() {
    let app = TestApp::start().await;
    app.owner().await;
    for account_type in ["hiring-manager", "recruiter", "admin"] {
        let person = app.staff(account_type).await;
        for wanted in ["owner", "hiring-manager"] {
            let body = json!({ "name": "Mine", "account_type": wanted });
            person.post(TOKENS, body).await.expect_code(403, "permission_denied");
        }
    }
    let other = app.staff("owner").await;
    other.post(TOKENS, json!({ "name": "Ours", "account_type": "owner" })).await.expect(201);
}

#[tokio::test]
async fn a_token_outlives_its_creator_with_the_rights_that_it_was_given() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let creator = app.staff("owner").await;
    let project = owner.project(json!({})).await;
    let (_, full) = creator.named_token("Full").await;
    let managing = json!({ "account_type": "recruiter", "projects": [project] });
    let limited = token_with(&creator, managing).await;
    let works = async || {
        full.patch("/companies/acme/", json!({ "phone": "1" })).await.expect(200);
        limited.patch(&project, json!({ "internal_id": "1" })).await.expect(200);
        limited
            .patch("/companies/acme/", json!({ "phone": "1" }))
            .await
            .expect_code(403, "permission_denied");
    };
    works().await;
    let command = json!({ "command": "revoke-owner", "company": "acme", "username": creator.username });
    app.operate(command).await.unwrap();
    works().await;
    owner.patch(&creator.uri, json!({ "account_type": "hiring-manager" })).await.expect(200);
    works().await;
    let stays = json!({
        "pk_attribute": "username", "username": owner.username, "email": owner.email,
        "account_type": "owner", "first_name": "Sam", "last_name": "Staff",
    });
    let import = owner.post("/companies/acme/customers/batch-import/", json!([stays])).await.expect(200);
    assert_eq!(import.json()["deactivated"], 1);
    assert_eq!(owner.get(&creator.uri).await.expect(200).json()["is_active"], false);
    works().await;
    owner.delete(&creator.uri).await.expect(204);
    works().await;
}

#[tokio::test]
async fn below_an_admin_a_token_sees_its_projects_and_no_other() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [first, second, other] = [
        owner.running_project(json!({ "external_id": "ONE" })).await,
        owner.project(json!({ "external_id": "TWO" })).await,
        owner.running_project(json!({ "external_id": "OTHER" })).await,
    ];
    for project in [&first, &other] {
        owner.candidate(project, json!({ "first_name": "Zoë" })).await;
    }
    let manager = json!({ "account_type": "hiring-manager", "projects": [second, first] });
    let manager = token_with(&owner, manager).await;
    let recruiter = token_with(&owner, json!({ "account_type": "recruiter", "projects": [second] })).await;
    assert_eq!(sees(&manager).await, [json!(first), json!(second)]);
    assert_eq!(sees(&recruiter).await, [json!(second)]);
    let count = async |target: &str| {
        manager.get(&format!("{PROJECTS}{target}")).await.expect(200).json()["meta"]["total_count"].clone()
    };
    assert_eq!(count("?status=40-running").await, 1);
    assert_eq!((count("?external_id=ONE").await, count("?external_id=OTHER").await), (json!(1), json!(0)));
    let found = async |token: &Token| {
        let found = token.get("/companies/acme/search/?q=zoe").await.expect(200).json();
        found.as_array().unwrap().len()
    };
    assert_eq!((found(&manager).await, found(&recruiter).await), (1, 0));
    manager.get(&other).await.expect_code(404, "not_found");
    // It manages what it sees, as an interview manager does.
    let ada = json!({ "first_name": "Ada", "last_name": "Byron" });
    let candidate = manager.post(&format!("{first}candidates/"), ada).await.expect(201).uri("resource_uri");
    manager.delete(&candidate).await.expect(204);
    // A key that another project has does not tell which one that is.
    let taken = json!({ "external_id": "OTHER" });
    let taken = manager.patch(&first, taken).await.expect_code(409, "external_id_taken").json();
    assert_eq!(taken.get("resource_uri"), None);
    // One of the whole company creates a project, and sees none.
    let company_wide = token_with(&owner, json!({ "account_type": "recruiter" })).await;
    let managed = json!({ "name": "New", "interview_managers": [owner.uri] });
    let new = company_wide.post(PROJECTS, managed).await.expect(201).uri("resource_uri");
    company_wide.get(&new).await.expect_code(404, "not_found");
    assert_eq!(sees(&company_wide).await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_token_manages_staff_as_its_account_type_does() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let below = json!({ "account_type": "recruiter" });
    let tokens = [
        ("owner", token_with(&owner, json!({})).await),
        ("admin", token_with(&owner, json!({ "account_type": "admin" })).await),
        ("recruiter", token_with(&owner, below).await),
    ];
    let mut outcomes = Vec::new();
    for (kind, token) in &tokens {
        for wanted in ["owner", "admin", "recruiter", "hiring-manager"] {
            let person = json!({
                "first_name": "Grace", "last_name": "Hopper", "email": format!("{kind}.{wanted}@acme.example"),
                "account_type": wanted, "preferred_language": "en",
            });
            let created = token.post("/companies/acme/customers/", person).await;
            outcomes.push(created.status.as_u16());
            if created.status.as_u16() == 201 {
                token.delete(&created.uri("resource_uri")).await.expect(204);
            }
        }
    }
    assert_eq!(outcomes, [403, 201, 201, 201, 403, 403, 201, 201, 403, 403, 403, 201]);
    let (_, recruiter) = &tokens[2];
    let label = recruiter.post("/companies/acme/labels/", json!({ "text": "Senior" })).await.expect(201);
    recruiter.delete(&label.uri("resource_uri")).await.expect(204);
}

#[tokio::test]
async fn a_read_only_token_sees_no_key_and_no_draft_and_changes_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let evaluator = app.staff("hiring-manager").await;
    let fields = json!({ "allow_hash_login": true, "evaluators": [evaluator.uri] });
    let project = owner.running_project(fields).await;
    let invited = owner.invite(&project, json!({})).await;
    let confirmed = owner.invite(&project, json!({})).await;
    let advance = Request::patch(&format!("{}status/advance/", confirmed.uri));
    confirmed.send(advance).await.expect(200);
    let interviewed = owner.invite(&project, json!({})).await;
    interviewed.advance(&interviewed.uri).await.expect(200);
    interviewed.advance(&interviewed.uri).await.expect(200);
    app.complete(&interviewed.uri).await;
    let webhook = json!({ "url": "https://hooks.example.com/in" });
    let webhook = owner.post("/companies/acme/webhooks/", webhook).await.expect(201);
    app.settle().await;

    let managing = json!({ "account_type": "hiring-manager", "projects": [project] });
    let mut reading = managing.clone();
    reading["read_only"] = true.into();
    let [full, writer] = [token_with(&owner, json!({})).await, token_with(&owner, managing).await];
    let readers = [token_with(&owner, json!({ "read_only": true })).await, token_with(&owner, reading).await];
    let known = async |caller: &Token, of: &str| caller.get(of).await.expect(200).json();
    let secrets = [
        known(&full, &invited.uri).await["interview_url"].as_str().unwrap().to_owned(),
        known(&full, &invited.uri).await["activation_key"].as_str().unwrap().to_owned(),
        known(&full, &confirmed.uri).await["interview_key"].as_str().unwrap().to_owned(),
        webhook.uri("secret"),
        full.secret.clone(),
    ];
    assert!(secrets.iter().all(|secret| secret.len() > 20), "{secrets:?}");
    // A token that manages the project and may write sees them.
    assert_eq!(known(&writer, &invited.uri).await["interview_url"], secrets[0]);
    let list = format!("{project}candidates/");
    let of_company = format!("/companies/acme/candidates/?email={}", invited.email);
    let targets = [
        &invited.uri,
        &confirmed.uri,
        &interviewed.uri,
        &list,
        &of_company,
        &format!("{list}?status=invited"),
        &format!("{}data/", invited.uri),
        &format!("{}events/", invited.uri),
        &format!("{}interview/", interviewed.uri),
        &format!("{}shares/", invited.uri),
        "/companies/acme/search/?q=ada",
        &format!("{project}?expand=evaluators,interview_managers,questions,roles,criteria"),
        PROJECTS,
        "/companies/acme/customers/",
        "/companies/acme/events/?page_size=100",
        "/companies/acme/webhooks/",
        &webhook.uri("resource_uri"),
        "/whoami/",
    ];
    for reader in &readers {
        for target in targets {
            let shown = reader.get(target).await;
            let text = String::from_utf8_lossy(&shown.body).into_owned();
            for secret in &secrets {
                assert!(!text.contains(secret.as_str()), "{target}: {text}");
            }
            for field in ["interview_url", "activation_key\":\"ivk", "interview_key"] {
                assert!(!text.contains(field), "{target} shows {field}: {text}");
            }
        }
        let shown = known(reader, &invited.uri).await;
        // All else that a manager sees is there.
        for field in [
            "shares",
            "is_on_hold",
            "next_reminder_at",
            "opened_at",
            "adjustments",
            "reopening",
            "cancellation",
            "help_request",
        ] {
            assert!(shown.get(field).is_some(), "{field}");
        }
    }
    // Drafts are shown to tokens that write them.
    let draft = format!("{}evaluations/{}/", interviewed.uri, evaluator.id());
    full.send(Request::put(&draft).json(&json!({ "comment": "Draft" }))).await.expect(201);
    full.get(&draft).await.expect(200);
    for reader in readers.iter().chain([&writer]) {
        reader.get(&draft).await.expect_code(404, "not_found");
    }

    app.app().finish_background().await;
    let before = app.table().snapshot().await;
    let [reader, _] = &readers;
    let missing = "/companies/globex/labels/";
    assert_refusal!(reader.post(missing, json!({ "text": "x" })).await, @r#"403 {"code":"read_only_token","detail":"This token may only read: send GET or HEAD. For changes, use a token without `read_only`."}"#);
    for request in [
        Request::post(&list).json(&json!({})),
        Request::patch(&invited.uri).json(&json!({ "phone": "1" })),
        Request::delete(&invited.uri),
        Request::put(&format!("{}hold/", invited.uri)).json(&json!({ "reason": "x" })),
        Request::post(&format!("{}uploads/", invited.uri)).json(&json!({ "field": "photo" })),
        Request::post("/api-token-invalidate/"),
        Request::post("/api-token-auth/").json(&json!({ "company": "acme", "username": "owner" })),
        Request::post(&list).json(&json!({})).header("idempotency-key", "mine"),
    ] {
        reader.send(request).await.expect_code(403, "read_only_token");
    }
    assert_eq!(app.table().snapshot().await, before);
    reader.send(Request::get(&list).head()).await.expect(200);
    reader.get(missing).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn a_file_that_a_token_has_announced_is_attached_only_if_the_token_still_has_the_right() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let end = (app.app().now() + TimeDelta::hours(1)).to_rfc3339();
    let fields = json!({ "account_type": "hiring-manager", "projects": [project], "expires_at": end });
    let token = token_with(&owner, fields).await;
    let cv = tests::files::pdf(10);
    let announce = async || {
        let body = json!({ "field": "cv", "content_type": "application/pdf", "size": cv.len() });
        let announced = token.post(&format!("{candidate}uploads/"), body).await.expect(201).json();
        assert_eq!(tests::files::put(&announced, cv.clone()).await.status, 200);
        announced["resource_uri"].as_str().unwrap().to_owned()
    };
    let in_time = announce().await;
    app.settle().await;
    assert_eq!(owner.get(&in_time).await.expect(200).json()["status"], "successful");
    let late = announce().await;
    app.clock().advance(TimeDelta::minutes(61));
    app.settle().await;
    assert_eq!(owner.get(&late).await.expect(200).json()["status"], "failed");
}
