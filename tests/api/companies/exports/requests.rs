//! Requests of exports: who may send them, and how many.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::Caller;
use tests::http::Request;

use super::{EXPORTS, company, request};

/// The end of the refusal that named tokens get.
const NO_TOKEN: &str = " No named token has it, because an export holds everything of the company: request it with the token of a \
                        login of an owner.";

#[tokio::test(flavor = "multi_thread")]
async fn only_owners_in_person_use_exports() {
    let app = TestApp::start().await;
    let (owner, _) = company(&app).await;
    let export = request(&owner).await;
    let media = format!("{export}media/");
    let integration = app.staff("owner").await;
    app.table().set_customer(&integration.uri, "authenticate_on_behalf", AttributeValue::Bool(true)).await;
    let login = json!({ "company": "acme", "username": owner.username });
    let acting = app.token(&integration.post("/api-token-auth/", login).await.expect(200).uri("token"));
    let (_, token) = owner.named_token("Payroll").await;
    let denied = |hint: &str| {
        json!({
            "detail": format!("You do not have the permission `export_company` here.{hint}"),
            "code": "permission_denied", "permission": "export_company",
        })
    };
    for response in [
        acting.get(EXPORTS).await,
        acting.post(EXPORTS, json!({})).await,
        acting.get(&export).await,
        acting.get(&media).await,
        acting.delete(&export).await,
    ] {
        response.expect_json(403, denied(""));
    }
    for response in [
        token.get(EXPORTS).await,
        token.post(EXPORTS, json!({})).await,
        token.get(&export).await,
        token.get(&media).await,
        token.delete(&export).await,
    ] {
        response.expect_json(403, denied(NO_TOKEN));
    }
    let stranger = app.owner_of("other").await;
    for uri in [EXPORTS, &export, &media] {
        stranger.get(uri).await.expect(404);
        app.anonymous().get(uri).await.expect(401);
    }
    let elsewhere = export.replace("/acme/", "/other/");
    stranger.get(&elsewhere).await.expect(404);
    stranger.delete(&elsewhere).await.expect(404);
    owner.get(&export).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_export_runs_at_a_time_and_four_are_requested_in_a_day() {
    let app = TestApp::start().await;
    let (owner, _) = company(&app).await;
    let both = tokio::join!(owner.post(EXPORTS, json!({})), owner.post(EXPORTS, json!({})));
    let mut statuses = [both.0.status, both.1.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 400]);
    assert_refusal!(owner.post(EXPORTS, json!({})).await, @r#"400 {"code":"export_running","detail":"An export of this company is still running. Wait until it has ended, or delete it."}"#);
    let running = owner.get(EXPORTS).await.expect(200).json()["objects"][0]["resource_uri"].clone();
    owner.delete(running.as_str().unwrap()).await.expect(204);
    let key = Request::post(EXPORTS).header("idempotency-key", "one");
    let keyed = owner.send(key.clone()).await.expect(202);
    let repeated = owner.send(key).await.expect(202);
    assert_eq!(repeated.json(), keyed.json());
    owner.delete(&keyed.uri("resource_uri")).await.expect(204);
    for _ in 0..2 {
        app.clock().advance(TimeDelta::hours(1));
        let again = owner.new_token().await;
        let export = again.post(EXPORTS, json!({})).await.expect(202).uri("resource_uri");
        again.delete(&export).await.expect(204);
    }
    let refused = owner.new_token().await.post(EXPORTS, json!({})).await.expect(429);
    assert_eq!(refused.header("retry-after"), Some("79200"));
    app.clock().advance(TimeDelta::hours(22));
    owner.new_token().await.post(EXPORTS, json!({})).await.expect(202);
}
