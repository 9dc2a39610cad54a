//! Limits of failed exchanges.

use std::time::Duration;

use chrono::TimeDelta;
use serde_json::json;
use tests::http::Request;

use super::{BASE, EXCHANGE, Trusting, parameters};

#[tokio::test]
async fn a_source_that_has_failed_ten_times_waits_to_fail_again_and_its_trusted_workloads_do_not() {
    let given = Trusting::new().await;
    let wrong = given.key.sign(&given.claims_with(json!({ "sub": "x" })));
    for _ in 0..10 {
        given.exchange(&wrong).await.expect_code(400, "not_exchanged");
    }
    let refused = given.exchange(&wrong).await.expect_code(429, "throttled");
    assert_eq!(refused.header("retry-after"), Some("900"));
    // Strangers share the addresses of the platform's computers.
    given.exchange(&given.jwt()).await.expect(200);
    given.exchange_from("192.0.2.2", &wrong).await.expect_code(400, "not_exchanged");
    given.app.clock().advance(TimeDelta::minutes(15));
    given.exchange(&wrong).await.expect_code(400, "not_exchanged");
}

#[tokio::test]
async fn failures_for_what_does_not_exist_are_limited_alike() {
    let given = Trusting::new().await;
    let jwt = given.jwt();
    let ask = async |company: &str, source: &str| {
        let resource = format!("{BASE}/companies/{company}/");
        given.app.send(Request::post(EXCHANGE).json(&parameters(&jwt, &resource)).from_source(source)).await
    };
    for _ in 0..10 {
        ask("nobody", "192.0.2.1").await.expect_code(400, "not_exchanged");
    }
    let refused = ask("nobody", "192.0.2.1").await.expect_code(429, "throttled");
    assert_eq!(refused.header("retry-after"), Some("900"));
}

#[tokio::test]
async fn a_flood_from_many_sources_is_answered_alike_and_holds_up_no_workload() {
    let given = Trusting::new().await;
    let wrong = given.key.sign(&given.claims_with(json!({ "sub": "x" })));
    for number in 0..100 {
        given.exchange_from(&format!("10.0.{number}.1"), &wrong).await.expect_code(400, "not_exchanged");
    }
    let refused = given.exchange_from("10.1.0.1", &wrong).await.expect_code(429, "throttled");
    assert_eq!(refused.header("retry-after"), Some("10"));
    given.exchange_from("10.1.0.2", &given.jwt()).await.expect(200);
}

#[tokio::test]
async fn every_failure_waits_for_the_next_second_and_nothing_else_does() {
    let given = Trusting::new().await;
    let company = |name: &str| format!("{BASE}/companies/{name}/");
    let wrong = given.key.sign(&given.claims_with(json!({ "sub": "x" })));
    let unknown = given.key.sign(&given.claims_with(json!({ "iss": "https://unknown.example" })));
    let pauses = async |resource: &str, jwt: &str, status: u16| {
        let before = given.app.clock().pauses().len();
        given.exchange_for(resource, "192.0.2.1", jwt).await.expect(status);
        given.app.clock().pauses().split_off(before)
    };
    let mut waited = Vec::new();
    for resource in [company("acme"), company("nobody"), given.uri.clone()] {
        for jwt in [&*wrong, &*unknown, "x"] {
            waited.push(pauses(&resource, jwt, 400).await);
        }
    }
    for _ in 0..8 {
        waited.push(pauses(&company("acme"), &wrong, 400).await);
    }
    waited.push(pauses(&company("acme"), &wrong, 429).await);
    for one in &waited {
        let [pause] = one[..] else { panic!("{waited:?}") };
        assert!(pause > Duration::ZERO && pause <= Duration::from_secs(1), "{waited:?}");
    }
    assert!(pauses(&company("acme"), &given.jwt(), 200).await.is_empty());
}

#[tokio::test]
async fn failures_at_the_same_time_all_count() {
    let given = Trusting::new().await;
    let wrong = given.key.sign(&given.claims_with(json!({ "sub": "x" })));
    let all = (0..20).map(|_| given.exchange(&wrong));
    let answers = futures_util::future::join_all(all).await;
    let refused = answers.iter().filter(|answer| answer.status == 400).count();
    assert_eq!(refused, 10, "{answers:?}");
    assert!(answers.iter().all(|answer| answer.status == 400 || answer.status == 429));
}
