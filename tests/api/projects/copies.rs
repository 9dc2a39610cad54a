//! Copies of projects: their settings, questions and criteria, and nothing of what happened in them.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, merge};
use tests::chaos::Fault;
use tests::effort;
use tests::http::{Request, Response};
use tests::{assert_refusal, assert_refusals};

const PROJECTS: &str = "/companies/acme/projects/";

async fn copy(caller: &impl Caller, source: &str, fields: Value) -> Response {
    let mut body = json!({ "name": "Autumn", "copy_of": source });
    merge(&mut body, fields);
    caller.post(PROJECTS, body).await
}

async fn video(owner: &Staff) -> String {
    let body =
        json!({ "name": "Welcome", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 10 });
    owner.post("/companies/acme/videos/", body).await.expect(201).uri("resource_uri")
}

/// All rows of a list, a page of 100.
async fn list(owner: &Staff, path: &str) -> Vec<Value> {
    let list = owner.get(&format!("{path}?page_size=100")).await.expect(200).json();
    list["objects"].as_array().unwrap().clone()
}

/// A project with every setting, 30 questions and 20 criteria, 20 labels and 20 videos, and 30 videos that ask.
async fn full(owner: &Staff) -> String {
    let (mut labels, mut videos) = (Vec::new(), Vec::new());
    for number in 0..20 {
        labels.push(owner.label(&format!("Label {number}")).await);
        videos.push(json!({ "uri": video(owner).await, "position": 3 * number }));
    }
    let settings = json!({
        "name": "Spring", "job_url": "https://jobs.example.com/1", "return_url": "https://jobs.example.com/done",
        "email_alias": "jobs@acme.example", "maximum_score": 7, "support_lang": "fr", "internal_id": "R-1",
        "external_id": "REQ-1", "allow_hash_login": true, "max_interview_time": 45, "interview_platform": "builtin",
        "invite_candidates": true, "default_interview_period": 9, "closedate": "2027-01-02",
        "activationdate": "2026-12-01", "creationdate": "2026-01-01", "contact_person": "Grace Hopper",
        "veto_enabled": true, "team_evaluation": 2, "reminder_days": [1, 3], "partner_data": { "id": 7 },
        "labels": labels, "videos": videos,
    });
    let project = owner.running_project(settings).await;
    for number in 0..30 {
        let question = json!({
            "text": format!("Question {number}?"), "position": 2 * number + 1, "answer_seconds": 30 + number,
            "preparation_seconds": number, "takes": 2, "is_required": number % 2 == 0,
            "internal_description": "Listen.", "video": video(owner).await, "anchors": [{ "value": 0.5, "text": "Guesses" }],
        });
        owner.post(&format!("{project}questions/"), question).await.expect(201);
    }
    for number in 0..20 {
        let criterion = json!({ "name": format!("Criterion {number}"), "position": 5 * number + 2, "description": "How?", "anchors": [{ "value": 7, "text": "Asks back" }] });
        owner.post(&format!("{project}criteria/"), criterion).await.expect(201);
    }
    let rule = json!({ "days": 30, "from": "project_closed" });
    owner.send(Request::put(&format!("{project}retention/")).json(&rule)).await.expect(200);
    project
}

/// The rows of a list of questions or criteria without what names them.
fn unnamed(rows: Vec<Value>) -> Vec<Value> {
    let strip = |mut row: Value| {
        let fields = row.as_object_mut().unwrap();
        for name in ["id", "resource_uri", "project"] {
            fields.remove(name);
        }
        row
    };
    rows.into_iter().map(strip).collect()
}

