//! Events are numbered once, without gaps and in order, whatever becomes of the stream's records and of the calls.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::chaos::{Chaos, Fault};
use tests::effort;
use tests::http::Request;
use tokio::task::JoinSet;

use crate::events::feed::{FEED, numbers, read_all, read_on};

/// Pseudorandom numbers that a seed repeats.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// Makes a change or two: of a new candidate, of one there is, or of a label.
async fn change(
    owner: &Staff,
    project: &str,
    candidates: &[String],
    dice: &mut RandomNumbers,
    number: usize,
) {
    let candidate = &candidates[dice.roll(candidates.len())];
    match dice.roll(5) {
        0 => drop(owner.candidate(project, json!({ "first_name": format!("New {number}") })).await),
        1 => drop(owner.label(&format!("label {number}")).await),
        2 => drop(owner.set_deadline(candidate, &format!("2027-01-01T00:00:{:02}Z", number % 60)).await),
        _ => drop(owner.patch(candidate, json!({ "phone": number.to_string() })).await),
    }
}

async fn given(app: &TestApp) -> (Staff, String, Vec<String>) {
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let mut candidates = Vec::new();
    for _ in 0..6 {
        candidates.push(owner.candidate(&project, json!({})).await);
    }
    (owner, project, candidates)
}

/// The feed has every event once, those of a resource in the order of its versions.
async fn assert_complete(app: &TestApp, owner: &Staff, events: &[Value]) {
    let contents = app.table().snapshot().await;
    let entries = contents
        .iter()
        .filter(|((pk, _), item)| pk.starts_with("HISTORY#") && !item["change"]["types"].is_null());
    assert_eq!(numbers(events), (1..=entries.count() as u64).collect::<Vec<_>>());
    let mut versions = BTreeMap::<&str, Vec<u64>>::new();
    for event in events {
        let data = &event["data"];
        let versions = versions.entry(data["resource_uri"].as_str().unwrap()).or_default();
        versions.push(data["version"].as_u64().unwrap());
    }
    assert!(versions.values().all(|versions| versions.is_sorted_by(|one, next| one < next)), "{versions:?}");
    assert_eq!(numbers(&read_all(owner, "page_size=100").await), numbers(events));
    app.assert_sound();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_miss_nothing_while_many_write() {
    let app = TestApp::start().await;
    let (owner, project, candidates) = given(&app).await;
    let is_done = std::sync::Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    for size in 1..=7 {
        let (owner, is_done) = (owner.clone(), is_done.clone());
        readers.spawn(async move {
            let (mut next, mut events) = (format!("{FEED}?page_size={size}"), Vec::new());
            loop {
                let was_done = is_done.load(Ordering::Acquire);
                events.extend(read_on(&owner, &mut next).await);
                if was_done {
                    return events;
                }
                tokio::task::yield_now().await;
            }
        });
    }
    let mut writers = JoinSet::new();
    for writer in 0..16 {
        let (owner, project, candidates) = (owner.clone(), project.clone(), candidates.clone());
        writers.spawn(async move {
            let mut dice = RandomNumbers(writer as u64);
            for step in 0..8 {
                change(&owner, &project, &candidates, &mut dice, writer * 100 + step).await;
            }
        });
    }
    while !writers.is_empty() {
        tokio::join!(app.settle(), async { drop(writers.join_next().await) });
    }
    app.settle().await;
    is_done.store(true, Ordering::Release);
    for events in readers.join_all().await {
        assert_complete(&app, &owner, &events).await;
    }
}

/// One in ten calls of each kind fails in some way, lost answers among them.
fn trouble(chaos: &Chaos, dice: &mut RandomNumbers) {
    for operation in ["TransactWriteItems", "BatchGetItem", "Query"] {
        let faults = [Fault::Conflict, Fault::Throttled, Fault::Unreachable, Fault::AnswerLost];
        if dice.roll(10) == 0 {
            // A conflict is an answer to transactions alone.
            let fault = faults
                [if operation == "TransactWriteItems" { dice.roll(4) } else { 1 + dice.roll(3) }]
            .clone();
            chaos.next(operation, fault);
        }
    }
}

/// The record of each entry in the table, as the stream delivers it.
async fn records(app: &TestApp) -> Vec<Value> {
    let entries = app.table().contents().await.into_keys().filter(|(pk, _)| pk.starts_with("HISTORY#"));
    let record = |(pk, sk)| json!({ "dynamodb": { "Keys": { "pk": { "S": pk }, "sk": { "S": sk } }, "SequenceNumber": "1" } });
    entries.map(record).collect()
}

#[tokio::test]
async fn records_may_be_dropped_doubled_and_in_any_order_while_calls_fail() {
    for seed in effort::cases(0..4) {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let (owner, project, candidates) = given(&app).await;
        let mut dice = RandomNumbers(seed);
        for number in 0..60 {
            trouble(&chaos, &mut dice);
            change(&owner, &project, &candidates, &mut dice, number).await;
            if number % 15 != 14 {
                continue;
            }
            let all = records(&app).await;
            let mut batches = JoinSet::new();
            for _ in 0..4 {
                // Out of order, some twice, some never.
                let batch: Vec<Value> = (0..10).map(|_| all[dice.roll(all.len())].clone()).collect();
                let event = serde_json::from_value(json!({ "Records": batch })).unwrap();
                let app = app.app().clone();
                trouble(&chaos, &mut dice);
                batches.spawn(async move { outbox::handle(&app, event).await.is_ok() });
            }
            batches.join_all().await;
            app.assert_sound();
        }
        chaos.heal();
        // The sweep takes what the stream has missed.
        app.clock().advance(TimeDelta::minutes(2));
        let swept = &app.sweep().await["OutboxFunction"];
        assert!(swept["events"].as_u64().unwrap() > 0 && swept["failed"] == 0, "{swept}");
        assert_complete(&app, &owner, &read_all(&owner, "page_size=7").await).await;
        assert_eq!(app.sweep().await["OutboxFunction"]["events"], 0);
    }
}

#[tokio::test]
async fn sweeps_alone_number_everything_in_the_same_order() {
    let app = TestApp::start().await;
    let (owner, project, candidates) = given(&app).await;
    let mut dice = RandomNumbers(7);
    for number in 0..120 {
        change(&owner, &project, &candidates, &mut dice, number).await;
    }
    assert_eq!(app.sweep().await["OutboxFunction"]["events"], 0, "the stream has its chance first");
    app.clock().advance(TimeDelta::minutes(2));
    let swept = &app.sweep().await["OutboxFunction"];
    assert_eq!(swept["numbering_lag_seconds"], 120);
    assert_complete(&app, &owner, &read_all(&owner, "page_size=5").await).await;
}

#[tokio::test]
async fn two_who_number_at_once_give_each_number_once() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (owner, ..) = given(&app).await;
    let all = records(&app).await;
    let number = async |records: &[Value]| {
        let event = serde_json::from_value(json!({ "Records": records })).unwrap();
        outbox::handle(app.app(), event).await.unwrap();
    };
    let (some, others) = all.split_at(all.len() / 2);
    let held = chaos.pause_about("TransactWriteItems", "numbered_at");
    let meanwhile = async {
        held.reached().await;
        number(others).await;
        held.resume();
    };
    tokio::join!(number(some), meanwhile);
    number(&all).await;
    assert_complete(&app, &owner, &read_all(&owner, "").await).await;
}

