//! Responses carry a tag: a client that has the same already gets 304, and a write with it changes only what the client has seen.

use axum::http::Method;
use image::ImageFormat;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::files::{Form, photo};
use tests::http::{Request, Response};
use tests::{assert_refusal, assert_refusals};

use crate::system::access::{AccessFixture, AccessTable};

#[track_caller]
fn tag(response: &Response) -> String {
    let tag = response.header("etag").unwrap_or_else(|| panic!("no tag: {response}"));
    assert!(tag.len() > 20 && tag.starts_with('"') && tag.ends_with('"'), "{tag}");
    tag.to_owned()
}

async fn read_tag(caller: &impl Caller, uri: &str) -> String {
    tag(&caller.get(uri).await.expect(200))
}

async fn get_if_none_match(caller: &impl Caller, uri: &str, tag: &str) -> Response {
    caller.send(Request::get(uri).header("if-none-match", tag)).await
}

async fn patch_if_match(caller: &impl Caller, uri: &str, tag: &str, body: Value) -> Response {
    caller.send(Request::patch(uri).header("if-match", tag).json(&body)).await
}

#[track_caller]
fn assert_not_modified(response: &Response, tag: &str) {
    assert_eq!((response.status.as_u16(), response.body.len()), (304, 0), "{response}");
    assert_eq!(response.header("etag"), Some(tag));
    assert_eq!(response.header("content-type"), None);
}

#[tokio::test]
async fn every_single_resource_has_a_tag_and_no_list_has() {
    let given = AccessFixture::new().await;
    let promises = AccessTable::read();
    for row in promises.rows.iter().filter(|row| row.method == Method::GET) {
        let kind = if row.path == "/whoami/candidate/" { "other-candidate" } else { "owner" };
        let request = given.request(kind, row).await;
        let response = given.app.send(request.clone()).await;
        let is_list = |json: &Value| json.is_array() || json.get("meta").is_some();
        let json = serde_json::from_slice(&response.body);
        // The state of an interview shows the time.
        let shows_time = row.path.ends_with("/interview/");
        if response.status != 200 || shows_time || json.as_ref().is_ok_and(is_list) {
            assert_eq!(response.header("etag"), None, "{}", row.path);
            continue;
        }
        let tag = tag(&response);
        let again = given.app.send(request.clone().header("if-none-match", &tag)).await;
        assert_not_modified(&again, &tag);
        let other = given.app.send(request.header("if-none-match", "\"1-other\"")).await.expect(200);
        match json {
            Ok(json) => assert_eq!(other.json(), json),
            Err(_) => assert_eq!(other.body, response.body),
        }
    }
}

