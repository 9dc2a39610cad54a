//! Functions that are killed at any write to the table or the bucket. A client, Lambda or a schedule repeats the step, and
//! the end is that of an interview in which nothing was killed.

use std::cell::Cell;
use std::collections::BTreeMap;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::chaos::Chaos;
use tests::effort;
use tests::http::Request;
use tests::takes::{Interviewee, signed_part};
use tests::videos::film;
use tokio::sync::OnceCell;

/// A step in which a function is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeadlyStep {
    Begin,
    Sign,
    Finish,
    Effects,
    Conversion,
    Sweep,
    Completion,
}

/// The index of each storage in [`Story::proxies`].
const TABLE: usize = 0;
const BUCKET: usize = 1;

/// How many writes of a step come through before it is killed.
#[derive(Debug, Clone, Copy)]
struct Kill {
    step: DeadlyStep,
    /// [`TABLE`] or [`BUCKET`].
    storage: usize,
    writes: usize,
}

/// An interview in which one step may be killed.
struct Story {
    app: TestApp,
    proxies: [Chaos; 2],
    person: Interviewee,
    kill: Option<Kill>,
    /// Whether the step ended before it was killed.
    was_spared: Cell<bool>,
}

impl Story {
    async fn start(kill: Option<Kill>) -> Self {
        let (app, proxies) = TestApp::start_with_storage_chaos().await;
        let person = Interviewee::asked(&app, json!({ "takes": 3 })).await;
        app.settle().await;
        Self { app, proxies, person, kill, was_spared: Cell::new(false) }
    }

    /// Does a step and, if it was to be killed, repeats it.
    async fn step(&self, step: DeadlyStep, act: impl AsyncFn()) {
        if let Some(kill) = self.kill.filter(|kill| kill.step == step) {
            let storage = &self.proxies[kill.storage];
            storage.cut_after_writes(kill.writes);
            act().await;
            self.was_spared.set(storage.left() > Some(0));
            storage.heal();
        }
        act().await;
    }

    /// Begins a take, as a client that repeats the request does.
    async fn begin(&self, take: u64) {
        let takes = Request::post(&format!("{}takes/", self.person.answer)).json(&json!({}));
        self.person.candidate.send(takes.header("idempotency-key", &take.to_string())).await;
    }

    /// Three takes: one that the next one closes, one that is finished, and one that the sweep closes.
    async fn tell(&self) {
        let (app, person, film) = (&self.app, &self.person, film());
        let (head, tail) = film.split_at(film.len() / 2);
        self.begin(1).await;
        person.send(1, 1, &film).await;
        self.step(DeadlyStep::Begin, async || self.begin(2).await).await;
        let parts = format!("{}takes/2/parts/", person.answer);
        self.step(DeadlyStep::Sign, async || drop(person.candidate.post(&parts, signed_part(1, head)).await))
            .await;
        person.send(2, 1, head).await;
        person.send(2, 2, tail).await;
        let (take, finished) =
            (format!("{}takes/2/", person.answer), json!({ "parts": 2, "recorded_seconds": 2 }));
        self.step(DeadlyStep::Finish, async || drop(person.candidate.patch(&take, finished.clone()).await))
            .await;
        self.step(DeadlyStep::Effects, async || drop(app.events().deliver_stream().await)).await;
        // It finds what the stream has given up.
        app.clock().advance(TimeDelta::minutes(10));
        app.sweep().await;
        self.step(DeadlyStep::Conversion, async || {
            for take in [1, 2] {
                let _ = app.events().put_event(person.marker_event(take, &take.to_string())).await;
            }
        })
        .await;
        app.settle().await;
        self.begin(3).await;
        person.send(3, 1, &film).await;
        app.clock().advance(TimeDelta::hours(2));
        self.step(DeadlyStep::Sweep, async || drop(app.events().run_schedules().await)).await;
        app.settle().await;
        self.step(DeadlyStep::Completion, async || {
            drop(person.candidate.advance(&person.candidate.uri).await);
        })
        .await;
        app.settle().await;
    }

