//! Files that do not fit through a request: announced, put straight into the bucket, looked at, and given to their owner.

use chrono::TimeDelta;
use image::ImageFormat::{Jpeg, Png};
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, Staff, last_segment};
use tests::files::{Form, fetch, noise, pdf, photo, put};
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

const PDF: &str = "application/pdf";

async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    (app, owner, candidate)
}

async fn announce(caller: &impl Caller, of: &str, field: &str, content_type: &str, size: usize) -> Value {
    let body = json!({ "field": field, "content_type": content_type, "size": size });
    let response = caller.post(&format!("{of}uploads/"), body).await.expect(201);
    assert_eq!(response.header("location"), Some(response.uri("resource_uri").as_str()));
    response.json()
}

async fn state(caller: &impl Caller, announced: &Value) -> (String, Value) {
    let upload = caller.get(announced["resource_uri"].as_str().unwrap()).await.expect(200);
    assert_eq!(upload.json().get("upload"), None);
    (upload.uri("status"), upload.json()["error"].clone())
}

fn event(announced: &Value) -> Value {
    let id = last_segment(announced["resource_uri"].as_str().unwrap());
    let object = json!({ "key": format!("uploads/files/{id}") });
    let detail = json!({ "bucket": { "name": "MediaBucket" }, "object": object });
    json!({ "source": "aws.s3", "detail-type": "Object Created", "detail": detail })
}

#[tokio::test]
async fn a_large_cv_and_a_large_photo_go_straight_to_the_bucket() {
    let (app, owner, candidate) = given().await;
    let cv = pdf(20 * 1024 * 1024);
    let announced = announce(&owner, &candidate, "cv", PDF, cv.len()).await;
    assert_eq!((&announced["status"], &announced["error"]), (&json!("awaiting-upload"), &Value::Null));
    assert_eq!(announced["upload"]["expires_at"], "2026-11-08T11:00:00Z");
    assert_eq!(put(&announced, cv.clone()).await.status, 200);
    assert_eq!(state(&owner, &announced).await, ("awaiting-upload".to_owned(), Value::Null));
    app.settle().await;
    assert_eq!(state(&owner, &announced).await, ("successful".to_owned(), Value::Null));
    let address = owner.get(&candidate).await.expect(200).uri("cv");
    let found = app.anonymous().get(&address).await.expect(302);
    assert_eq!(fetch(found.header("location").unwrap(), &[]).await.body, cv);

    let large = noise(1500, 1100);
    assert!(large.len() > 4_608_000, "{}", large.len());
    let announced = announce(&owner, &candidate, "photo", "image/png", large.len()).await;
    put(&announced, large).await;
    app.settle().await;
    assert_eq!(state(&owner, &announced).await.0, "successful");
    assert_ne!(owner.get(&candidate).await.expect(200).uri("photo"), "");
    let keys = app.object_keys();
    assert!(keys.len() == 2 && keys.iter().all(|key| key.starts_with("media/acme/candidates/")), "{keys:?}");
}

#[tokio::test]
async fn the_tag_of_an_upload_ignores_changes_of_its_owner() {
    let (_app, owner, candidate) = given().await;
    let announced = announce(&owner, &candidate, "cv", PDF, 9).await;
    let upload = announced["resource_uri"].as_str().unwrap();
    let before = owner.get(upload).await.expect(200).header("etag").unwrap().to_owned();
    owner.patch(&candidate, json!({ "first_name": "Augusta" })).await.expect(200);
    assert_eq!(owner.get(upload).await.expect(200).header("etag"), Some(&*before));
}

#[tokio::test]
async fn the_content_type_is_the_announced_one_until_that_of_the_file_is_known() {
    let (app, owner, candidate) = given().await;
    let cv = br"{\rtf1\ansi Ada}".to_vec();
    for (field, declared, bytes, found) in [
        ("cv", PDF, cv, json!("application/rtf")),
        ("photo", "image/gif", photo(Jpeg, 9, 9), json!("image/jpeg")),
    ] {
        let announced = announce(&owner, &candidate, field, declared, bytes.len()).await;
        assert_eq!(announced["content_type"], declared);
        put(&announced, bytes).await;
        let uri = announced["resource_uri"].as_str().unwrap();
        assert_eq!(owner.get(uri).await.expect(200).json()["content_type"], declared);
        app.settle().await;
        assert_eq!(owner.get(uri).await.expect(200).json()["content_type"], found);
    }
}

