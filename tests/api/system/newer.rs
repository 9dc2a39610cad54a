//! Items of a newer release, before this code is replaced by it or after it was rolled back: attributes that this code does not
//! know stay, and items that it cannot read take nothing else down.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::takes::Interviewee;
use tests::{assert_refusal, assert_refusals};

type ItemKey = (String, String);

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

fn of_company(kind: &str, uri: &str) -> ItemKey {
    ("COMPANY#acme".to_owned(), format!("{kind}#{}", last_segment(uri)))
}

fn candidate(project: &str, uri: &str) -> ItemKey {
    (format!("COMPANY#acme#PROJECT#{}", last_segment(project)), format!("CANDIDATE#{}", last_segment(uri)))
}

async fn item(app: &TestApp, key: &ItemKey) -> Value {
    app.table().snapshot().await[key].clone()
}

/// Adds what this code does not know, beside all attributes and in the parts of the item.
async fn extend(app: &TestApp, key: &ItemKey, parts: &[&str]) {
    let contents = app.table().contents().await;
    app.table().set(key, "newer", text("x")).await;
    for part in parts {
        let Some(AttributeValue::M(mut map)) = contents[key].get(*part).cloned() else {
            panic!("{part} is a map in {:?}", contents[key]);
        };
        map.insert("newer".to_owned(), text("y"));
        app.table().set(key, part, AttributeValue::M(map)).await;
    }
}

async fn assert_kept(app: &TestApp, key: &ItemKey, parts: &[&str]) {
    let item = item(app, key).await;
    assert_eq!(item["newer"], "x", "{item}");
    for part in parts {
        assert_eq!(item[part]["newer"], "y", "{item}");
    }
}

#[tokio::test]
async fn attributes_of_newer_code_survive_every_rewrite() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let label = owner.label("a").await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let interviewed = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
    app.evaluate(&interviewed, &owner.uri, true).await;
    let person = owner.colleague("recruiter", json!({})).await;
    let announced = json!({
        "name": "Welcome", "upload_filename": "w.mov", "content_type": "video/quicktime", "size": 9,
    });
    let video = owner.post("/companies/acme/videos/", announced).await.expect(201).uri("resource_uri");
    let company = ("COMPANY#acme".to_owned(), "COMPANY".to_owned());
    let evaluated = candidate(&project, &interviewed);
    let parts: [(ItemKey, &[&str]); 6] = [
        (company, &[]),
        (of_company("LABEL", &label), &[]),
        (("VIDEOS#acme".to_owned(), last_segment(&video).to_owned()), &[]),
        (of_company("CUSTOMER", &person.uri), &[]),
        (of_company("PROJECT", &project), &["settings", "staff"]),
        (evaluated, &["profile"]),
    ];
    for (key, parts) in &parts {
        extend(&app, key, parts).await;
    }
    owner.patch("/companies/acme/", json!({ "city": "Berlin" })).await.expect(200);
    owner.patch(&label, json!({ "text": "b" })).await.expect(200);
    let whole = json!({ "name": "Hello", "description": "", "internal_description": "" });
    owner.patch(&video, whole).await.expect(200);
    owner.patch(&person.uri, json!({ "position": "Chief" })).await.expect(200);
    // The service's own write as well.
    person.activate().await;
    owner.patch(&project, json!({ "contact_person": "Ada", "evaluators": [owner.uri] })).await.expect(200);
    owner.patch(&interviewed, json!({ "phone": "1" })).await.expect(200);
    for (key, parts) in &parts {
        assert_kept(&app, key, parts).await;
    }
}

#[tokio::test]
async fn an_evaluation_keeps_unknown_attributes_when_another_one_arrives() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (one, two) = (app.staff("recruiter").await, app.staff("recruiter").await);
    let staff = json!({ "allow_hash_login": true, "evaluators": [one.uri, two.uri] });
    let project = owner.running_project(staff).await;
    let uri = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
    app.evaluate(&uri, &one.uri, true).await;
    let key = candidate(&project, &uri);
    let contents = app.table().contents().await;
    let Some(AttributeValue::M(mut evaluations)) = contents[&key].get("evaluations").cloned() else {
        panic!("a map")
    };
    let Some(AttributeValue::M(evaluation)) = evaluations.get_mut(last_segment(&one.uri)) else {
        panic!("a map")
    };
    evaluation.insert("score".to_owned(), text("5"));
    app.table().set(&key, "evaluations", AttributeValue::M(evaluations)).await;
    app.evaluate(&uri, &two.uri, true).await;
    let now = item(&app, &key).await;
    assert_eq!(now["evaluations"][last_segment(&one.uri)]["score"], "5");
    assert_eq!(now["evaluations"].as_object().unwrap().len(), 2);
}

