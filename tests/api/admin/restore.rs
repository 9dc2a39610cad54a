//! `restore-table`: takes the table back to a moment, continues after a stop, and bears throttling.

use std::path::Path;

use admin::restore::{PreparedItems, RestoreCounts, TableRestore};
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use shared::config::AwsConfig;
use tempfile::TempDir;
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::chaos::{Chaos, Fault};
use tests::http::Request;
use tests::table::{Contents, Item, Key};

/// The starts of the keys of items that stay as they are: `functions/RESTORING.md` promises it.
const KEPT: [&str; 11] = [
    "CONVERSIONS",
    "EFFECT#",
    "FAILURES#",
    "NOTICES#",
    "RESET#",
    "SESSION#",
    "TOKEN#",
    "TRUSTS#",
    "EXCHANGED#",
    "UPLOAD#",
    "WEBHOOK#",
];
/// Every tenth item is so large that the partition of these has several pages.
const FILLING: usize = 60;

/// A company, what its table held, and what it holds after some changes.
struct RestoreFixture {
    app: TestApp,
    chaos: Chaos,
    then: Contents,
    now: Contents,
    restored: String,
    folder: TempDir,
}

impl RestoreFixture {
    async fn new() -> Self {
        let (app, chaos) = TestApp::start_with_chaos().await;
        app.leave_unsound(
            "what a restore leaves as it is does not fit to what it takes back, until the commands after it",
        );
        let owner = app.owner().await;
        let leaving = app.staff("recruiter").await;
        let project = owner.running_project(json!({})).await;
        let candidate = owner.candidate(&project, json!({ "first_name": "Ada" })).await;
        let deleted = owner.candidate(&project, json!({})).await;
        owner.label("Sales").await;
        let token = owner.named_token("Payroll").await.0;
        let webhook = json!({ "url": "https://hooks.example:8443/hook" });
        let webhook = owner.post("/companies/acme/webhooks/", webhook).await.expect(201).uri("resource_uri");
        app.settle().await;
        fill(&app, 0..FILLING, "before").await;
        let then = app.table().contents().await;
        let restored = app.table().restored(&then).await;

        fill(&app, FILLING / 2..FILLING * 2, "after").await;
        for uri in [&deleted, &token, &webhook] {
            owner.delete(uri).await.expect(204);
        }
        leaving.send(Request::post("/api-token-invalidate/")).await.expect(204);
        owner.patch(&candidate, json!({ "first_name": "Grace" })).await.expect(200);
        owner.candidate(&project, json!({})).await;
        add_company(&app).await;
        app.settle().await;
        let now = app.table().contents().await;
        let folder = TempDir::new().unwrap();
        Self { app, chaos, then, now, restored, folder }
    }

    /// Runs a step of the command.
    async fn run<T: Send + 'static>(
        &self,
        step: fn(&TableRestore) -> Result<T, Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<T, String> {
        let config = self.app.app().config();
        let (aws, live, restored) = (config.aws.clone(), config.table.clone(), self.restored.clone());
        let folder = self.folder.path().to_owned();
        // It has threads of its own, for which a test's runtime must not wait.
        let run = move || step(&restore(aws, &live, &restored, &folder)?);
        tokio::task::spawn_blocking(run).await.unwrap().map_err(|error| error.to_string())
    }

    /// The items that the table must hold in the end.
    fn expected(&self) -> Contents {
        let is_kept =
            |(pk, sk): &Key| KEPT.iter().any(|start| pk.starts_with(start) || sk.starts_with(start));
        let is_sequence = |(_, sk): &Key| sk == "SEQUENCE";
        let kept = self.now.iter().filter(|(key, _)| is_kept(key) || is_sequence(key));
        let mut expected: Contents = kept.map(|(key, item)| (key.clone(), item.clone())).collect();
        for (key, item) in self.then.iter().filter(|(key, _)| !is_kept(key) && !is_sequence(key)) {
            expected.insert(key.clone(), item.clone());
        }
        // The numbers go on; only which event is the last one, and what the events have counted, is taken back.
        for (key, item) in expected.iter_mut().filter(|(key, _)| is_sequence(key)) {
            for name in ["last_event", "usage"] {
                match self.then.get(key).and_then(|then| then.get(name)) {
                    Some(value) => item.insert(name.to_owned(), value.clone()),
                    None => item.remove(name),
                };
            }
        }
        expected
    }

