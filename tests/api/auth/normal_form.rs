//! Passwords whose letters and spaces are typed in different ways.

use serde_json::json;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::http::Request;

#[tokio::test]
async fn a_password_may_be_typed_on_another_system_than_the_one_it_was_chosen_on() {
    const COMPOSED: &str = "Grüße aus Köln 7";
    const DECOMPOSED: &str = "Gru\u{308}ße aus Ko\u{308}ln 7";
    const SPACED: &str = "Grüße\u{a0}aus\u{202f}Köln\u{3000}7";
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    for chosen in [COMPOSED, DECOMPOSED, SPACED] {
        let staff = owner.colleague("recruiter", json!({})).await;
        let candidate = owner.invite(&project, json!({})).await;
        app.settle().await;
        let activation = json!({ "activation_key": app.mailed_key(&staff.email), "password": chosen });
        app.anonymous().post("/api-activate/", activation).await.expect(200);
        let password = json!({ "password": chosen });
        candidate.send(Request::patch(&candidate.uri).json(&password)).await.expect(200);
        for email in [&staff.email, &candidate.email] {
            for typed in [COMPOSED, DECOMPOSED, SPACED] {
                app.anonymous().log_in("acme", email, typed).await.expect(200);
            }
            for wrong in ["Gruße aus Köln 7", "grüße aus köln 7", "Grüße aus Köln 7 "] {
                app.anonymous().log_in("acme", email, wrong).await.expect_code(401, "invalid_credentials");
            }
        }
        let token = app.anonymous().log_in("acme", &staff.email, DECOMPOSED).await.expect(200).uri("token");
        let change = json!({ "password": "another horse battery", "current_password": DECOMPOSED });
        app.token(&token).patch(&staff.uri, change).await.expect(200);
    }
}