#[tokio::test]
async fn a_copy_has_all_settings_questions_and_criteria_and_nothing_that_is_the_projects_own() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let source = full(&owner).await;
    let evaluator = owner.colleague("hiring-manager", json!({})).await;
    let reviewer = owner.colleague("hiring-manager", json!({})).await;
    let roles = json!({ "evaluators": [evaluator.uri], "reviewers": [reviewer.uri] });
    owner.patch(&source, roles).await.expect(200);
    owner.candidate(&source, json!({})).await;
    let admin = app.staff("admin").await;
    let created = copy(&admin, &source, json!({})).await.expect(201);
    let made = created.uri("resource_uri");
    assert_ne!(made, source);
    let [old, new] = [owner.get(&source).await.expect(200).json(), owner.get(&made).await.expect(200).json()];
    let mut shown = new.clone();
    merge(&mut shown, json!({ "not_copied": [] }));
    assert_eq!(created.json(), shown);
    assert_eq!(created.header("etag"), admin.get(&made).await.expect(200).header("etag"));
    let own = json!({
        "name": "Autumn", "status": "10-incomplete", "internal_id": "", "external_id": "", "closedate": null,
        "activationdate": null, "creationdate": app.clock().in_days(0).split('T').next().unwrap(), "partner_data": {},
        "interview_managers": [admin.uri], "evaluators": [], "reviewers": [],
    });
    for (name, value) in old.as_object().unwrap() {
        let is_counted = name.ends_with("_count") || name == "candidates" || name == "can_archive";
        let is_address = name != "job_url"
            && name != "return_url"
            && value.as_str().is_some_and(|text| text.starts_with(&source));
        if is_counted || is_address || ["id", "interview_suite_url", "roles"].contains(&name.as_str()) {
            continue;
        }
        let expected = own.get(name).unwrap_or(value);
        assert_eq!(&new[name], expected, "{name}");
        // A field that was not copied could not be told apart otherwise.
        assert!(!own.get(name).is_some_and(|own| own == value), "{name}");
    }
    for kind in ["questions", "criteria"] {
        let [of_old, of_new] =
            [list(&owner, &format!("{source}{kind}/")).await, list(&owner, &format!("{made}{kind}/")).await];
        assert_eq!(unnamed(of_new.clone()), unnamed(of_old), "{kind}");
        assert!(of_new.iter().all(|row| row["resource_uri"].as_str().unwrap().starts_with(&made)));
    }
    let [of_old, of_new] = [&source, &made].map(|project| format!("{project}retention/"));
    let [of_old, of_new] =
        [owner.get(&of_old).await.expect(200).json(), owner.get(&of_new).await.expect(200).json()];
    assert_eq!(
        (&of_new["days"], &of_new["from"], &of_new["starts_at"]),
        (&of_old["days"], &of_old["from"], &of_old["starts_at"])
    );
    assert!(list(&owner, &format!("{made}candidates/")).await.is_empty());

    // The copy goes its own way.
    let question = list(&owner, &format!("{made}questions/")).await[0]["resource_uri"].clone();
    owner.patch(question.as_str().unwrap(), json!({ "text": "Other?" })).await.expect(200);
    assert_eq!(list(&owner, &format!("{source}questions/")).await[0]["text"], "Question 0?");
    owner.set_status(&made, "40-running").await.expect(200);
}

/// The answer of a caller who sets in a project what a copy has: how many fields, and a rule of retention.
async fn set_all(caller: &impl Caller, project: &str, made: &Value, rule: &Value) -> (usize, Response) {
    let before = caller.get(project).await.expect(200).json();
    let mut asked = 0;
    for (name, value) in made.as_object().unwrap().iter().filter(|(name, value)| before[*name] != **value) {
        if ["resource_uri", "name", "id"].contains(&name.as_str()) || name.ends_with("_uri") {
            continue;
        }
        caller.patch(project, json!({ name: value })).await.expect(200);
        asked += 1;
    }
    for kind in ["questions", "criteria"] {
        let list = format!("{}{kind}/?page_size=100", made["resource_uri"].as_str().unwrap());
        for row in caller.get(&list).await.expect(200).json()["objects"].as_array().unwrap() {
            caller.post(&format!("{project}{kind}/"), row.clone()).await.expect(201);
            asked += 1;
        }
    }
    let body = json!({ "days": rule["days"], "from": rule["from"] });
    (asked, caller.send(Request::put(&format!("{project}retention/")).json(&body)).await)
}

#[tokio::test]
async fn a_copy_has_nothing_that_the_caller_could_not_have_set() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let source = full(&owner).await;
    let recruiter = app.staff("recruiter").await;
    owner.patch(&source, json!({ "interview_managers": [recruiter.uri] })).await.expect(200);
    let admin = app.staff("admin").await;
    let (_, token) = owner.named_token_with(json!({ "account_type": "admin" })).await;
    let policy = json!({ "days": 365, "from": "last_activity" });
    owner.send(Request::put("/companies/acme/retention/").json(&policy)).await.expect(200);
    for days in [3_650, 7] {
        let rule = json!({ "days": days, "from": "project_closed" });
        let kept =
            owner.send(Request::put(&format!("{source}retention/")).json(&rule)).await.expect(200).json();
        check_copy(&owner, &recruiter, &source, &kept).await;
        check_copy(&owner, &admin, &source, &kept).await;
        check_copy(&owner, &token, &source, &kept).await;
    }
    // Without a rule of its own, there is nothing to leave out.
    owner.delete(&format!("{source}retention/")).await.expect(204);
    let made = copy(&recruiter, &source, json!({})).await.expect(201).json();
    assert_eq!(made["not_copied"], json!([]));
    let plain = recruiter.post(PROJECTS, json!({ "name": "Plain" })).await.expect(201).json();
    assert_eq!(plain.get("not_copied"), None);
}