#[tokio::test]
async fn staff_put_their_photos_straight_to_the_bucket_as_well() {
    let (app, owner, _) = given().await;
    let bytes = photo(Png, 60, 60);
    let announced = announce(&owner, &owner.uri, "photo", "image/png", bytes.len()).await;
    assert_eq!(put(&announced, bytes).await.status, 200);
    app.settle().await;
    assert_eq!(state(&owner, &announced).await, ("successful".to_owned(), Value::Null));
    assert_ne!(owner.get(&owner.uri).await.expect(200).uri("photo"), "");
    assert!(app.object_keys().iter().all(|key| key.starts_with("media/acme/customers/")));
}

#[tokio::test]
async fn a_signed_url_accepts_only_the_announced_file() {
    let (app, owner, candidate) = given().await;
    let cv = pdf(1000);
    let announced = announce(&owner, &candidate, "cv", PDF, cv.len()).await;
    let mut other_type = announced.clone();
    other_type["upload"]["headers"]["content-type"] = "text/html".into();
    assert_eq!(put(&other_type, cv.clone()).await.status, 403);
    let mut longer = announced.clone();
    longer["upload"]["headers"]["content-length"] = (cv.len() + 1).to_string().into();
    assert_eq!(put(&longer, [&cv[..], b"x"].concat()).await.status, 403);
    let mut elsewhere = announced.clone();
    let url = announced["upload"]["url"].as_str().unwrap();
    elsewhere["upload"]["url"] = url.replace("/uploads/files/", "/media/").into();
    assert_eq!(put(&elsewhere, cv.clone()).await.status, 403);
    app.settle().await;
    assert!(app.object_keys().is_empty());
    assert_eq!(put(&announced, cv).await.status, 200);
}