/// Has the outbox take the stream's record of the entry of a resource with this version.
async fn take_record(app: &TestApp, resource: &str, version: u64) {
    let (pk, sk) = (format!("HISTORY#acme#{}", last_segment(resource)), format!("{version:010}"));
    let record = json!({ "Keys": { "pk": { "S": pk }, "sk": { "S": sk } }, "SequenceNumber": "1" });
    let event = serde_json::from_value(json!({ "Records": [{ "dynamodb": record }] })).unwrap();
    let answer = outbox::handle(app.app(), event).await.unwrap();
    assert_eq!(serde_json::to_value(&answer).unwrap(), json!({ "batchItemFailures": [] }));
}

/// The fields that each event of a resource has changed, in the order of the feed.
async fn changes(owner: &Staff, resource: &str) -> Vec<Value> {
    let events = read_all(owner, &format!("resource={resource}&page_size=100")).await;
    events.iter().map(|event| event["data"]["changed"].clone()).collect()
}

#[tokio::test]
async fn questions_and_criteria_have_their_place_among_the_changes_of_their_project() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let question = owner.post(&format!("{project}questions/"), json!({ "text": "Why us?" })).await;
    let question = question.expect(201).uri("resource_uri");
    let before = owner.get(&project).await.expect(200);
    owner.patch(&project, json!({ "name": "Marketing" })).await.expect(200);
    owner.post(&format!("{project}criteria/"), json!({ "name": "Listening" })).await.expect(201);
    owner.patch(&question, json!({ "text": "Why you?" })).await.expect(200);
    owner.patch(&project, json!({ "name": "Support" })).await.expect(200);
    owner.delete(&question).await.expect(204);
    // The record of the last change comes first.
    take_record(&app, &project, 7).await;
    let [name, questions, criteria] = ["name", "questions", "criteria"].map(|field| json!([field]));
    let expected = [json!([]), questions.clone(), name.clone(), criteria, questions.clone(), name, questions];
    assert_eq!(changes(&owner, &project).await, expected);
    let last = read_all(&owner, &format!("resource={project}")).await.pop().unwrap();
    assert_eq!((&last["data"]["name"], &last["data"]["version"]), (&json!("Support"), &json!(7)));
    app.settle().await;
    assert_eq!(changes(&owner, &project).await, expected);
    // A project shows its questions nowhere but under their own URLs, so its tag stays.
    let renamed = owner.patch(&project, json!({ "name": "Marketing" })).await.expect(200);
    let tag = renamed.header("etag").unwrap().to_owned();
    assert_ne!(before.header("etag"), Some(&*tag));
    owner.post(&format!("{project}questions/"), json!({ "text": "Why now?" })).await.expect(201);
    let unchanged = Request::get(&project).header("if-none-match", &tag);
    owner.send(unchanged).await.expect(304);
    let conditional = Request::patch(&project).header("if-match", &tag).json(&json!({ "name": "Lab" }));
    owner.send(conditional).await.expect(200);
}

