//! The key of a guest link opens one route, and the files that this shows.

use serde_json::json;
use tests::http::Request;

use super::GuestFixture;
use crate::system::access::{AccessFixture, AccessTable};

#[tokio::test]
async fn every_other_route_refuses_a_guest_or_answers_as_without_a_credential() {
    let guests = GuestFixture::start().await;
    let (_, foreign) = guests.link(json!({})).await;
    let given = AccessFixture::new().await;
    let mut seen = 0;
    for row in &AccessTable::read().rows {
        let unsigned = given.unsigned(row).await;
        let is_review = row.path.starts_with("/review/");
        let anonymous = given.app.send(unsigned.clone()).await;
        // The key is of another company, so that nothing is there for it; the rule must not depend on that.
        let key = if is_review { "ivg_".to_owned() } else { foreign.clone() };
        let signed = unsigned.header("authorization", &format!("GuestKey {key}"));
        let response = given.app.send(signed).await;
        let call = format!("{} {}", row.method, row.path);
        match anonymous.status.as_u16() {
            401 => {
                let refused = response.expect_code(401, "invalid_credential");
                // A path with a token in it reads what that names.
                assert!(refused.log().dynamodb_calls == 0 || row.path.contains("{token}"), "{call}");
                seen += 1;
            }
            // Public, or a single use that the first request was.
            status => assert!(status < 500 && response.status.as_u16() < 500, "{call}"),
        }
    }
    assert!(seen > 130, "{seen}");
}

#[tokio::test]
async fn a_guest_reaches_nothing_else_of_their_own_company() {
    let given = GuestFixture::start().await;
    let (uri, key) = given.link(json!({})).await;
    let GuestFixture { app, candidate, project, .. } = &given;
    let uri_of = |path: &str| format!("{}{path}", candidate.uri);
    for path in [
        candidate.uri.clone(),
        project.clone(),
        uri,
        given.links(),
        uri_of("interview/"),
        uri_of("data/"),
        uri_of("evaluations/"),
        uri_of("events/"),
        "/companies/acme/".to_owned(),
        "/whoami/".to_owned(),
        "/whoami/candidate/".to_owned(),
    ] {
        for scheme in ["GuestKey", "Token", "ActivationKey"] {
            let request = Request::get(&path).header("authorization", &format!("{scheme} {key}"));
            app.send(request).await.expect_code(401, "invalid_credential");
        }
    }
    for path in ["/companies/acme/login/", "/companies/acme/legal/", "/openapi.json"] {
        let request = Request::get(path).header("authorization", &format!("GuestKey {key}"));
        app.send(request).await.expect(200);
    }
    let post = Request::post("/review/").header("authorization", &format!("GuestKey {key}"));
    assert_eq!(app.send(post).await.status.as_u16(), 405);
}

#[tokio::test]
async fn the_address_of_a_file_opens_no_other_file() {
    let given = GuestFixture::start().await;
    let (_, key) = given.link(json!({})).await;
    let film = given.film(&key).await;
    let (path, token) = film.rsplit_once("/video/").unwrap();
    let token = token.trim_end_matches(".mp4");
    let question = &tests::caller::last_segment(&given.questions[2]);
    let own = tests::caller::last_segment(&given.questions[0]);
    for other in [
        format!("{path}/thumb/{token}/"),
        format!("{}/video/{token}.mp4", path.replace("/takes/1", "/takes/2")),
        format!("{}/video/{token}.mp4", path.replace(own, question)),
        format!("{}/photo/{token}/", given.candidate.uri.trim_end_matches('/')),
        format!("{}/cv/{token}/", given.candidate.uri.trim_end_matches('/')),
    ] {
        given.fetch(&other).await.expect_code(401, "invalid_credential");
    }
    let altered = film.replace(&token[token.len() - 8..], "AAAAAAAA");
    given.fetch(&altered).await.expect_code(401, "invalid_credential");
    given.fetch(&film).await.expect(302);
}
