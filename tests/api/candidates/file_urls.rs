//! The URLs of photos and CVs: who may fetch by them, and for how long.

use chrono::TimeDelta;
use image::ImageFormat::{Jpeg, Png};
use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, last_segment};
use tests::files::{Form, fetch, photo};
use tests::http::Request;

use crate::candidates::files::{follow, given, with_files};

#[tokio::test]
async fn a_url_is_good_for_one_session_and_one_file() {
    let (app, owner, candidates) = given().await;
    let candidate = with_files(&owner, &candidates).await;
    let other = with_files(&owner, &candidates).await;
    let show = async || owner.get(&candidate).await.expect(200);
    let (first, second) = (show().await, show().await);
    assert_ne!(first.uri("photo"), second.uri("photo"), "each fetch has its own");
    for url in [first.uri("photo"), second.uri("photo"), first.uri("cv")] {
        app.anonymous().get(&url).await.expect(302);
    }
    let token = |url: &str| last_segment(url).to_owned();
    let at = |uri: &str, field: &str, token: &str| format!("{uri}{field}/{token}/");
    let own = token(&first.uri("photo"));
    for forged in [
        at(&other, "photo", &own),
        at(&candidate, "cv", &own),
        at(&candidate, "photo", &token(&first.uri("cv"))),
        at(&candidate, "photo", &own[1..]),
        at(&candidate, "photo", "AAAA"),
        at(&candidate, "photo", owner.secret()),
        at(&candidate.replace("/acme/", "/globex/"), "photo", &own),
    ] {
        app.anonymous().get(&forged).await.expect_code(401, "invalid_credential");
    }
    // Each bit but those that base64 does not use.
    for index in 0..own.len() - 1 {
        let mut turned = own.clone().into_bytes();
        turned[index] = if turned[index] == b'A' { b'B' } else { b'A' };
        let turned = String::from_utf8(turned).unwrap();
        app.anonymous().get(&at(&candidate, "photo", &turned)).await.expect_code(401, "invalid_credential");
    }
    app.anonymous().get(&at(&candidate, "photo", &own)).await.expect(302);
}