async fn listed(caller: &impl Caller, list: &str) -> Vec<String> {
    let answer = caller.get(list).await.expect(200).json();
    let objects = answer.get("objects").unwrap_or(&answer).as_array().unwrap().clone();
    objects.iter().map(|one| one["resource_uri"].as_str().unwrap().to_owned()).collect()
}

/// Two projects, and two candidates of the first, all with the same email.
async fn given(app: &TestApp) -> (Staff, [String; 2], [String; 2]) {
    let owner = app.owner().await;
    let projects = [owner.running_project(json!({})).await, owner.running_project(json!({})).await];
    let ready = json!({ "email": "ada@mail.example", "deadline": app.clock().in_days(7) });
    let mut both = Vec::new();
    for _ in 0..2 {
        both.push(owner.invite(&projects[0], ready.clone()).await.uri);
    }
    (owner, projects, both.try_into().unwrap())
}

#[tokio::test]
async fn a_candidate_that_cannot_be_read_is_left_out_and_all_else_goes_on() {
    let app = TestApp::start().await;
    let (owner, [project, _], [strange, usual]) = given(&app).await;
    let person = app.staff("recruiter").await;
    for uri in [&strange, &usual] {
        owner.post(&format!("{uri}shares/"), json!({ "customer": person.uri })).await.expect(201);
    }
    app.settle().await;
    let key = candidate(&project, &strange);
    app.table().set(&key, "status", text("on-hold")).await;
    for list in [
        format!("{project}candidates/"),
        format!("{project}candidates/?page=1&page_size=1"),
        format!("{project}candidates/?status=invited"),
        format!("{project}candidates/?email=ada@mail.example"),
    ] {
        assert!(!listed(&owner, &list).await.contains(&strange), "{list}");
    }
    assert_eq!(listed(&owner, &format!("{project}candidates/")).await, std::slice::from_ref(&usual));
    assert_eq!(listed(&owner, "/companies/acme/search/?q=ada").await, std::slice::from_ref(&usual));
    person.get("/companies/acme/shares/?expand=candidate").await.expect(200);
    // By itself it is said to be for a newer version.
    let alone = owner.get(&strange).await;
    assert_refusal!(alone, @r#"503 {"code":"unreadable","detail":"This resource was written by a newer release that is still being deployed. Try again in a minute."}"#);
    assert_eq!(alone.header("retry-after"), Some("60"));
    assert_refusal!(owner.patch(&strange, json!({ "phone": "1" })).await, @r#"503 {"code":"unreadable","detail":"This resource was written by a newer release that is still being deployed. Try again in a minute."}"#);
    // Others of the same address log in, and deadlines of others expire.
    let login = app.anonymous().log_in("acme", "ada@mail.example", "wrong password").await;
    assert_refusal!(login, @r#"401 {"code":"invalid_credentials","detail":"Unable to log in with the provided credentials."}"#);
    app.clock().advance(chrono::TimeDelta::days(8));
    let owner = owner.new_token().await;
    app.sweep().await;
    assert_eq!(owner.get(&usual).await.expect(200).json()["status"], "expired");
    // Counts go on; of the shard that it is in, nothing is mended.
    let before = app.table().snapshot().await;
    let recount = app.operate(json!({ "command": "recount", "company": "acme" })).await.unwrap();
    let recount = recount["recount"].clone();
    assert_eq!((&recount["drift"], &recount["unreadable"]), (&json!([]), &json!([key.1])));
    assert_eq!(recount["candidates"], 2);
    app.operate(json!({ "command": "reindex-search", "company": "acme" })).await.unwrap();
    assert_eq!(app.table().snapshot().await, before);
    app.table().set(&key, "status", text("invited")).await;
}

#[tokio::test]
async fn a_project_that_cannot_be_read_is_left_out_but_no_deletion_leaves_something_in_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (label, person) = (owner.label("a").await, app.staff("recruiter").await);
    let fields = json!({ "labels": [label], "reviewers": [person.uri] });
    let strange = owner.project(fields.clone()).await;
    let usual = owner.project(fields).await;
    let key = of_company("PROJECT", &strange);
    app.table().set(&key, "status", text("50-paused")).await;
    for list in ["/companies/acme/projects/", "/companies/acme/projects/?status=10-incomplete"] {
        assert_eq!(listed(&owner, list).await, std::slice::from_ref(&usual), "{list}");
        assert_eq!(listed(&person, list).await, std::slice::from_ref(&usual), "{list}");
    }
    assert_refusal!(owner.get(&strange).await, @r#"503 {"code":"unreadable","detail":"This resource was written by a newer release that is still being deployed. Try again in a minute."}"#);
    for uri in [&label, &person.uri] {
        assert_refusal!(owner.delete(uri).await, @r#"503 {"code":"unreadable","detail":"This resource was written by a newer release that is still being deployed. Try again in a minute."}"#);
    }
    let recount = app.operate(json!({ "command": "recount", "company": "acme" })).await.unwrap();
    let recount = recount["recount"].clone();
    assert_eq!((&recount["drift"], &recount["unreadable"]), (&json!([]), &json!([key.1])));
    app.table().set(&key, "status", text("10-incomplete")).await;
    for uri in [&label, &person.uri] {
        owner.delete(uri).await.expect(204);
    }
    app.settle().await;
}

#[tokio::test]
async fn a_customer_that_cannot_be_read_is_left_out_of_lists_and_imports() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let person = app.staff("recruiter").await;
    let project = owner.project(json!({ "evaluators": [person.uri, owner.uri] })).await;
    let key = of_company("CUSTOMER", &person.uri);
    app.table().set(&key, "account_type", text("auditor")).await;
    for list in ["", "?account_type=owner", "?username=owner"] {
        let list = format!("/companies/acme/customers/{list}");
        assert_eq!(listed(&owner, &list).await, std::slice::from_ref(&owner.uri), "{list}");
    }
    let shown = owner.get(&format!("{project}?expand=evaluators")).await.expect(200).json();
    let mut kinds: Vec<bool> = shown["evaluators"].as_array().unwrap().iter().map(Value::is_object).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [false, true]);
    assert_refusal!(person.get("/companies/acme/").await, @r#"503 {"code":"unreadable","detail":"This resource was written by a newer release that is still being deployed. Try again in a minute."}"#);
    let me = json!({
        "pk_attribute": "username", "username": owner.username, "email": owner.email,
        "account_type": "owner", "first_name": "Sam", "last_name": "Staff",
    });
    owner.post("/companies/acme/customers/batch-import/", json!([me])).await.expect(200);
    app.table().set(&key, "account_type", text("recruiter")).await;
    person.get("/companies/acme/").await.expect(200);
}

#[tokio::test]
async fn answers_that_cannot_be_read_are_not_taken_for_none() {
    let app = TestApp::start().await;
    let person = Interviewee::asked(&app, json!({ "takes": 2 })).await;
    person.begin().await;
    let contents = app.table().contents().await;
    let (key, stored) = contents.iter().find(|((pk, _), _)| pk.starts_with("ANSWERS#")).unwrap();
    app.table().set(key, "questions", text("sealed")).await;
    let takes = format!("{}takes/", person.answer);
    let refused = [
        person.candidate.get(&person.answer).await,
        person.owner.get(&format!("{}interview/", person.candidate.uri)).await,
        person.candidate.post(&takes, json!({})).await,
        person.candidate.advance(&person.candidate.uri).await,
    ];
    assert_refusals!(refused, @r#"4 x 503 {"code":"unreadable","detail":"This resource was written by a newer release that is still being deployed. Try again in a minute."}"#);
    app.table().set(key, "questions", stored["questions"].clone()).await;
    assert_eq!(person.begin().await, 2);
}