#[tokio::test]
async fn announcements_are_checked() {
    let (app, owner, candidate) = given().await;
    let uploads = format!("{candidate}uploads/");
    let before = app.table().snapshot().await;
    let bodies = [
        json!({}),
        json!({ "field": "logo", "content_type": PDF, "size": 1 }),
        json!({ "field": "cv", "content_type": "pdf", "size": 0 }),
        json!({ "field": "cv", "content_type": "a/b\r\nx: y", "size": "1" }),
        json!({ "field": "photo", "content_type": "image/png", "size": 10_485_761 }),
        json!({ "field": "cv", "content_type": PDF, "size": 26_214_401 }),
    ];
    assert_refusals!(send_each(bodies, |body| owner.post(&uploads, body)).await, @r#"
        400 {
          "content_type":["This field is required."],
          "field":["This field is required."],
          "size":["This field is required."]
        }
        400 {"field":["\"logo\" is not a valid choice. Use one of: photo, cv."]}
        400 {"content_type":["Enter a content type such as application/pdf."],"size":["Ensure this value is from 1 to 26214400."]}
        400 {"content_type":["Enter a content type such as application/pdf."],"size":["A valid integer is required."]}
        400 {"size":["Ensure this value is from 1 to 10485760."]}
        400 {"size":["Ensure this value is from 1 to 26214400."]}
        "#);
    let photo_only = json!({ "field": "cv", "content_type": PDF, "size": 1 });
    assert_refusal!(owner.post(&format!("{}uploads/", owner.uri), photo_only).await, @r#"400 {"field":["\"cv\" is not a valid choice. Use one of: photo."]}"#);
    assert_eq!(app.table().snapshot().await, before);
    announce(&owner, &candidate, "photo", "image/png", 10_485_760).await;
}

#[tokio::test]
async fn invalid_uploads_fail_and_leave_nothing() {
    let (app, owner, candidate) = given().await;
    for (field, content_type, bytes) in [
        ("photo", "image/png", b"<svg onload=alert(1)>".to_vec()),
        ("cv", PDF, b"MZ\x90\0".to_vec()),
        ("photo", "image/jpeg", photo(Jpeg, 30, 30)[..200].to_vec()),
    ] {
        let announced = announce(&owner, &candidate, field, content_type, bytes.len()).await;
        put(&announced, bytes).await;
        app.settle().await;
        let (status, error) = state(&owner, &announced).await;
        assert_eq!(status, "failed");
        assert!(error.as_str().is_some_and(|error| !error.is_empty()), "{error}");
    }
    let seen = owner.get(&candidate).await.expect(200).json();
    assert_eq!((&seen["photo"], &seen["cv"]), (&json!(""), &json!("")));
    assert!(app.object_keys().is_empty());
}

#[tokio::test]
async fn a_file_that_never_arrives_fails_in_time_and_one_that_comes_too_late_is_deleted() {
    let (app, owner, candidate) = given().await;
    let announced = announce(&owner, &candidate, "cv", PDF, pdf(10).len()).await;
    app.clock().advance(TimeDelta::minutes(119));
    let owner = app.staff("admin").await;
    app.sweep().await;
    assert_eq!(state(&owner, &announced).await.0, "awaiting-upload");
    app.clock().advance(TimeDelta::minutes(1));
    assert_eq!(app.sweep().await["OutboxFunction"]["uploads_given_up"], 1);
    let failed =
        ("failed".to_owned(), json!("The file did not arrive in time. Announce and upload it again."));
    assert_eq!(state(&owner, &announced).await, failed);

    put(&announced, pdf(10)).await;
    app.settle().await;
    assert_eq!(state(&owner, &announced).await, failed);
    assert!(app.object_keys().is_empty());
    assert_eq!(owner.get(&candidate).await.expect(200).json()["cv"], "");
    app.clock().advance(TimeDelta::minutes(10));
    assert_eq!(app.sweep().await["OutboxFunction"]["uploads_given_up"], 0);
}

#[tokio::test]
async fn events_that_come_twice_late_or_for_nothing_change_nothing_more() {
    let (app, owner, candidate) = given().await;
    app.put_event(event(&json!({ "resource_uri": "/01ARZ3NDEKTSV4RRFFQ69G5FAV/" }))).await;
    let announced = announce(&owner, &candidate, "cv", PDF, pdf(10).len()).await;
    put(&announced, pdf(10)).await;
    app.settle().await;
    let before = (app.table().snapshot().await, app.object_keys());
    let again = app.put_event(event(&announced)).await;
    assert_eq!(again["UploadsFunction"], "ignored");
    assert_eq!((app.table().snapshot().await, app.object_keys()), before);

    // The client puts other bytes by the same URL, which is still good.
    put(&announced, pdf(10).iter().rev().copied().collect()).await;
    app.settle().await;
    assert_eq!((app.table().snapshot().await, app.object_keys()), before);
}

#[tokio::test]
async fn an_upload_whose_file_is_gone_fails() {
    let (app, owner, candidate) = given().await;
    let announced = announce(&owner, &candidate, "cv", PDF, pdf(10).len()).await;
    assert_eq!(app.put_event(event(&announced)).await["UploadsFunction"], "refused");
    let error =
        "The uploaded file does not have the announced size. Announce it again with the correct size.";
    assert_eq!(state(&owner, &announced).await, ("failed".to_owned(), json!(error)));
}

#[tokio::test]
async fn two_of_the_same_event_at_once_take_the_file_in_once() {
    let (app, owner, candidate) = given().await;
    let announced = announce(&owner, &candidate, "photo", "image/png", photo(Png, 50, 50).len()).await;
    put(&announced, photo(Png, 50, 50)).await;
    let events = event(&announced);
    let (first, second) = tokio::join!(app.put_event(events.clone()), app.put_event(events));
    let outcomes = [&first["UploadsFunction"], &second["UploadsFunction"]];
    assert!(outcomes.contains(&&json!("applied")) && outcomes.contains(&&json!("ignored")), "{outcomes:?}");
    app.settle().await;
    assert_eq!(state(&owner, &announced).await.0, "successful");
    assert_eq!(app.object_keys().len(), 1);
    let address = owner.get(&candidate).await.expect(200).uri("photo");
    let found = app.anonymous().get(&address).await.expect(302);
    assert_eq!(fetch(found.header("location").unwrap(), &[]).await.status, 200);
}

#[tokio::test]
async fn a_file_whose_owner_was_deleted_is_deleted() {
    let (app, owner, candidate) = given().await;
    let announced = announce(&owner, &candidate, "cv", PDF, pdf(10).len()).await;
    put(&announced, pdf(10)).await;
    owner.delete(&candidate).await.expect(204);
    app.settle().await;
    assert!(app.object_keys().is_empty());
    owner.get(announced["resource_uri"].as_str().unwrap()).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn the_last_of_several_uploads_counts_and_the_others_are_deleted() {
    let (app, owner, candidate) = given().await;
    for bytes in [100, 200, 300] {
        let announced = announce(&owner, &candidate, "cv", PDF, pdf(bytes).len()).await;
        put(&announced, pdf(bytes)).await;
        app.settle().await;
    }
    let form = Form::new().file("photo", "p.jpg", "image/jpeg", &photo(Jpeg, 5, 5));
    owner.send(Request::patch(&candidate).form(form)).await.expect(200);
    app.settle().await;
    assert_eq!(app.object_keys().len(), 2);
    let address = owner.get(&candidate).await.expect(200).uri("cv");
    let found = app.anonymous().get(&address).await.expect(302);
    assert_eq!(fetch(found.header("location").unwrap(), &[]).await.body, pdf(300));
}

#[tokio::test]
async fn an_upload_is_visible_to_callers_who_may_change_its_owner() {
    let (app, owner, candidate) = given().await;
    let announced = announce(&owner, &candidate, "cv", PDF, pdf(10).len()).await;
    let id = last_segment(announced["resource_uri"].as_str().unwrap());
    let project = candidate.split_inclusive("/candidates/").next().unwrap().replace("candidates/", "");
    let other = owner.candidate(&project, json!({})).await;
    owner.get(&format!("{other}uploads/{id}/")).await.expect_code(404, "not_found");
    owner.get(&format!("{}uploads/{id}/", owner.uri)).await.expect_code(404, "not_found");
    owner.get(&format!("{candidate}uploads/nothing/")).await.expect_code(404, "not_found");
    let hiring = app.staff("hiring-manager").await;
    let own = announce(&hiring, &hiring.uri, "photo", "image/png", 10).await;
    assert_eq!(state(&hiring, &own).await.0, "awaiting-upload");
    assert_eq!(state(&owner, &own).await.0, "awaiting-upload");
    let other = app.staff("hiring-manager").await;
    other.get(own["resource_uri"].as_str().unwrap()).await.expect_code(403, "permission_denied");
    // A file that came with a request has no upload to look at.
    let form = Form::new().file("photo", "p.jpg", "image/jpeg", &photo(Jpeg, 5, 5));
    owner.send(Request::patch(&candidate).form(form)).await.expect(200);
    let keys = app.object_keys();
    let file = keys[0].rsplit('/').next().unwrap();
    owner.get(&format!("{candidate}uploads/{file}/")).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn a_file_counts_only_if_its_author_still_may_when_it_arrives() {
    let (app, owner, candidate) = given().await;
    let project = candidate.split("candidates/").next().unwrap();
    let manager = app.staff("hiring-manager").await;
    let staff = async |managers: Value| owner.patch(project, json!({ "interview_managers": managers })).await;
    staff(json!([owner.uri, manager.uri])).await.expect(200);
    let (by_role, again) = (
        announce(&manager, &candidate, "cv", PDF, pdf(10).len()).await,
        announce(&manager, &candidate, "cv", PDF, pdf(10).len()).await,
    );
    let by_session = announce(&manager, &candidate, "cv", PDF, pdf(10).len()).await;
    let own = announce(&manager, &manager.uri, "photo", "image/png", photo(Png, 50, 50).len()).await;
    let (token_uri, token) = owner.named_token("import").await;
    let by_token = announce(&token, &candidate, "cv", PDF, pdf(10).len()).await;

    staff(json!([owner.uri])).await.expect(200);
    owner.delete(&token_uri).await.expect(204);
    let refused = async |announced: &Value, bytes: Vec<u8>| {
        assert_eq!(put(announced, bytes).await.status, 200);
        app.settle().await;
        let (status, error) = state(&owner, announced).await;
        assert_eq!(status, "failed");
        assert!(error.as_str().unwrap().starts_with("The person who announced this file"), "{error}");
        assert!(app.object_keys().is_empty());
    };
    refused(&by_role, pdf(10)).await;
    refused(&by_token, pdf(10)).await;

    // With the role again the upload counts again; not one of before another password.
    staff(json!([owner.uri, manager.uri])).await.expect(200);
    put(&again, pdf(10)).await;
    app.settle().await;
    assert_eq!(state(&owner, &again).await.0, "successful");
    owner.patch(&candidate, json!({ "cv": "" })).await.expect(200);
    app.settle().await;
    let password = json!({ "password": "another horse battery", "current_password": PASSWORD });
    manager.patch(&manager.uri, password).await.expect(200);
    refused(&by_session, pdf(10)).await;
    refused(&own, photo(Png, 50, 50)).await;
}

#[tokio::test]
async fn a_candidate_puts_files_by_the_key_even_if_a_password_comes_between() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let invited = owner.invite(&owner.running_project(json!({})).await, json!({})).await;
    let (first, second) = (
        announce(&invited, &invited.uri, "cv", PDF, pdf(10).len()).await,
        announce(&invited, &invited.uri, "cv", PDF, pdf(10).len()).await,
    );
    invited.choose_password().await;
    put(&first, pdf(10)).await;
    app.settle().await;
    assert_eq!(state(&owner, &first).await.0, "successful");
    owner.send(Request::patch(&format!("{}status/skip/", invited.uri))).await.expect(200);
    put(&second, pdf(10)).await;
    app.settle().await;
    assert_eq!(state(&owner, &second).await.0, "failed");
}