#[tokio::test]
async fn every_change_of_a_single_resource_honours_if_match() {
    let given = AccessFixture::new().await;
    let promises = AccessTable::read();
    let changes =
        promises.rows.iter().filter(|row| matches!(row.method, Method::PUT | Method::PATCH | Method::DELETE));
    for row in changes {
        let request = given.request(AccessFixture::doer(row), row).await;
        let before = given.app.table().snapshot().await;
        let refused = given.app.send(request.clone().header("if-match", "\"999-0\"")).await;
        refused.expect_code(412, "precondition_failed");
        let malformed = given.app.send(request.clone().header("if-match", "999-0")).await;
        assert_refusal!(malformed, @r#"400 {"code":"invalid_if_match","detail":"Send `If-Match` as `*`, or as quoted entity tags exactly as `ETag` returned them."}"#);
        assert_eq!(given.app.table().snapshot().await, before, "{} {}", row.method, row.path);
        let response = given.app.send(request.header("if-match", "*")).await;
        assert!(response.status.is_success(), "{response}");
        if response.status == 200 {
            tag(&response);
        }
    }
}

#[tokio::test]
async fn changes_and_creations_return_the_tag_of_the_next_read() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let created = owner.post("/companies/acme/projects/", json!({ "name": "Sales" })).await.expect(201);
    let project = created.uri("resource_uri");
    assert_eq!(read_tag(&owner, &project).await, tag(&created));
    let ada = json!({ "first_name": "Ada", "last_name": "Byron", "email": "ada@mail.example" });
    let created = owner.post(&format!("{project}candidates/"), ada).await.expect(201);
    let candidate = created.uri("resource_uri");
    assert_eq!(read_tag(&owner, &candidate).await, tag(&created));
    owner.set_status(&project, "40-running").await.expect(200);
    let status = format!("{project}status/");
    let mut seen = vec![tag(&created)];
    for response in [
        owner.patch(&candidate, json!({ "phone": "1" })).await,
        owner.set_deadline(&candidate, &app.clock().in_days(3)).await,
        owner.advance(&candidate).await,
        owner.skip(&candidate).await,
        owner.patch(&candidate, json!({ "phone": "2" })).await,
    ] {
        let tag = tag(&response.expect(200));
        assert!(!seen.contains(&tag), "{tag}");
        seen.push(tag);
    }
    assert_eq!(read_tag(&owner, &candidate).await, *seen.last().unwrap());
    // A write without effect leaves the tag as it was.
    assert_eq!(
        tag(&owner.patch(&candidate, json!({ "phone": "2" })).await.expect(200)),
        *seen.last().unwrap()
    );
    let closed = owner.set_status(&project, "60-closed").await.expect(200);
    assert_eq!(read_tag(&owner, &status).await, tag(&closed));
    for (path, body, change) in [
        ("/companies/acme/labels/", json!({ "text": "a" }), json!({ "text": "b" })),
        (
            "/companies/acme/customers/",
            json!({ "first_name": "G", "last_name": "H", "email": "g@acme.example",
                "account_type": "recruiter", "preferred_language": "en" }),
            json!({ "position": "Chief" }),
        ),
    ] {
        let created = owner.post(path, body).await.expect(201);
        let uri = created.uri("resource_uri");
        assert_eq!(read_tag(&owner, &uri).await, tag(&created));
        let changed = owner.patch(&uri, change).await.expect(200);
        assert_ne!(tag(&changed), tag(&created));
        assert_eq!(read_tag(&owner, &uri).await, tag(&changed));
    }
}

#[tokio::test]
async fn every_visible_change_changes_the_tag() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({ "email": "ada@mail.example" })).await;
    // Counts, though the project's own item stays as it is.
    let before = read_tag(&owner, &project).await;
    let another = owner.candidate(&project, json!({})).await;
    get_if_none_match(&owner, &project, &before).await.expect(200);
    let before = read_tag(&owner, &project).await;
    owner.patch(&another, json!({ "phone": "1" })).await.expect(200);
    assert_not_modified(&get_if_none_match(&owner, &project, &before).await, &before);
    // The company's default language.
    owner.patch("/companies/acme/", json!({ "default_project_lang": "de" })).await.expect(200);
    get_if_none_match(&owner, &project, &before).await.expect(200);
    // The viewer's rights.
    let person = app.staff("hiring-manager").await;
    owner.patch(&project, json!({ "evaluators": [person.uri] })).await.expect(200);
    let as_evaluator = read_tag(&person, &candidate).await;
    assert_ne!(as_evaluator, read_tag(&owner, &candidate).await);
    owner.patch(&project, json!({ "evaluators": [], "interview_managers": [person.uri] })).await.expect(200);
    let as_manager = get_if_none_match(&person, &candidate, &as_evaluator).await.expect(200);
    assert!(as_manager.json().get("shares").is_some());
    assert_eq!(tag(&as_manager), read_tag(&owner, &candidate).await, "both see the same");
}

#[tokio::test]
async fn an_invisible_change_answers_304_with_a_new_tag() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let status = format!("{project}status/");
    let before = read_tag(&owner, &status).await;
    owner.patch(&project, json!({ "name": "Other" })).await.expect(200);
    let unchanged = get_if_none_match(&owner, &status, &before).await;
    let now = unchanged.header("etag").unwrap().to_owned();
    assert_not_modified(&unchanged, &now);
    assert_ne!(now, before);
    let to = json!({ "status": "40-running" });
    patch_if_match(&owner, &status, &before, to.clone()).await.expect_code(412, "precondition_failed");
    patch_if_match(&owner, &status, &now, to).await.expect(200);
}