/// Copies a project whose rule of retention is `kept`, and has the same caller set in another one all that the copy has.
async fn check_copy(owner: &Staff, caller: &impl Caller, source: &str, kept: &Value) {
    let managers = json!({ "interview_managers": [owner.uri] });
    let created = copy(caller, source, managers.clone()).await.expect(201).json();
    let mut made = created.clone();
    made.as_object_mut().unwrap().remove("not_copied");
    let mut plain = json!({ "name": "Autumn" });
    merge(&mut plain, managers);
    let plain = caller.post(PROJECTS, plain).await.expect(201).uri("resource_uri");
    let (asked, ruled) = set_all(caller, &plain, &made, kept).await;
    assert!(asked > 15 + 30 + 20, "fields, questions and criteria: {asked}");
    let own = caller.get(&plain).await.expect(200).json();
    for (name, value) in made.as_object().unwrap() {
        let is_address = ["id", "interview_suite_url"].contains(&name.as_str())
            || value.as_str().is_some_and(|text| text.starts_with(made["resource_uri"].as_str().unwrap()));
        assert!(is_address || own[name] == *value, "{name}: {} is not {value}", own[name]);
    }
    let retention = |of: &Value| format!("{}retention/", of["resource_uri"].as_str().unwrap());
    let of_copy = owner.get(&retention(&made)).await.expect(200).json();
    match ruled.status.as_u16() {
        200 => {
            assert_eq!(created["not_copied"], json!([]));
            assert_eq!([&of_copy["days"], &of_copy["from"]], [&kept["days"], &kept["from"]]);
        }
        status => {
            assert_eq!((status, &created["not_copied"]), (403, &json!(["retention"])));
            assert_eq!((&of_copy["is_inherited"], &of_copy["days"]), (&json!(true), &json!(365)));
        }
    }
}

#[tokio::test]
async fn fields_in_the_body_win_and_the_name_stays_required() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let source =
        owner.project(json!({ "contact_person": "Grace", "team_evaluation": 1, "reminder_days": [2] })).await;
    owner.post(&format!("{source}questions/"), json!({ "text": "Why us?" })).await.expect(201);
    let fields = json!({ "contact_person": "", "external_id": "REQ-2", "reminder_days": [] });
    let made = copy(&owner, &source, fields).await.expect(201).json();
    assert_eq!((&made["contact_person"], &made["team_evaluation"]), (&json!(""), &json!(1)));
    assert_eq!((&made["external_id"], &made["reminder_days"]), (&json!("REQ-2"), &json!([])));
    assert_refusal!(owner.post(PROJECTS, json!({ "copy_of": source })).await, @r#"400 {"name":["This field is required."]}"#);
    let taken = copy(&owner, &source, json!({ "external_id": "REQ-2" })).await.expect(409).json();
    assert_eq!(taken["resource_uri"], made["resource_uri"]);
    // Neither null nor the empty text names a project.
    for none in [Value::Null, json!("")] {
        owner.post(PROJECTS, json!({ "name": "Plain", "copy_of": none })).await.expect(201);
    }
}

#[tokio::test]
async fn only_who_may_change_a_project_may_copy_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let source = owner.project(json!({})).await;
    let unknown = format!("{}{}/", source.split("01").next().unwrap(), "01JQ8Z6R7ZP4S3C0V9N2M5K8TD");
    let foreign = app.owner_of("globex").await.project(json!({})).await;
    let recruiter = app.staff("recruiter").await;
    let before = app.table().snapshot().await;
    assert_refusals!([
        copy(&recruiter, &source, json!({})).await,
        copy(&owner, &unknown, json!({})).await,
        copy(&owner, "Sales", json!({})).await,
        copy(&owner, "", json!({ "copy_of": 7 })).await,
    ], @r#"
    2 x 400 {"copy_of":["This project does not exist."]}
    400 {"copy_of":["\"Sales\" is not a URL under https://hr.example/api/v3/companies/acme/projects/."]}
    400 {"copy_of":["Not a valid string."]}
    "#);
    copy(&owner, &foreign, json!({})).await.expect(400);
    assert_eq!(app.table().snapshot().await, before);
    for role in ["evaluators", "reviewers"] {
        let roles = json!({ "evaluators": [], "reviewers": [], role: [recruiter.uri] });
        owner.patch(&source, roles).await.expect(200);
        copy(&recruiter, &source, json!({})).await.expect_code(403, "permission_denied");
    }
    owner.patch(&source, json!({ "reviewers": [], "interview_managers": [recruiter.uri] })).await.expect(200);
    let made = copy(&recruiter, &source, json!({})).await.expect(201).json();
    assert_eq!(made["interview_managers"], json!([recruiter.uri]));
    let hiring = app.staff("hiring-manager").await;
    owner.patch(&source, json!({ "interview_managers": [hiring.uri] })).await.expect(200);
    copy(&hiring, &source, json!({})).await.expect_code(403, "permission_denied");
    copy(&app.staff("admin").await, &source, json!({})).await.expect(201);
    let (_, token) = owner.named_token("ATS").await;
    copy(&token, &source, json!({ "interview_managers": [owner.uri] })).await.expect(201);
}

