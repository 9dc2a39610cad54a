//! Background work of a function that is frozen as soon as it asks for its next event.

use std::sync::Arc;

use serde_json::json;
use tests::app::TestApp;
use tests::binaries;
use tests::caller::Caller;
use tests::function::{Function, http_event};
use tokio::process::Command;
use tokio::sync::Notify;

#[tokio::test]
async fn the_use_of_a_named_token_is_noted_after_the_response_and_before_the_freeze() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let (uri, token) = owner.named_token("Report").await;
    let binary = &binaries::of_workspace()["companies"];
    let mut function = Function::start(Command::new(binary), app.environment()).await.unwrap();
    function.ready().await.unwrap();

    let note = chaos.pause("UpdateItem");
    let headers = json!({ "authorization": format!("Token {}", token.secret) });
    // Returns although the write does not.
    let answer = function.invoke(&http_event("GET", "/api/v3/companies/acme/", headers)).await.unwrap();
    assert_eq!(answer["statusCode"], 200, "{answer}");
    function.freeze().await.unwrap();
    note.reached().await;
    let done = Arc::new(Notify::new());
    let told = done.clone();
    chaos.observe(move || told.notify_one());
    note.resume();
    done.notified().await;
    let shown = owner.get(&uri).await.expect(200).json();
    assert!(shown["last_used_at"].is_string(), "{shown}");
}
