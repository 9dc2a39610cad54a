//! Checks that counts of erased candidates match the histories.

use std::collections::BTreeMap;

use shared::domain::history::{HistoryEntry, ResourceRef};
use shared::domain::transition::project_counts::{CounterName, ProjectCounts, shard_of};

use crate::table::{Item, Key, read};

/// Whether an attribute of a counter shard counts erased candidates.
pub(crate) fn is_of_erased(attribute: &str) -> bool {
    attribute.parse::<CounterName>().is_ok_and(CounterName::is_of_erased)
}

/// The deletions in histories, and the counts of erased candidates in counter shards.
#[derive(Default)]
pub(crate) struct ErasedCandidates {
    /// The number of deletions by shard key.
    deletions: BTreeMap<Key, i64>,
    shards: BTreeMap<Key, ProjectCounts>,
    /// The ratings in statistics, by the partition key of a project's shards.
    shown: BTreeMap<String, i64>,
}

impl ErasedCandidates {
    /// Adds a history entry or a counter shard.
    pub(crate) fn add(&mut self, key: &Key, item: &Item) {
        let (pk, sk) = key;
        if pk.starts_with("HISTORY#") {
            self.add_entry(&read(item));
        } else if sk.starts_with("TALLY#") {
            let number = |name: &String| item.get(name).and_then(|value| value.as_n().ok()?.parse().ok());
            let counts = item.keys().filter_map(|name| Some((name.parse().ok()?, number(name)?)));
            self.shards.insert(key.clone(), counts.collect());
            *self.shown.entry(pk.clone()).or_default() +=
                number(&"ratings_shown".to_owned()).unwrap_or_default();
        }
    }

    fn add_entry(&mut self, entry: &HistoryEntry) {
        if let ResourceRef::Candidate { project, candidate } = entry.change.resource
            && entry.is_deletion()
        {
            let partition = format!("COMPANY#{}#PROJECT#{project}", entry.change.company);
            *self.deletions.entry((partition, format!("TALLY#{}", shard_of(candidate)))).or_default() += 1;
        }
    }

    /// The problems: deletions that are not counted exactly once, ratings of no candidate, and statistics with ratings
    /// that are not counted.
    pub(crate) fn problems(self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut projects = BTreeMap::<String, ProjectCounts>::new();
        for (key, shard) in self.shards {
            let (mut erased, mut rated, mut interviewed) = (0, 0, 0);
            for (counter, count) in shard.iter() {
                match counter {
                    CounterName::Erased(status) => {
                        erased += count;
                        interviewed += if status.as_str() == "interviewed" { count } else { 0 };
                    }
                    CounterName::ErasedRating(_) => rated += count,
                    _ => {}
                }
                projects.entry(key.0.clone()).or_default().add(counter, count);
            }
            let deletions = self.deletions.get(&key).copied().unwrap_or_default();
            if erased != deletions || rated > interviewed {
                wrong.push(format!(
                    "{key:?} counts {erased} deletions of {deletions}, {rated} ratings of {interviewed}"
                ));
            }
        }
        for (project, counts) in projects {
            let pairs = (0..=10).map(|rating| {
                let [shown, erased] = [CounterName::ShownRating(rating), CounterName::ErasedRating(rating)];
                (counts.get(shown), counts.get(erased))
            });
            let pairs: Vec<_> = pairs.collect();
            let shown: i64 = pairs.iter().map(|(shown, _)| shown).sum();
            let noted = self.shown.get(&project).copied().unwrap_or_default();
            if pairs.iter().any(|(shown, erased)| shown > erased) || shown % 10 != 0 || shown != noted {
                wrong.push(format!("{project} shows ratings {pairs:?}, and says {noted}"));
            }
        }
        wrong
    }
}
