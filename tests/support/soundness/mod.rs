//! Checks that a table is sound: it contains exactly the items and counts that follow from its companies and what they
//! own.
//!
//! Every [`TestApp`](crate::app::TestApp) checks its table when it is dropped at the end of its test.

mod expected;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use embedded::Backend;
use serde_json::Value;

use crate::erased::is_of_erased;
use crate::table::{Contents, Item, Key, key_of};

use self::expected::{Attributes, Expected};

/// Checks a table when dropped.
pub(crate) struct SoundAtEnd {
    backend: &'static Backend,
    table: String,
    excuse: OnceLock<&'static str>,
}

impl SoundAtEnd {
    pub(crate) fn new(backend: &'static Backend, table: String) -> Self {
        Self { backend, table, excuse: OnceLock::new() }
    }

    /// Allows the test to end with an unsound table.
    pub(crate) fn excuse(&self, reason: &'static str) {
        self.excuse.get_or_init(|| reason);
    }

    /// # Panics
    /// With all problems.
    pub(crate) fn check(&self) {
        let wrong = self.problems();
        assert!(wrong.is_empty(), "the table is not sound:\n{}", wrong.join("\n"));
    }

    /// Reads the table without the test's runtime, which cannot run tasks during a drop.
    fn problems(&self) -> Vec<String> {
        let items = self.backend.items(&self.table).expect("a scan");
        let item =
            |json: Value| Item::from(serde_json::from_value::<serde_dynamo::Item>(json).expect("an item"));
        let mut problems =
            problems_of(&items.into_iter().map(item).map(|item| (key_of(&item), item)).collect());
        // All tests of the process share the mailbox, so it contains every kind of mail.
        let mails = self.backend.mailbox().all();
        let answered = mails.iter().filter(|mail| mail.header("Auto-Submitted") != Some("auto-generated"));
        problems.extend(answered.map(|mail| format!("absence notes answer the mail {:?}", mail.subject)));
        problems
    }
}

impl Drop for SoundAtEnd {
    fn drop(&mut self) {
        if std::thread::panicking() || self.excuse.get().is_some() {
            return;
        }
        // The runtime ignores the panic of a task that outlives its test, e.g. of a test's server, so abort the
        // process.
        if tokio::task::try_id().is_some() && !self.problems().is_empty() {
            eprintln!("{}", self.problems().join("\n"));
            std::process::abort();
        }
        self.check();
    }
}

/// Imported companies that have not started. Nothing of them may be due.
fn waiting(items: &Contents) -> BTreeSet<String> {
    let has_started = |item: &Item| item.get("started_at").is_some_and(|at| at.is_s());
    let imports = items.iter().filter(|((_, sk), item)| sk == "IMPORT" && !has_started(item));
    imports.map(|((pk, _), _)| pk.trim_start_matches("COMPANY#").to_owned()).collect()
}

/// Returns the problems of counter shards, logins, clients' keys, search entries, memberships, shares, label texts,
/// token values, guest links, index entries and histories.
fn problems_of(items: &Contents) -> Vec<String> {
    let mut expected = Expected::besides(waiting(items));
    for (key, item) in items {
        expected.add(key, item);
    }
    let mut wrong = Vec::new();
    // Skip evaluations of deleted candidates, which wait for the outbox.
    for evaluation in &expected.evaluations {
        if let Some(score) = expected.scores.get(&(evaluation.candidate, evaluation.evaluator))
            && (&score.rated, score.veto)
                != (&evaluation.values(), evaluation.veto.as_ref().map(|veto| veto.id))
        {
            wrong.push(format!("{score:?} is not the score of {evaluation:?}"));
        }
    }
    wrong.extend(expected.unknown_guest_links());
    for (key, item) in items {
        match expected.items.remove(key) {
            Some(attributes) => {
                let (stored, attributes) = (derived(key, item), not_zero(attributes));
                if stored != attributes {
                    wrong.push(format!("{key:?} says {stored:?}, recounted {attributes:?}"));
                }
            }
            // The login name of an address that can no longer be restored waits for its expiry in DynamoDB.
            None if key.0.starts_with("LOGIN#") && item.contains_key("expires_at") => {}
            None if !is_primary(key) => wrong.push(format!("{key:?} follows from nothing")),
            None => {}
        }
    }
    let is_empty = |attributes: &Attributes| attributes.is_empty();
    // Counter items that have never counted anything need not exist.
    expected.items.retain(|(_, sk), attributes| !(sk == "TALLY" && is_empty(attributes)));
    wrong.extend(expected.items.keys().map(|key| format!("{key:?} is missing")));
    wrong.extend(expected.wrong);
    wrong.extend(expected.histories.problems());
    wrong.extend(expected.erased.problems());
    wrong
}

/// Whether the item is not derived from other items.
fn is_primary((pk, sk): &Key) -> bool {
    let kinds = [
        "COMPANY",
        "ERASURE",
        "IMPORT",
        "RECEIPT_KEY#",
        "CUSTOMER#",
        "PROJECT#",
        "CANDIDATE#",
        "INTERVIEW",
        "LABEL#",
        "TOKEN#",
        "RETENTION",
        "SIGN_IN",
        "SEQUENCE",
        "USAGE",
        "WEBHOOK#",
    ];
    let own = pk.starts_with("COMPANY#") && kinds.iter().any(|kind| sk.starts_with(kind));
    let by_itself = [
        "BULK#",
        "SESSION#",
        "EXCHANGED#",
        "EFFECT#",
        "EVENT#",
        "EXPORTS#",
        "IDEMPOTENCY#",
        "RESET#",
        "UPLOAD#",
        "HISTORY#",
        "ANSWERS#",
        "GUESTS#",
        "VIDEOS#",
        "CONVERSIONS",
        "NOTICES#",
    ]
    .iter()
    .any(|kind| pk.starts_with(kind));
    // A deleted webhook leaves these items to expire.
    let of_webhook = pk.starts_with("WEBHOOK#") && sk != "CURSOR";
    by_itself
        || of_webhook
        || pk.ends_with("#EVALUATIONS")
        || sk == "FAILURES"
        || (own && !pk.contains("#CUSTOMER#"))
}

/// The attributes that are derived from other items: counters that are not zero, the status repeated in a shard, the
/// targets of shares and clients' keys, and the index attributes of search entries.
fn derived((pk, sk): &Key, item: &Item) -> Attributes {
    let attributes: Attributes = serde_dynamo::from_item(item.clone()).expect("JSON");
    let is_derived = |name: &str| match name {
        "customers" | "owners" | "labels" | "named_tokens" | "trusts" | "project_status" => true,
        "videos" | "webhooks" => sk == "TALLY",
        "project" | "candidate" => sk.starts_with("SHARE#") || pk.starts_with("EXTERNAL#"),
        "by" | "vetos" => sk.starts_with("RESULT#"),
        "search_pk" | "search_sk" | "words" => true,
        name if is_of_erased(name) => false,
        _ => name.contains(':'),
    };
    not_zero(attributes.into_iter().filter(|(name, _)| is_derived(name)).collect())
}

fn not_zero(mut attributes: Attributes) -> Attributes {
    attributes.retain(|_, value| *value != 0);
    attributes
}
