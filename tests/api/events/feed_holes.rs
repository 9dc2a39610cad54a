//! Numbers that the feed lacks: those of expired events, those that were left out, and those that the index shows late.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::auth::SystemAccess;
use shared::domain::history::HistoryEntry;
use shared::{Error, Result};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, Token};
use tests::logs::take_lines;
use tests::table::Contents;

use crate::events::feed::{FEED, entry, numbers, read_all, read_on};
use crate::events::webhooks::endpoint::{TestEndpoint, hook, pass};

/// The retention that makes `events` expire after a few days.
fn days(days: &'static str) -> [(&'static str, &'static str); 2] {
    [("EVENT_RETENTION_DAYS", days), ("SESSION_IDLE_MINUTES", "43200")]
}

async fn latest(caller: &impl Caller) -> u64 {
    caller.get(FEED).await.expect(200).json()["meta"]["latest"].as_u64().unwrap()
}

/// Labels with these names, whose creation is numbered.
async fn labels(app: &TestApp, by: &impl Caller, names: impl IntoIterator<Item = String>) {
    for name in names {
        by.post("/companies/acme/labels/", json!({ "text": name })).await.expect(201);
    }
    app.settle().await;
}

/// The events that the sender of webhooks reads after a number: the numbers of the wanted ones, and how far it has come.
async fn sent_after(
    app: &TestApp,
    mut after: u64,
    is_wanted: impl Fn(&HistoryEntry) -> bool,
) -> Result<(Vec<u64>, u64)> {
    let system = SystemAccess::of(app.app());
    let sequence = system.store.sequence(&"acme".parse().unwrap()).await?.unwrap();
    let mut events = Vec::new();
    loop {
        let feed = system.store.events_after(&sequence, after, 32, system.now, &is_wanted).await?;
        events.extend(feed.events.iter().map(|event| event.sequence.unwrap()));
        if feed.reached == after {
            return Ok((events, after));
        }
        after = feed.reached;
    }
}

/// The table, in which the index does not show the event with this number.
fn without_place(contents: &Contents, number: u64) -> Contents {
    let mut lagging = contents.clone();
    let item = lagging.get_mut(&entry(contents, number)).unwrap();
    item.retain(|name, _| !name.starts_with("by_status"));
    lagging
}

/// A company with more than 512 expired events, which DynamoDB has not deleted yet, the number of the first that has not expired,
/// and a named token, whose session does not end.
async fn given_expired(app: &TestApp) -> (Staff, Token, u64) {
    let owner = app.owner().await;
    let service = owner.named_token("Sync").await.1;
    labels(app, &service, (0..520).map(|number| format!("label {number}"))).await;
    app.clock().advance(TimeDelta::hours(25));
    labels(app, &service, ["new".to_owned()]).await;
    let live = latest(&service).await;
    (owner, service, live)
}

#[tokio::test]
async fn the_feed_passes_expired_events_that_are_not_deleted_yet() {
    let app = TestApp::start_with(&days("1")).await;
    let (_, service, live) = given_expired(&app).await;
    for query in ["", "page_size=1", "page_size=100", "type=label.*", "type=label.*&page_size=1"] {
        assert_eq!(numbers(&read_all(&service, query).await), [live], "{query}");
    }
    for after in [1, 2, live - 2] {
        let gone = service.get(&format!("{FEED}?after={after}")).await.expect(410).json();
        assert_eq!((&gone["code"], &gone["first"]), (&json!("events_expired"), &json!(live)), "{after}");
    }
    assert_eq!(numbers(&read_all(&service, &format!("after={}", live - 1)).await), [live]);

    // Until there is nothing left at all.
    app.clock().advance(TimeDelta::hours(25));
    let gone = service.get(&format!("{FEED}?after=1")).await.expect(410).json();
    assert_eq!(gone["first"], live + 1);
    let rest = service.get(FEED).await.expect(200).json();
    let end = format!("https://hr.example/api/v3{FEED}?after={live}&page_size=20");
    assert_eq!((&rest["meta"]["more"], &rest["meta"]["next"]), (&json!(false), &json!(end)));
}