    async fn assert_restored(&self) {
        let (contents, expected) = (self.app.table().contents().await, self.expected());
        let differing = |key: &&Key| contents.get(*key) != expected.get(*key);
        let differing: Vec<_> = contents.keys().chain(expected.keys()).filter(differing).collect();
        assert!(differing.is_empty(), "{differing:?}");
    }

    /// How many items are put and deleted, by the contents.
    fn counts(&self) -> (u64, u64) {
        let expected = self.expected();
        let put = expected.iter().filter(|(key, item)| self.now.get(*key) != Some(item)).count();
        let deleted = self.now.keys().filter(|key| !expected.contains_key(*key)).count();
        (put as u64, deleted as u64)
    }
}

fn restore(
    aws: AwsConfig,
    live: &str,
    restored: &str,
    folder: &Path,
) -> Result<TableRestore, Box<dyn std::error::Error + Send + Sync>> {
    TableRestore::new(aws, live, restored, folder, |_| {})
}

/// Puts items of a kind that the service does not know, with every type of attribute.
async fn fill(app: &TestApp, numbers: std::ops::Range<usize>, text: &str) {
    for number in numbers {
        let is_large = number % 10 == 0;
        let (pk, length) = if is_large { ("large".to_owned(), 50_000) } else { (number.to_string(), 100) };
        let mut item: Item = serde_dynamo::to_item(json!({
            "pk": format!("FILLING#{pk}"), "sk": format!("ITEM#{number}"), "text": text.repeat(length), "is_new": true,
            "none": null, "number": number, "list": [text, 1], "map": { "a": text, "b": {} },
        }))
        .unwrap();
        item.insert("set".to_owned(), AttributeValue::Ss(vec!["a".to_owned(), text.to_owned()]));
        app.table().put(item).await;
    }
}

/// A company whose first events come after the moment.
async fn add_company(app: &TestApp) -> Staff {
    let owner = app.owner_of("globex").await;
    owner.post("/companies/globex/labels/", json!({ "text": "New" })).await.expect(201);
    owner
}

#[tokio::test]
async fn the_table_is_as_it_was_but_for_what_has_ended() {
    let given = RestoreFixture::new().await;
    let (put, deleted) = given.counts();
    assert!(put > FILLING as u64 / 2 && deleted > FILLING as u64, "{put} {deleted}");
    let PreparedItems { prepared, companies } = given.run(TableRestore::prepare).await.unwrap();
    assert_eq!(companies, ["acme"], "the other one is newer");
    assert!(prepared > FILLING as u64 && prepared < given.then.len() as u64, "{prepared}");
    let counts = given.run(TableRestore::apply).await.unwrap();
    assert_eq!((counts.put, counts.deleted), (put, deleted));
    given.assert_restored().await;
    let written = given.chaos.requests("BatchWriteItem");
    // Repeated from the start, it finds nothing to do.
    let again = RestoreFixture { folder: TempDir::new().unwrap(), ..given };
    again.run(TableRestore::prepare).await.unwrap();
    let counts = again.run(TableRestore::apply).await.unwrap();
    assert_eq!((counts.put, counts.deleted), (0, 0));
    assert_eq!(again.chaos.requests("BatchWriteItem"), written);
}