#[tokio::test]
async fn a_copy_that_is_interrupted_is_whole_or_not_there() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let source = owner.project(json!({ "labels": [owner.label("Senior").await] })).await;
    owner
        .post(&format!("{source}questions/"), json!({ "text": "Why us?", "video": video(&owner).await }))
        .await
        .expect(201);
    let calls = copy(&owner, &source, json!({})).await.expect(201).log().dynamodb_calls;
    let projects = async || list(&owner, PROJECTS).await.len();
    let keyed = |survived: u32| {
        let body = json!({ "name": "Autumn", "copy_of": source });
        Request::post(PROJECTS).json(&body).header("idempotency-key", &format!("copy-{survived}"))
    };
    for survived in effort::cases(0..=calls) {
        let before = projects().await;
        chaos.cut_after(survived as usize);
        let _ = owner.send(keyed(survived)).await;
        chaos.heal();
        app.assert_sound();
        assert_eq!(projects().await, before + usize::from(survived == calls), "after {survived} calls");
        let made = owner.send(keyed(survived)).await.expect(201).uri("resource_uri");
        assert_eq!(projects().await, before + 1);
        assert_eq!(list(&owner, &format!("{made}questions/")).await.len(), 1);
    }
    chaos.next("TransactWriteItems", Fault::AnswerLost);
    let before = projects().await;
    copy(&owner, &source, json!({})).await.expect(201);
    assert_eq!(projects().await, before + 1);
}

#[tokio::test]
async fn a_copy_is_of_one_moment_whatever_is_done_to_the_source_meanwhile() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let label = owner.label("Senior").await;
    let film = video(&owner).await;
    let source = owner.project(json!({ "contact_person": "Grace", "labels": [label] })).await;
    let question = json!({ "text": "Why us?", "video": film });
    let question = owner.post(&format!("{source}questions/"), question).await.expect(201).uri("resource_uri");
    for number in 0..4 {
        let held = chaos.pause("TransactWriteItems");
        let meanwhile = async {
            held.reached().await;
            match number {
                0 => drop(owner.patch(&source, json!({ "contact_person": "Ada" })).await.expect(200)),
                1 => drop(owner.patch(&question, json!({ "text": "Why now?" })).await.expect(200)),
                2 => drop(owner.delete(&label).await.expect(204)),
                _ => drop(owner.delete(&film).await.expect(204)),
            }
            held.resume();
        };
        let (made, ()) = tokio::join!(copy(&owner, &source, json!({})), meanwhile);
        let made = made.expect(201).json();
        let now = owner.get(&source).await.expect(200).json();
        assert_eq!(
            (&made["contact_person"], &made["labels"]),
            (&now["contact_person"], &now["labels"]),
            "{number}"
        );
        let questions = |of: &str| format!("{of}questions/");
        let [of_old, of_new] = [
            list(&owner, &questions(&source)).await,
            list(&owner, &questions(made["resource_uri"].as_str().unwrap())).await,
        ];
        assert_eq!(unnamed(of_new), unnamed(of_old), "{number}");
    }
    app.assert_sound();
}

#[tokio::test]
async fn what_is_being_deleted_is_not_copied_and_no_fault_of_the_client() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let label = owner.label("Senior").await;
    let source = owner.project(json!({ "labels": [label] })).await;
    // The deletion stops after its first step, which marks the label.
    chaos.cut_after_writes(1);
    let _ = owner.delete(&label).await;
    chaos.heal();
    assert_eq!(owner.get(&source).await.expect(200).json()["labels"], json!([label]));
    assert_eq!(copy(&owner, &source, json!({})).await.expect(201).json()["labels"], json!([]));
    let sent = copy(&owner, &source, json!({ "labels": [label] })).await.expect(400).json();
    assert!(sent["labels"].is_array(), "{sent}");
    app.settle().await;
    app.sweep().await;
}