#[tokio::test]
async fn a_url_ends_with_the_session_the_right_and_the_file() {
    let (app, owner, candidates) = given().await;
    let project = candidates.strip_suffix("candidates/").unwrap();
    let candidate = with_files(&owner, &candidates).await;
    let reader = app.staff("hiring-manager").await;
    owner.patch(project, json!({ "evaluators": [reader.uri] })).await.expect(200);
    let anonymous = app.anonymous();

    let browser = reader.browser().await;
    let in_browser = browser.get(&candidate).await.expect(200).uri("photo");
    let by_token = reader.get(&candidate).await.expect(200).uri("photo");
    anonymous.get(&in_browser).await.expect(302);
    browser.send(Request::post("/api-session-invalidate/")).await.expect(204);
    anonymous.get(&in_browser).await.expect_code(401, "invalid_credential");
    anonymous.get(&by_token).await.expect(302);

    owner.patch(project, json!({ "evaluators": [] })).await.expect(200);
    anonymous.get(&by_token).await.expect_code(404, "not_found");
    owner.patch(project, json!({ "evaluators": [reader.uri] })).await.expect(200);
    anonymous.get(&by_token).await.expect(302);
    owner.delete(&reader.uri).await.expect(204);
    anonymous.get(&by_token).await.expect_code(401, "invalid_credential");

    let idle = owner.new_token().await;
    let url = idle.get(&candidate).await.expect(200).uri("cv");
    app.clock().advance(TimeDelta::minutes(121));
    anonymous.get(&url).await.expect_code(401, "invalid_credential");
    let again = app.staff("admin").await;
    let url = again.get(&candidate).await.expect(200).uri("cv");
    again.delete(&candidate).await.expect(204);
    anonymous.get(&url).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn a_forged_file_url_reveals_nothing() {
    let (app, owner, candidates) = given().await;
    let candidate = with_files(&owner, &candidates).await;
    let reader = app.staff("hiring-manager").await;
    let project = candidates.strip_suffix("candidates/").unwrap();
    owner.patch(project, json!({ "evaluators": [reader.uri] })).await.expect(200);
    let own = last_segment(&reader.get(&candidate).await.expect(200).uri("photo")).to_owned();
    // A photo that is there, a candidate without, one of a project that the session cannot see, and nobody.
    let without = owner.candidate(project, json!({})).await;
    let hidden = with_files(&owner, &format!("{}candidates/", owner.project(json!({})).await)).await;
    let nobody = candidate.replace(last_segment(&candidate), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    for of in [&without, &hidden, &nobody, &owner.uri] {
        let forged = format!("{of}photo/{own}/");
        app.anonymous().get(&forged).await.expect_code(401, "invalid_credential");
    }
}

#[tokio::test]
async fn the_log_tells_who_has_fetched_whose_file() {
    let (app, owner, candidates) = given().await;
    let candidate = with_files(&owner, &candidates).await;
    let person = format!("candidate {}", last_segment(&candidate));
    let cv = owner.get(&candidate).await.expect(200).uri("cv");
    let log = app.anonymous().get(&cv).await.expect(302).log();
    assert!(log.route.ends_with("/candidates/{candidateId}/cv/{token}/"), "{log:?}");
    assert_eq!((log.caller, log.on_behalf_by), (format!("customer {}", owner.id()), None));
    assert_eq!(log.person.as_ref(), Some(&person));

    // The log also names the customer who acts for another.
    let admin = app.staff("admin").await;
    let grant = json!({ "command": "grant-on-behalf", "company": "acme", "username": admin.username });
    app.operate(grant).await.unwrap();
    let recruiter = app.staff("admin").await;
    let login = json!({ "company": "acme", "username": recruiter.username });
    let acting = app.token(&admin.post("/api-token-auth/", login).await.expect(200).uri("token"));
    let cv = acting.get(&candidate).await.expect(200).uri("cv");
    let log = app.anonymous().get(&cv).await.expect(302).log();
    assert_eq!(log.caller, format!("customer {}", recruiter.id()));
    assert_eq!(log.on_behalf_by, Some(format!("customer {}", admin.id())));
    assert_eq!(log.person, Some(person));

    let log = owner.get(&owner.uri).await.expect(200).log();
    assert_eq!(log.person, Some(format!("customer {}", owner.id())));
    // A path can hold any text, which must not get into the log.
    let log = owner.get(&format!("{candidates}ada@mail.example/")).await.expect(404).log();
    assert_eq!(log.person, None);
}

#[tokio::test]
async fn fetching_files_keeps_no_session_alive() {
    let (app, owner, candidates) = given().await;
    let candidate = with_files(&owner, &candidates).await;
    let url = owner.get(&candidate).await.expect(200).uri("photo");
    app.clock().advance(TimeDelta::minutes(119));
    let log = app.anonymous().get(&url).await.expect(302).log();
    assert_eq!((log.dynamodb_calls, log.write_units), (1, 0.0), "{log:?}");
    app.clock().advance(TimeDelta::minutes(2));
    owner.get("/whoami/").await.expect_code(401, "invalid_credential");
    app.anonymous().get(&url).await.expect_code(401, "invalid_credential");
}

#[tokio::test]
async fn a_candidate_sees_its_own_files_by_its_key_and_by_its_session() {
    let (app, owner, candidates) = given().await;
    let project = candidates.strip_suffix("candidates/").unwrap();
    let invited = owner.invite(project, json!({})).await;
    let form = Form::new().file("photo", "me.jpg", "image/jpeg", &photo(Jpeg, 20, 20)).file(
        "cv",
        "cv.txt",
        "text/plain",
        "Ada Byron, Mathématicienne".as_bytes(),
    );
    invited.send(Request::patch(&invited.uri).form(form)).await.expect(200);
    let by_key = invited.get("/whoami/candidate/").await.expect(200).uri("cv");
    let found = app.anonymous().get(&by_key).await.expect(302);
    let cv = fetch(found.header("location").unwrap(), &[]).await;
    assert_eq!(cv.header("content-type"), "text/plain; charset=utf-8");
    let session = invited.register().await;
    let own = follow(&session, &invited.uri, "photo").await.expect(302);
    assert_eq!(fetch(own.header("location").unwrap(), &[]).await.status, 200);
    owner.skip(&invited.uri).await.expect(200);
    app.anonymous().get(&by_key).await.expect_code(401, "invalid_credential");
}

#[tokio::test]
async fn the_urls_of_a_named_token_live_a_day_and_die_with_it() {
    let (app, owner, candidates) = given().await;
    let candidate = with_files(&owner, &candidates).await;
    let (uri, token) = owner.named_token("ATS").await;
    let url = token.get(&candidate).await.expect(200).uri("photo");
    app.clock().advance(TimeDelta::hours(24));
    app.anonymous().get(&url).await.expect(302);
    app.clock().advance(TimeDelta::seconds(1));
    app.anonymous().get(&url).await.expect_code(401, "invalid_credential");
    let url = token.get(&candidate).await.expect(200).uri("photo");
    let login = app.anonymous().log_in("acme", "owner", PASSWORD).await.expect(200);
    app.token(&login.uri("token")).delete(&uri).await.expect(204);
    app.anonymous().get(&url).await.expect_code(401, "invalid_credential");
}

#[tokio::test]
async fn a_session_login_shows_photos_as_well() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let form = Form::new().file("photo", "me.png", "image/png", &photo(Png, 8, 8));
    owner.send(Request::patch(&owner.uri).form(form)).await.expect(200);
    let login = json!({ "company": "acme", "username": "owner", "password": PASSWORD });
    let request = Request::post("/api-session-auth/").json(&login).header("sec-fetch-site", "same-origin");
    let shown = app.send(request).await.expect(200).json();
    let url = shown["resource"]["photo"].as_str().unwrap();
    app.anonymous().get(url).await.expect(302);
}
