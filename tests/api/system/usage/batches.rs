//! Batches of events that die while they count usage.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::effort;

use super::DEADLINE;

/// A batch with as many events as a transaction takes, in which an interview ends and a month is closed, counts once, wherever it dies.
#[tokio::test]
async fn a_full_batch_that_dies_at_any_write_counts_once() {
    for writes in effort::numbers(2) {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let owner = app.owner().await;
        let (_, token) = owner.named_token("Integration").await;
        let project = owner.running_project(json!({ "allow_hash_login": true })).await;
        let early = owner.invite(&project, json!({ "deadline": DEADLINE })).await;
        for _ in ["confirmed", "interviewing"] {
            early.advance(&early.uri).await.expect(200);
        }
        app.settle().await;
        app.clock().advance(TimeDelta::days(40));
        app.complete(&early.uri).await;
        let mut invited = 0;
        for number in 0..110 {
            let person = json!({ "first_name": "Ada", "last_name": "Byron", "receive_mails": false, "deadline": DEADLINE });
            let created =
                token.post(&format!("{project}candidates/"), person).await.expect(201).uri("resource_uri");
            if number % 10 == 0 {
                token.advance(&created).await.expect(200);
                invited += 1;
            }
        }
        let entries = app.table().contents().await.into_keys().filter(|(pk, _)| pk.starts_with("HISTORY#"));
        let record = |(pk, sk)| json!({ "dynamodb": { "Keys": { "pk": { "S": pk }, "sk": { "S": sk } }, "SequenceNumber": "1" } });
        let event = json!({ "Records": entries.map(record).collect::<Vec<_>>() });
        chaos.record();
        chaos.cut_after_writes(writes);
        // A function that dies may answer nothing.
        let _ = outbox::handle(app.app(), serde_json::from_value(event).unwrap()).await;
        let left = chaos.left();
        chaos.heal();
        let sizes = chaos.recorded().into_iter().map(|body| {
            let transaction: Value = serde_json::from_slice(&body).unwrap();
            transaction["TransactItems"].as_array().unwrap().len()
        });
        // DynamoDB takes no more in one.
        assert_eq!(sizes.max(), Some(100).filter(|_| writes > 0), "{writes}");
        app.settle().await;
        let usage = token.get("/companies/acme/usage/?from=2026-11&to=2026-12").await.expect(200).json();
        let counts = |month: usize| {
            let shown = &usage["objects"][month];
            [&shown["candidates_invited"], &shown["interviews_completed"], &shown["is_final"]]
                .map(Value::clone)
        };
        assert_eq!(counts(0), [json!(1), json!(0), json!(true)], "{writes}");
        assert_eq!(counts(1), [json!(invited), json!(1), json!(false)], "{writes}");
        app.settle().await;
        if left > Some(0) {
            return;
        }
    }
}