/// A candidate whom the owner evaluates, and the drafts of that evaluation.
struct DraftEvents {
    owner: Staff,
    ada: String,
    criterion: String,
}

impl DraftEvents {
    async fn of(app: &TestApp) -> Self {
        let owner = app.owner().await;
        let project = json!({ "evaluators": [owner.uri], "allow_hash_login": true });
        let project = owner.running_project(project).await;
        let criterion = owner.post(&format!("{project}criteria/"), json!({ "name": "Listening" })).await;
        let criterion = criterion.expect(201).uri("resource_uri");
        let ada = owner.candidate(&project, json!({})).await;
        Self { owner, ada, criterion }
    }

    /// Saves one, which is a change of the candidate.
    async fn save(&self, text: &str) {
        let ratings = json!([{ "criterion": self.criterion, "value": 3 }]);
        let own = Request::put(&format!("{}evaluations/{}/", self.ada, self.owner.id()));
        let saved = self.owner.send(own.json(&json!({ "comment": text, "ratings": ratings }))).await;
        assert!([200, 201].contains(&saved.status.as_u16()), "{saved}");
    }
}

#[tokio::test]
async fn a_draft_has_no_number_and_holds_up_no_event() {
    let app = TestApp::start().await;
    let drafts = DraftEvents::of(&app).await;
    let DraftEvents { owner, ada, .. } = &drafts;
    for number in 0..20 {
        drafts.save(&format!("Draft {number}")).await;
    }
    owner.patch(ada, json!({ "phone": "1" })).await.expect(200);
    app.settle().await;
    let events = read_all(owner, &format!("resource={ada}")).await;
    let versions: Vec<&Value> = events.iter().map(|event| &event["data"]["version"]).collect();
    assert_eq!(versions, [&json!(1), &json!(22)]);
    // An evaluator who has yet to complete their own evaluation does not see drafts.
    let history = format!("{ada}events/?page_size=100");
    assert_eq!(owner.get(&history).await.expect(200).json()["meta"]["total_count"], 2);
    let service = owner.named_token("Audit").await.1;
    assert_eq!(service.get(&history).await.expect(200).json()["meta"]["total_count"], 22);
}

#[tokio::test]
async fn numbering_costs_the_same_however_many_drafts_there_are() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let drafts = DraftEvents::of(&app).await;
    app.settle().await;
    let reads = async |version: u64| {
        chaos.measure(&app.items(), false);
        take_record(&app, &drafts.ada, version).await;
        chaos.measured().unwrap().drain().iter().map(|load| load.reads).sum::<f64>()
    };
    for number in 0..150 {
        drafts.save(&format!("Draft {number}")).await;
    }
    // The sequence and the draft.
    let mut units = 0.0;
    for version in [2, 3, 50, 151] {
        units += reads(version).await;
    }
    assert!(units <= 8.0, "{units} units for four drafts");
    // The event behind them also reads the event before them, and its project for the client's key.
    drafts.owner.patch(&drafts.ada, json!({ "phone": "1" })).await.expect(200);
    let units = reads(152).await;
    assert!(units <= 4.0, "{units} units for an event after 150 drafts");
    app.settle().await;
    assert_eq!(changes(&drafts.owner, &drafts.ada).await, [json!([]), json!(["phone"])]);
}

#[tokio::test]
async fn an_event_numbers_all_before_it_that_have_no_number() {
    let app = TestApp::start().await;
    let drafts = DraftEvents::of(&app).await;
    let DraftEvents { owner, ada, .. } = &drafts;
    // More than fit in one transaction, with drafts between them.
    for number in 0..120 {
        owner.patch(ada, json!({ "phone": number.to_string() })).await.expect(200);
        if number % 10 == 0 {
            drafts.save(&format!("Draft {number}")).await;
        }
    }
    take_record(&app, ada, 133).await;
    let events = read_all(owner, &format!("resource={ada}&page_size=100")).await;
    assert_eq!(events.len(), 121);
    assert_eq!(numbers(&events), (1..=121).collect::<Vec<_>>());
    let versions: Vec<u64> = events.iter().map(|event| event["data"]["version"].as_u64().unwrap()).collect();
    assert!(versions.is_sorted(), "{versions:?}");
    app.settle().await;
}