    /// All that is stored about the candidate, and the names of its objects, without what differs by chance.
    async fn dump(&self, step: DeadlyStep) -> BTreeMap<String, Value> {
        let id = last_segment(&self.person.candidate.uri);
        let mut dump = BTreeMap::new();
        for ((pk, sk), mut item) in self.app.table().snapshot().await {
            let mut key = format!("{pk}/{sk}");
            if !key.contains(id) && !item.to_string().contains(id) {
                continue;
            }
            let mut chances =
                vec!["/due_shard", "/created_by", "/origin/by/customer", "/origin/request", "/access_key"];
            // A conversion that begins again is one more write, which only versions and an entry without an event show.
            if step == DeadlyStep::Conversion && key.contains("-interview/") {
                let Some(number) = item["sequence"].as_u64() else { continue };
                key = format!("event {number}");
                chances.extend(["/sk", "/version_after", "/event_before"]);
            } else if step == DeadlyStep::Conversion {
                chances.extend(["/version", "/event_version"]);
            }
            for chance in chances {
                item.pointer_mut(chance).map(Value::take);
            }
            if step == DeadlyStep::Conversion {
                drop_conversion_numbers(&mut item);
            }
            dump.insert(self.without_ids(&key), Value::String(self.without_ids(&item.to_string())));
        }
        for key in self.app.object_keys() {
            let (number, extension) = key.rsplit_once('.').unwrap_or((&key, ""));
            let file = match number.rsplit_once('-') {
                Some((take, _)) if step == DeadlyStep::Conversion => format!("{take}.{extension}"),
                _ => key.clone(),
            };
            dump.insert(self.without_ids(&file), Value::Null);
        }
        dump
    }

    fn without_ids(&self, text: &str) -> String {
        let ids = self.person.answer.split('/').filter(|segment| segment.len() > "acme".len());
        let ids = ids.filter(|segment| segment.chars().all(|one| one.is_ascii_alphanumeric()));
        ids.chain([self.person.candidate.email.as_str()])
            .fold(text.to_owned(), |text, id| text.replace(id, "…"))
    }
}

/// Takes the numbers of conversions out of an item, which go on when one begins again.
fn drop_conversion_numbers(item: &mut Value) {
    match item {
        Value::Object(fields) => {
            fields.retain(|name, _| !["last_conversion", "played_conversion"].contains(&name.as_str()));
            fields.values_mut().for_each(drop_conversion_numbers);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_conversion_numbers),
        _ => {}
    }
}

/// The stored end of an interview in which nothing is killed: the same for all tests, so that it is computed once.
async fn undisturbed(step: DeadlyStep) -> &'static BTreeMap<String, Value> {
    static OF_CONVERSION: OnceCell<BTreeMap<String, Value>> = OnceCell::const_new();
    static OF_OTHERS: OnceCell<BTreeMap<String, Value>> = OnceCell::const_new();
    let end = if step == DeadlyStep::Conversion { &OF_CONVERSION } else { &OF_OTHERS };
    let tell = async || {
        let story = Story::start(None).await;
        story.tell().await;
        let keys = story.app.object_keys();
        let names: Vec<&str> = keys.iter().map(|key| last_segment(key)).collect();
        assert_eq!(names, ["2-1.jpg", "2-1.mp4", "3-1.jpg", "3-1.mp4", "0001"]);
        story.dump(step).await
    };
    end.get_or_init(tell).await
}

/// Kills a step after each write to a storage in turn.
async fn assert_same_end(step: DeadlyStep, storage: usize) {
    let expected = undisturbed(step).await;
    for writes in effort::numbers(3) {
        let kill = Kill { step, storage, writes };
        let story = Story::start(Some(kill)).await;
        story.tell().await;
        let dump = story.dump(step).await;
        for (key, item) in &dump {
            assert_eq!(expected.get(key), Some(item), "{kill:?} {key}");
        }
        assert_eq!(dump.len(), expected.len(), "{kill:?}");
        if story.was_spared.get() {
            break;
        }
    }
}

macro_rules! killed_steps {
    ($($name:ident: $step:ident),* $(,)?) => {
        $(mod $name {
            use super::{BUCKET, DeadlyStep, TABLE, assert_same_end};

            #[tokio::test]
            async fn at_any_write_to_the_table() {
                assert_same_end(DeadlyStep::$step, TABLE).await;
            }

            #[tokio::test]
            async fn at_any_write_to_the_bucket() {
                assert_same_end(DeadlyStep::$step, BUCKET).await;
            }
        })*
    };
}

killed_steps! {
    beginning_a_take: Begin,
    signing_parts: Sign,
    finishing_a_take: Finish,
    starting_conversions: Effects,
    converting_takes: Conversion,
    closing_abandoned_takes: Sweep,
    completing_the_interview: Completion,
}