#[tokio::test]
async fn a_restore_that_was_stopped_continues() {
    let given = RestoreFixture::new().await;
    let (put, deleted) = given.counts();
    let refused = given.run(TableRestore::apply).await.unwrap_err();
    assert_eq!(refused, "segment 0 is not prepared");

    let stop =
        |operation: &str, text: &str| given.chaos.next_about(operation, text, Fault::Refused("Stopped"));
    // Early, since the threads that the fault does not meet go on until they see that it ended the run.
    stop("Scan", "\"Segment\":24");
    given.run(TableRestore::prepare).await.unwrap_err();
    let first = given.chaos.requests("Scan");
    given.run(TableRestore::prepare).await.unwrap();
    let second = given.chaos.requests("Scan") - first;
    assert!(first < 60 && second < 60, "{first} and {second} segments of 64");

    // In the middle of the live table, and then while missing items are put.
    stop("Scan", "\"Segment\":24");
    given.run(TableRestore::apply).await.unwrap_err();
    let scans = given.chaos.requests("Scan");
    stop("BatchWriteItem", "Ada");
    let stopped = given.run(TableRestore::apply).await;
    assert!(given.chaos.requests("Scan") - scans < 60, "segments that are done are not read again");
    stopped.unwrap_err();
    let counts = given.run(TableRestore::apply).await.unwrap();
    // A segment that was stopped has done a part of its work before, which it finds done.
    assert!(counts.put <= put && counts.deleted <= deleted && counts.deleted > 0, "{counts:?}");
    given.assert_restored().await;
}

#[tokio::test]
async fn throttled_calls_are_repeated_and_unprocessed_items_written_later() {
    let given = RestoreFixture::new().await;
    given.run(TableRestore::prepare).await.unwrap();
    for operation in ["Scan", "BatchGetItem", "BatchWriteItem"] {
        given.chaos.next(operation, Fault::Throttled);
        given.chaos.next(operation, Fault::AnswerLost);
    }
    for operation in ["BatchGetItem", "BatchWriteItem"] {
        for _ in 0..5 {
            given.chaos.next(operation, Fault::HalfProcessed);
        }
    }
    let RestoreCounts { put, deleted, .. } = given.run(TableRestore::apply).await.unwrap();
    assert_eq!((put, deleted), given.counts());
    given.assert_restored().await;
}

#[tokio::test]
async fn what_was_read_of_a_former_table_is_not_taken_for_the_present_one() {
    let given = RestoreFixture::new().await;
    given.run(TableRestore::prepare).await.unwrap();
    given.app.table().restored(&given.now).await;
    for refused in [given.run(TableRestore::prepare).await.err(), given.run(TableRestore::apply).await.err()]
    {
        let refused = refused.unwrap();
        assert!(refused.contains("belongs to another restore"), "{refused}");
    }
    assert_eq!(given.app.table().contents().await, given.now, "nothing is written");
}

#[tokio::test]
async fn an_item_that_the_restored_table_has_lost_is_not_counted_as_put() {
    let given = RestoreFixture::new().await;
    given.run(TableRestore::prepare).await.unwrap();
    let missing =
        given.then.keys().find(|key| !given.now.contains_key(*key) && key.1.starts_with("CANDIDATE#"));
    given.app.table().named(&given.restored).erase(missing.unwrap()).await;
    let refused = given.run(TableRestore::apply).await.unwrap_err();
    assert_eq!(refused, "the restored table has changed while it was read");
}

#[tokio::test]
async fn a_folder_belongs_to_one_restore() {
    let app = TestApp::start().await;
    let (aws, folder) = (app.app().config().aws.clone(), TempDir::new().unwrap());
    restore(aws.clone(), "live", "restored", folder.path()).unwrap();
    restore(aws.clone(), "live", "restored", folder.path()).unwrap();
    let other = restore(aws.clone(), "live", "other", folder.path()).err().unwrap().to_string();
    assert!(other.ends_with("belongs to another restore: live restored"), "{other}");
    restore(aws, "live", "live", folder.path()).err().unwrap();
}