#[tokio::test]
async fn lists_of_tags_stars_weak_ones_and_nonsense() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let label = owner.label("a").await;
    let own = read_tag(&owner, &label).await;
    for known in [&own, "*", &format!("\"x\", W/{own} ,\"y\""), &format!("W/{own}"), &format!("\"x\",{own},")]
    {
        assert_not_modified(&get_if_none_match(&owner, &label, known).await, &own);
    }
    let two_headers = Request::get(&label).header("if-none-match", "\"x\"").header("if-none-match", &own);
    assert_not_modified(&owner.send(two_headers).await, &own);
    for unknown in ["\"x\"", "x", "", "\"", "\"a\" \"b\"", "W/"] {
        get_if_none_match(&owner, &label, unknown).await.expect(200);
    }
    let mut refusals = Vec::new();
    for (condition, status) in [
        (own.as_str(), 200),
        ("*", 200),
        (&format!("\"x\", {own}"), 200),
        (&format!("W/{own}"), 412),
        ("\"x\"", 412),
        ("\"1\"", 412),
        ("x", 400),
        ("", 400),
        (",", 400),
        ("\"x\",", 412),
        (&format!(",\"x\", ,{own},"), 200),
    ] {
        let response = patch_if_match(&owner, &label, condition, json!({})).await.expect(status);
        if status != 200 {
            refusals.push(response);
        }
    }
    assert_refusals!(refusals, @r#"
        4 x 412 {"code":"precondition_failed","detail":"The resource no longer matches `If-Match`. Fetch it and try again."}
        3 x 400 {"code":"invalid_if_match","detail":"Send `If-Match` as `*`, or as quoted entity tags exactly as `ETag` returned them."}
        "#);
    app.owner_of("globex").await.send(Request::delete(&label).header("if-match", "*")).await.expect(404);
}

#[tokio::test]
async fn head_answers_as_get_does() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let label = owner.label("a").await;
    let own = read_tag(&owner, &label).await;
    let head = owner.send(Request::new(Method::HEAD, &label)).await.expect(200);
    assert_eq!((tag(&head), head.body.len()), (own.clone(), 0));
    let again = owner.send(Request::new(Method::HEAD, &label).header("if-none-match", &own)).await;
    assert_not_modified(&again, &own);
}

#[tokio::test]
async fn of_two_changes_with_one_tag_one_succeeds() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let seen = read_tag(&owner, &candidate).await;
    // One after the other.
    patch_if_match(&owner, &candidate, &seen, json!({ "phone": "1" })).await.expect(200);
    let late = patch_if_match(&owner, &candidate, &seen, json!({ "phone": "2" })).await;
    late.expect_code(412, "precondition_failed");
    // Both have been let in before either writes.
    let seen = read_tag(&owner, &candidate).await;
    let held = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        held.reached().await;
        patch_if_match(&owner, &candidate, &seen, json!({ "phone": "3" })).await.expect(200);
        held.resume();
    };
    let (slow, ()) =
        tokio::join!(patch_if_match(&owner, &candidate, &seen, json!({ "phone": "4" })), meanwhile);
    slow.expect_code(412, "precondition_failed");
    assert_eq!(owner.get(&candidate).await.expect(200).json()["phone"], "3");
    // A change that asks for nothing is done again from what is there then.
    let held = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        held.reached().await;
        owner.patch(&candidate, json!({ "phone": "5" })).await.expect(200);
        held.resume();
    };
    let (slow, ()) = tokio::join!(owner.patch(&candidate, json!({ "phone": "6" })), meanwhile);
    assert_eq!(slow.expect(200).json()["phone"], "6");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_eight_who_change_what_they_saw_one_does() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let seen = read_tag(&owner, &candidate).await;
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..8 {
        let (owner, candidate, seen) = (owner.clone(), candidate.clone(), seen.clone());
        clients.spawn(async move {
            let body = json!({ "phone": number.to_string() });
            let response = patch_if_match(&owner, &candidate, &seen, body).await;
            if response.status != 200 {
                response.clone().expect_code(412, "precondition_failed");
            }
            response.status.as_u16()
        });
    }
    let statuses = clients.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
}

