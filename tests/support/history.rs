//! Checks that the histories in a table are complete and its events are numbered correctly.

use std::collections::{BTreeMap, BTreeSet};

use shared::domain::company::usage::{ClosedUsage, UsageByMonth, UsageCounts};
use shared::domain::effect::{Effect, EffectTask};
use shared::domain::history::{EventMark, HistoryEntry, ResourceRef};
use shared::store::EventSequence;

use crate::table::{Item, Key, PAST_RULES, read, string};

/// A restore raises versions and numbers by more than this, so that none is used twice.
const JUMP: u64 = 500_000;

/// The histories of a table, by partition key.
#[derive(Default)]
pub(crate) struct Histories {
    entries: BTreeMap<String, BTreeMap<u64, HistoryEntry>>,
    /// The version of each resource, and whether a test wrote the resource directly.
    resources: BTreeMap<String, (u64, bool)>,
    /// The event sequence of each company.
    last: BTreeMap<String, EventSequence>,
    /// The usage of each company in closed months.
    closed: BTreeMap<String, UsageByMonth>,
    /// Imported companies: an archive contains only history entries that are events.
    imported: BTreeSet<String>,
    /// The histories of people whom effects still have to erase.
    unerased: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Histories {
    /// Adds an item: a resource with a history, a history entry, or a company's event sequence.
    pub(crate) fn add(&mut self, key: &Key, item: &Item) {
        let (pk, sk) = key;
        let number = |name: &str| item.get(name).and_then(|value| value.as_n().ok()?.parse::<u64>().ok());
        if pk.starts_with("HISTORY#") {
            self.add_entry(key, item);
        } else if sk == "EFFECT" {
            let effect: Effect = read(item);
            if let EffectTask::Erased { erased, .. } = effect.task {
                let history = ResourceRef::from(erased).history_id(&effect.company);
                self.unerased.insert(format!("HISTORY#{}#{history}", effect.company));
            }
        } else if sk == "IMPORT" {
            self.imported.insert(pk.replacen("COMPANY#", "", 1));
        } else if sk == "USAGE" {
            let closed: ClosedUsage = read(item);
            self.closed.insert(closed.company.to_string(), closed.usage);
        } else if sk == "SEQUENCE" {
            self.last.insert(pk.replacen("COMPANY#", "", 1), read(item));
        } else if let (Some(history), Some(version)) = (history_of(key), number("version")) {
            self.resources.insert(history, (version, item.contains_key(PAST_RULES)));
        }
    }

    fn add_entry(&mut self, (pk, sk): &Key, item: &Item) {
        let entry: HistoryEntry = read(item);
        let place = [item.get("by_status_pk"), item.get("by_status_sk")];
        let company = &entry.change.company;
        let expected = entry
            .sequence
            .map(|number| [string(format!("COMPANY#{company}#EVENTS")), string(format!("{number:020}"))]);
        if place != expected.as_ref().map_or([None, None], |[pk, sk]| [Some(pk), Some(sk)]) {
            self.wrong.push(format!("{pk} {sk} stands in the index at {place:?}"));
        }
        if *sk != format!("{:010}", entry.version_after) {
            self.wrong.push(format!("{pk} {sk} is of version {}", entry.version_after));
        }
        self.entries.entry(pk.clone()).or_default().insert(entry.version_after, entry);
    }

    /// The problems: missing versions and numbers, events whose order differs from that of their versions, and deleted
    /// candidates whom no effect erases.
    pub(crate) fn problems(mut self) -> Vec<String> {
        let is_whole = |history: &str| {
            let company = history.split('#').nth(1).unwrap_or_default();
            !self.imported.contains(company)
        };
        for (history, (version, is_past_rules)) in self.resources.iter().filter(|(one, _)| is_whole(one)) {
            let last = self.entries.get(history).and_then(|entries| entries.keys().last());
            if last != Some(version) && !(last.is_none() && *is_past_rules) {
                self.wrong.push(format!("{history} ends with version {last:?} of {version}"));
            }
        }
        // For a deleted resource, it is unknown whether a test wrote its history directly.
        let has_past_rules = self.resources.values().any(|(_, is_past_rules)| *is_past_rules);
        for (history, entries) in &self.entries {
            let resource = self.resources.get(history);
            let is_past_rules = resource.map_or(has_past_rules, |(_, is_past_rules)| *is_past_rules);
            let before = entries.keys().next().filter(|_| is_past_rules).map_or(0, |first| first - 1);
            // The history of an export records only its success and its deletion.
            let is_export =
                entries.values().any(|entry| matches!(entry.change.resource, ResourceRef::Export { .. }));
            let missing = gap(before, entries.keys().copied());
            if let Some(missing) = missing.filter(|_| is_whole(history) && !is_export) {
                self.wrong.push(format!("{history} has no version {missing}"));
            }
            if let Some(stray) = stray(before, entries.values()) {
                self.wrong.push(format!("{history} has another event before version {stray}"));
            }
            let events = entries.values().filter(|entry| entry.is_event());
            // Sort events without a number last.
            let numbers: Vec<u64> = events.map(|event| event.sequence.unwrap_or(u64::MAX)).collect();
            if !numbers.is_sorted() {
                self.wrong.push(format!("{history} has events in another order: {numbers:?}"));
            }
            let is_deletion =
                |entry: &HistoryEntry| entry.change.types.iter().any(|name| name.ends_with(".deleted"));
            // An erasure must follow a deletion, unless a restore has undone the deletion.
            let mut before = None;
            for entry in entries.values() {
                if entry.is_erasure() && before.is_some_and(|before| !is_deletion(before)) {
                    self.wrong.push(format!("{history} tells of an erasure without a deletion"));
                }
                before = Some(entry);
            }
            let was_deleted = before.is_some_and(|last| last.is_erasure() || is_deletion(last));
            // The deletion of an interview is recorded only in the candidate's history.
            let is_interview =
                before.is_some_and(|last| matches!(last.change.resource, ResourceRef::Interview { .. }));
            if !is_interview && !is_export && was_deleted == self.resources.contains_key(history) {
                self.wrong.push(format!("{history} tells of a deletion: {was_deleted}"));
            }
            let is_candidate =
                before.is_some_and(|last| matches!(last.change.resource, ResourceRef::Candidate { .. }));
            if is_candidate && before.is_some_and(is_deletion) && !self.unerased.contains(history) {
                self.wrong.push(format!("{history} ends with a deletion, and no effect erases the rest"));
            }
        }
        let mut feeds = BTreeMap::<String, BTreeMap<u64, &HistoryEntry>>::new();
        for entry in self.entries.values().flat_map(BTreeMap::values) {
            let feed = feeds.entry(entry.change.company.to_string()).or_default();
            feed.extend(entry.sequence.map(|number| (number, entry)));
        }
        for (company, feed) in &feeds {
            let open = self.last.get(company).map(|sequence| sequence.usage.clone()).unwrap_or_default();
            let counted = self.closed.get(company).cloned().unwrap_or_default().replaced_by(open);
            self.wrong.extend(wrong_usage(company, &counted, feed.values().copied()));
        }
        for (company, feed) in feeds {
            let (last, last_event) =
                self.last.get(&company).map_or((0, None), |sequence| (sequence.last, sequence.last_event));
            let gap = gap(0, feed.keys().copied());
            let last_number = feed.keys().last().copied().unwrap_or_default();
            if gap.is_some() || !(last >= last_number + JUMP || last_number == last) {
                self.wrong.push(format!("{company} has given {last} numbers; {gap:?} is missing"));
            }
            let mut predecessor = None;
            for (number, event) in feed {
                if event.predecessor != predecessor {
                    self.wrong.push(format!("{company} has {predecessor:?} before number {number}"));
                }
                predecessor = Some(EventMark { number, expires_at: event.expires_at });
            }
            if last_event != predecessor {
                self.wrong
                    .push(format!("{company} has {predecessor:?} as its last event, not {last_event:?}"));
            }
        }
        self.wrong
    }
}

/// The problem with a company's usage, given its numbered events.
fn wrong_usage<'a>(
    company: &str,
    counted: &UsageByMonth,
    events: impl Iterator<Item = &'a HistoryEntry>,
) -> Option<String> {
    // An earlier release counted no usage.
    if counted.is_empty() {
        return None;
    }
    let mut expected = UsageByMonth::default();
    for event in events {
        expected.count(event, event.numbered_at.unwrap_or_default());
    }
    // Ignore durations: events of erased people no longer contain them.
    let bare = |usage: &UsageByMonth| -> Vec<_> {
        usage
            .months()
            .map(|(month, counts)| (month, UsageCounts { seconds_converted: 0, ..counts }))
            .collect()
    };
    let seconds =
        |usage: &UsageByMonth| usage.months().map(|(_, counts)| counts.seconds_converted).sum::<u64>();
    let is_right = bare(counted) == bare(&expected) && seconds(counted) >= seconds(&expected);
    (!is_right).then(|| format!("{company} has used {counted:?}, its events say {expected:?}"))
}

