//! How the function that sends events learns that there is something to do.

use chrono::TimeDelta;
use futures_util::TryStreamExt as _;
use serde_json::json;
use shared::auth::SystemAccess;
use shared::store::{EventSequence, StreamTrigger, VersionedItem};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};

use super::{at_rest, webhook, write_cursor};

async fn sequence(app: &TestApp) -> Option<VersionedItem<EventSequence>> {
    SystemAccess::of(app.app()).store.sequence(&"acme".parse().unwrap()).await.unwrap()
}

/// The companies whose feeds are due.
async fn due_feeds(app: &TestApp) -> Vec<String> {
    let system = SystemAccess::of(app.app());
    let pages: Vec<_> = system.store.due_feeds(system.now).try_collect().await.unwrap();
    pages.iter().flatten().map(|feed| feed.company.to_string()).collect()
}

#[tokio::test]
async fn new_numbers_wake_it_while_the_company_has_webhooks() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    owner.label("before").await;
    app.settle().await;
    let silent = sequence(&app).await.unwrap();
    assert_eq!((silent.has_webhooks, silent.delivery_due_at), (false, None));

    webhook(&owner, json!({})).await;
    assert!(sequence(&app).await.unwrap().has_webhooks);
    let numbered_at = app.app().now();
    app.settle().await;
    let first = sequence(&app).await.unwrap();
    let delivery_due_at = first.delivery_due_at.unwrap();
    assert!(first.has_webhooks && delivery_due_at >= numbered_at + TimeDelta::minutes(1));
    // The run has waited for its next try in the meantime.
    assert!(delivery_due_at <= app.app().now() + TimeDelta::minutes(1));
    assert_eq!(due_feeds(&app).await, [""; 0]);
    owner.label("one").await;
    app.settle().await;
    let second = sequence(&app).await.unwrap();
    assert_eq!(
        (second.last, second.delivery_due_at),
        (first.last + 1, first.delivery_due_at),
        "looked at once a minute"
    );
    app.clock().advance(TimeDelta::minutes(1));
    assert_eq!(due_feeds(&app).await, ["acme"]);
    SystemAccess::of(app.app()).store.note_deliveries_started(&second, true).await.unwrap();
    assert_eq!(due_feeds(&app).await, [""; 0]);
    let settled = sequence(&app).await.unwrap();
    assert_eq!((settled.has_webhooks, settled.delivery_due_at), (true, None));
}

#[tokio::test]
async fn a_feed_without_webhooks_falls_silent_unless_one_has_come_meanwhile() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    // In a company without numbers.
    assert!(sequence(&app).await.is_none());
    let first = webhook(&owner, json!({})).await;
    let created = sequence(&app).await.unwrap();
    assert_eq!((created.last, created.has_webhooks), (0, true));
    app.settle().await;
    owner.delete(&first).await.expect(204);
    app.settle().await;
    let store = SystemAccess::of(app.app()).store;
    assert!(store.webhooks(&"acme".parse().unwrap()).await.unwrap().is_empty());
    let seen = sequence(&app).await.unwrap();
    webhook(&owner, json!({})).await;
    assert!(matches!(store.note_deliveries_started(&seen, false).await, Err(shared::Error::Changed)));
    let kept = sequence(&app).await.unwrap();
    assert_eq!((kept.has_webhooks, kept.last), (true, seen.last));
}

#[tokio::test]
async fn a_silent_feed_has_no_moment_to_be_looked_at() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let only = webhook(&owner, json!({})).await;
    owner.delete(&only).await.expect(204);
    app.settle().await;
    let seen = sequence(&app).await.unwrap();
    SystemAccess::of(app.app()).store.note_deliveries_started(&seen, false).await.unwrap();
    owner.label("one").await;
    app.settle().await;
    let silent = sequence(&app).await.unwrap();
    assert_eq!((silent.has_webhooks, silent.delivery_due_at, silent.last), (false, None, seen.last + 1));
}

#[tokio::test]
async fn a_position_is_due_when_its_next_run_is_or_its_lease_ends() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = webhook(&owner, json!({})).await;
    let due = async || {
        let system = SystemAccess::of(app.app());
        let due = system.store.due_cursors(system.now);
        due.try_collect::<Vec<_>>().await.unwrap().concat().len()
    };
    assert_eq!(due().await, 1, "a new one at once");
    write_cursor(&app, &uri, at_rest).await;
    assert_eq!(due().await, 0);
    let lease = app.app().now() + TimeDelta::seconds(75);
    write_cursor(&app, &uri, |mut cursor| {
        cursor.work.leased_until = Some(lease);
        cursor
    })
    .await;
    owner.post(&format!("{uri}ping/"), json!({})).await.expect(202);
    assert_eq!(due().await, 0, "the run that has the lease notices");
    app.clock().advance(TimeDelta::seconds(75));
    assert_eq!(due().await, 1);
    owner.delete(&uri).await.expect(204);
    assert_eq!(due().await, 0);
}

#[test]
fn records_of_the_stream_tell_what_they_wake_it_for() {
    let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    assert_eq!(
        StreamTrigger::parse("COMPANY#acme", "SEQUENCE"),
        Some(StreamTrigger::Company("acme".parse().unwrap()))
    );
    assert_eq!(
        StreamTrigger::parse(&format!("WEBHOOK#{id}"), "CURSOR"),
        Some(StreamTrigger::Webhook(last_segment(id).parse().unwrap()))
    );
    for (pk, sk) in [("COMPANY#acme", "COMPANY"), ("COMPANY#acme", "CURSOR"), ("WEBHOOK#x", "CURSOR")] {
        assert_eq!(StreamTrigger::parse(pk, sk), None, "{pk} {sk}");
    }
}