#[tokio::test]
async fn webhooks_get_what_comes_after_expired_events_that_are_not_deleted_yet() {
    let app = TestApp::start_with(&days("1")).await;
    let (owner, _, live) = given_expired(&app).await;
    assert_eq!(sent_after(&app, 0, |_| true).await.unwrap(), (vec![live], live));
    let of_labels = |entry: &HistoryEntry| entry.change.types[0].starts_with("label.");
    assert_eq!(sent_after(&app, 0, of_labels).await.unwrap(), (vec![live], live));
    let expired = sent_after(&app, 1, |_| true).await.unwrap_err();
    assert!(matches!(expired, Error::Expired(first) if first == live), "{expired:?}");

    for after in [0, 1] {
        let endpoint = TestEndpoint::willing().await;
        hook(&owner, &endpoint, json!({ "after": after, "types": ["label.*"] })).await;
        app.settle().await;
        pass(&app, [1]).await;
        assert_eq!(numbers(&endpoint.taken()), [live], "after {after}");
    }
}

#[tokio::test]
async fn readers_wait_for_an_event_that_the_index_lacks_however_long() {
    let app = TestApp::start_with(&days("400")).await;
    let owner = app.owner().await;
    let service = owner.named_token("Sync").await.1;
    labels(&app, &service, (0..4).map(|number| format!("label {number}"))).await;
    let latest = latest(&service).await;
    let whole = app.table().contents().await;
    for late in [latest - 2, latest] {
        app.table().restore(&without_place(&whole, late)).await;
        let (mut next, before) = (format!("{FEED}?page_size=3"), (1..late).collect::<Vec<_>>());
        assert_eq!(numbers(&read_on(&service, &mut next).await), before);
        for wait in [TimeDelta::seconds(90), TimeDelta::minutes(11), TimeDelta::days(30)] {
            app.clock().advance(wait);
            take_lines("feed");
            assert_eq!(numbers(&read_on(&service, &mut next).await), [0; 0], "after {wait}");
            // The metric tells how long the event behind it has been waiting.
            let [line] = &take_lines("feed")[..] else { panic!("one line") };
            assert_eq!((&line["company"], &line["number"]), (&json!("acme"), &json!(late)));
            assert!(line["index_lag_seconds"].as_i64().unwrap() >= wait.num_seconds(), "{line}");
            assert_eq!(sent_after(&app, 0, |_| true).await.unwrap(), (before.clone(), late - 1));
        }
        app.table().restore(&whole).await;
        take_lines("feed");
        assert_eq!(numbers(&read_on(&service, &mut next).await), (late..=latest).collect::<Vec<_>>());
        assert_eq!(take_lines("feed"), [Value::Null; 0]);
    }
}

#[tokio::test]
async fn expired_events_are_no_hole_in_whatever_order_dynamodb_deletes_them() {
    let app = TestApp::start_with(&days("10")).await;
    let owner = app.owner().await;
    let service = owner.named_token("Sync").await.1;
    labels(&app, &service, (0..6).map(|number| format!("label {number}"))).await;
    let old = latest(&service).await;
    app.clock().advance(TimeDelta::days(9));
    labels(&app, &service, ["a".to_owned(), "b".to_owned()]).await;
    app.clock().advance(TimeDelta::days(2));
    app.leave_unsound("entries expire one by one");
    let whole = app.table().contents().await;
    let erase = async |numbers: &[u64]| {
        for number in numbers {
            app.table().erase(&entry(&whole, *number)).await;
        }
    };
    let all: Vec<u64> = (1..=old).collect();
    for deleted in [&[][..], &[1, 3], &[old - 3, old], &all] {
        erase(deleted).await;
        assert_eq!(numbers(&read_all(&service, "").await), [old + 1, old + 2], "without {deleted:?}");
        assert_eq!(sent_after(&app, 0, |_| true).await.unwrap(), (vec![old + 1, old + 2], old + 2));
        let gone = service.get(&format!("{FEED}?after={}", old - 1)).await.expect(410).json();
        assert_eq!(gone["first"], old + 1, "without {deleted:?}");
        assert_eq!(numbers(&read_all(&service, &format!("after={old}")).await), [old + 1, old + 2]);
        app.table().restore(&whole).await;
    }

    // Events from before the operator has shortened their retention live on.
    let later = aws_sdk_dynamodb::types::AttributeValue::N("4000000000".to_owned());
    for number in [1, 2] {
        app.table().set(&entry(&whole, number), "expires_at", later.clone()).await;
    }
    erase(&all[2..]).await;
    assert_eq!(numbers(&read_all(&service, "page_size=1").await), [1, 2, old + 1, old + 2]);
    assert_eq!(take_lines("feed"), [Value::Null; 0]);
}