#[tokio::test]
async fn a_tag_costs_no_call() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let tag = read_tag(&owner, &project).await;
    let unchanged = get_if_none_match(&owner, &project, &tag).await;
    assert_eq!((unchanged.log().dynamodb_calls, unchanged.log().write_units), (1, 0.0));
    let changed = patch_if_match(&owner, &project, &tag, json!({ "name": "Other" })).await.expect(200);
    assert_eq!(changed.log().dynamodb_calls, 2);
    let refused = patch_if_match(&owner, &project, &tag, json!({ "name": "Third" })).await.expect(412);
    assert_eq!((refused.log().dynamodb_calls, refused.log().write_units), (1, 0.0));
}

#[tokio::test]
async fn the_tokens_in_addresses_of_files_make_no_other_tag_but_another_file_does() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    let change = async |size| {
        let form = Form::new().file("photo", "p.png", "image/png", &photo(ImageFormat::Png, size, size));
        owner.send(Request::patch(&candidate).form(form)).await.expect(200)
    };
    change(8).await;
    let first = owner.get(&candidate).await.expect(200);
    let tag = tag(&first);
    assert_ne!(first.uri("photo"), owner.get(&candidate).await.expect(200).uri("photo"));
    assert_not_modified(&get_if_none_match(&owner, &candidate, &tag).await, &tag);
    change(9).await;
    get_if_none_match(&owner, &candidate, &tag).await.expect(200);
    let found = owner.get("/companies/acme/search/?q=ada").await.expect(200).json();
    app.anonymous().get(found[0]["photo"].as_str().unwrap()).await.expect(302);
}

#[tokio::test]
async fn no_304_keeps_addresses_of_files_that_only_another_session_can_open() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let form = || Form::new().file("photo", "p.png", "image/png", &photo(ImageFormat::Png, 8, 8));
    for uri in [&candidate, &owner.uri] {
        owner.send(Request::patch(uri).form(form())).await.expect(200);
        let other = owner.new_token().await;
        let first = owner.get(uri).await.expect(200);
        let seen = tag(&first);
        assert_not_modified(&get_if_none_match(&owner, uri, &seen).await, &seen);
        let shown = get_if_none_match(&other, uri, &seen).await.expect(200);
        assert_ne!(tag(&shown), seen);
        // The session that saw it makes no difference to a change.
        patch_if_match(&other, uri, &seen, json!({ "phone": "1" })).await.expect(200);
        let (now, seen) = (owner.get(uri).await.expect(200), tag(&shown));
        owner.get(&now.uri("photo")).await.expect(302);
        get_if_none_match(&owner, uri, &seen).await.expect(200);
    }
    // Without files, what one session saw serves the next.
    let other = owner.new_token().await;
    let seen = read_tag(&owner, &project).await;
    assert_not_modified(&get_if_none_match(&other, &project, &seen).await, &seen);
}

#[tokio::test]
async fn no_304_keeps_addresses_of_files_that_a_named_token_was_shown_a_day_ago() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (_, service) = owner.named_token("service").await;
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    let form = Form::new().file("photo", "p.png", "image/png", &photo(ImageFormat::Png, 8, 8));
    owner.send(Request::patch(&candidate).form(form)).await.expect(200);
    let first = service.get(&candidate).await.expect(200);
    let (seen, address) = (tag(&first), first.uri("photo"));
    app.anonymous().get(&address).await.expect(302);
    app.clock().advance(chrono::TimeDelta::hours(25));
    app.anonymous().get(&address).await.expect(401);
    get_if_none_match(&service, &candidate, &seen).await.expect(200);
}