/// The first missing number after `before`, except numbers that a restore skips.
fn gap(before: u64, numbers: impl Iterator<Item = u64>) -> Option<u64> {
    let mut last = before;
    for number in numbers {
        if number != last + 1 && number < last + JUMP {
            return Some(last + 1);
        }
        last = number;
    }
    None
}

/// The first version after `start` that does not name its preceding event.
fn stray<'a>(start: u64, entries: impl Iterator<Item = &'a HistoryEntry>) -> Option<u64> {
    let mut version = start;
    let mut event = (start == 0).then_some(None);
    for entry in entries {
        // The preceding event is unknown before the start, and before an item that was put back.
        event = event.filter(|_| entry.version_after < version + JUMP);
        if event.is_some_and(|event| event != entry.event_before) {
            return Some(entry.version_after);
        }
        version = entry.version_after;
        event = if entry.is_event() { Some(Some(version)) } else { event };
    }
    None
}

/// The history of the resource with this key; `None` for other items.
fn history_of((pk, sk): &Key) -> Option<String> {
    if let Some((company, _)) = pk.strip_prefix("ANSWERS#").and_then(|place| place.split_once('#')) {
        return Some(format!("HISTORY#{company}#{sk}-interview"));
    }
    if let Some(company) = pk.strip_prefix("VIDEOS#") {
        return Some(format!("HISTORY#{company}#{sk}"));
    }
    let place = pk.strip_prefix("COMPANY#")?;
    let (kind, id) = sk.split_once('#').unwrap_or((sk, ""));
    match (place.split_once('#'), kind) {
        (None, "COMPANY") => Some(format!("HISTORY#{place}#{place}")),
        (None, "RETENTION") if id.is_empty() => Some(format!("HISTORY#{place}#RETENTION")),
        (None, "SIGN_IN") => Some(format!("HISTORY#{place}#SIGN_IN")),
        (None, "CUSTOMER" | "PROJECT" | "LABEL" | "TOKEN" | "WEBHOOK") => {
            Some(format!("HISTORY#{place}#{id}"))
        }
        (Some((company, _)), "CANDIDATE") => Some(format!("HISTORY#{company}#{id}")),
        _ => None,
    }
}
