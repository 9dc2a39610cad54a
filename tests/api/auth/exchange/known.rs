//! Events, storage and URLs of files know what they must of trust and of the tokens of exchanges, and no secret.

use serde_json::{Value, json};
use tests::caller::Caller;
use tests::http::Request;

use super::{TOKENS, Trusting};

#[tokio::test]
async fn events_tell_the_issuer_and_nothing_of_the_workload() {
    let given = Trusting::new().await;
    given.owner.post(TOKENS, json!({ "name": "By value" })).await.expect(201);
    given.exchanged().await;
    given.owner.delete(&given.uri).await.expect(204);
    given.app.settle().await;
    let events = given.owner.get("/companies/acme/events/?type=token.*").await.expect(200).json();
    let events = events["objects"].as_array().unwrap();
    // Exchanges are no events.
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((of("token.created"), of("token.deleted"), events.len()), (2, 1, 3));
    let of_issuer = |event: &&Value| event["data"]["issuer"] == given.issuer.url.as_str();
    assert_eq!(events.iter().filter(of_issuer).count(), 1, "{events:?}");
    let text = json!(events).to_string();
    for hidden in ["repo:acme", "repository_id", "ivx_"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
}

#[tokio::test]
async fn no_secret_is_stored_and_nothing_of_the_jwt() {
    let given = Trusting::new().await;
    let jwt = given.jwt();
    let answer = given.exchange(&jwt).await.expect(200);
    let wrong = given.key.sign(&given.claims_with(json!({ "sub": "repo:stranger/x", "actor": "mallory" })));
    given.exchange(&wrong).await.expect(400);
    given.app.token(&answer.uri("access_token")).get("/whoami/").await.expect(200);
    given.app.app().finish_background().await;
    let stored = given.app.table().text().await;
    let secret = answer.uri("access_token");
    let signature = jwt.rsplit_once('.').unwrap().1.to_owned();
    for hidden in
        [secret.as_str(), secret.trim_start_matches("ivx_"), &signature, "stranger", "mallory", "192.0.2"]
    {
        assert!(!stored.contains(hidden), "{hidden}");
    }
    // The log has neither.
    let line = format!("{:?}", answer.log());
    assert!(!line.contains(&signature) && !line.contains(&secret), "{line}");
}

#[tokio::test]
async fn the_urls_of_files_work_for_the_token_of_an_exchange_and_end_with_it() {
    let given = Trusting::new().await;
    let project = given.owner.project(json!({})).await;
    let candidate = given.owner.candidate(&project, json!({})).await;
    let photo = tests::files::Form::new().file(
        "photo",
        "ada.png",
        "image/png",
        &tests::files::photo(image::ImageFormat::Png, 8, 8),
    );
    given.owner.send(Request::patch(&candidate).form(photo)).await.expect(200);
    let token = given.exchanged().await;
    let url = token.get(&candidate).await.expect(200).uri("photo");
    given.app.anonymous().get(&url).await.expect(302);
    token.send(Request::post("/api-token-invalidate/")).await.expect(204);
    given.app.anonymous().get(&url).await.expect_code(401, "invalid_credential");
    let token = given.exchanged().await;
    let url = token.get(&candidate).await.expect(200).uri("photo");
    given.owner.delete(&given.uri).await.expect(204);
    given.app.anonymous().get(&url).await.expect_code(401, "invalid_credential");
}
