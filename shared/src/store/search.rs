//! The entries by which a candidate is found, written and erased along with it, and what they lead to.
//!
//! Each stands in the partition of its project and, by an index, in that of its company and first letter, so that both
//! who sees all projects and who sees some reads nothing in vain. It repeats all words of its candidate, so that several
//! words cost no more than one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use futures_util::future::try_join_all;

use super::Store;
use super::candidate::Placed;
use super::item::{self, Item, string};
use super::keys::{self, Key, SEARCH, SEARCH_PK, SEARCH_SK};
use super::retry::Failure;
use super::transaction::Transaction;
use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::search::{MAX_RESULTS, MAX_WORDS, Source, Terms, words_of};
use crate::error::Result;

/// The attribute of an entry that holds all words of its candidate.
pub(super) const WORDS: &str = "words";
/// The most entries that a search looks at in one place: even if each result had all its words there, they are enough.
const LOOKED_AT: usize = MAX_RESULTS * MAX_WORDS;
/// How many entries are read first for a single word; more if they lead to too few candidates.
const AT_FIRST: usize = 2 * MAX_RESULTS;
/// How many places are read at once.
const AT_ONCE: usize = 32;

/// The words of a candidate, and where each comes from.
pub(super) type Words = BTreeMap<String, Source>;

/// An entry that was found, in the order in which results are shown: full names, other names, addresses; then by the word,
/// and so whole words before longer ones; then the newest candidate first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    source: Source,
    word: String,
    candidate: Reverse<CandidateId>,
    project: ProjectId,
}

/// Where entries stand.
#[derive(Clone)]
enum Place<'a> {
    Company(&'a CompanyId),
    Project(&'a CompanyId, ProjectId),
}

/// The item of an entry, one of the `words` of a candidate.
pub(super) fn entry(candidate: &Candidate, (word, source): (&str, Source), words: &Words) -> (Key, Item) {
    let key = keys::search_entry(&candidate.company, (word, source), candidate.project, candidate.id);
    let all: Vec<&str> = words.keys().map(String::as_str).filter(|word| !word.contains(' ')).collect();
    let attributes = Item::from([
        (SEARCH_PK.to_owned(), string(keys::search_letter(&candidate.company, word))),
        (SEARCH_SK.to_owned(), string(&key.sk)),
        (WORDS.to_owned(), string(all.join(" "))),
    ]);
    (key, attributes)
}

impl Transaction {
    /// Makes the search entries those of `after` where they were those of `before`.
    pub(super) fn search_entries(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) {
        let words = |candidate: Option<&Candidate>| -> Words {
            candidate.map(|candidate| words_of(&candidate.profile)).unwrap_or_default()
        };
        let (old, new) = (words(before), words(after));
        if old == new {
            return;
        }
        for (before, (word, source)) in
            before.into_iter().flat_map(|before| old.iter().map(move |word| (before, word)))
        {
            if new.get(word) != Some(source) {
                self.delete_derived(keys::search_entry(
                    &before.company,
                    (word, *source),
                    before.project,
                    before.id,
                ));
            }
        }
        // The others as well: each of them repeats all words.
        for (after, (word, source)) in
            after.into_iter().flat_map(|after| new.iter().map(move |word| (after, word)))
        {
            let (key, attributes) = entry(after, (word, *source), &new);
            self.put_derived(key, attributes);
        }
    }
}

impl Store {
    /// What `terms` find in a whole company, best first, several entries of one candidate included.
    pub async fn search_company(&self, company: &CompanyId, terms: &Terms) -> Result<Vec<Hit>> {
        self.search(vec![Place::Company(company)], terms).await
    }

    /// The same in some projects only.
    pub async fn search_projects(
        &self,
        company: &CompanyId,
        projects: &[ProjectId],
        terms: &Terms,
    ) -> Result<Vec<Hit>> {
        self.search(projects.iter().map(|project| Place::Project(company, *project)).collect(), terms).await
    }

    async fn search(&self, places: Vec<Place<'_>>, terms: &Terms) -> Result<Vec<Hit>> {
        let reads: Vec<(Place<'_>, Source)> =
            places.into_iter().flat_map(|place| Source::ALL.map(|source| (place.clone(), source))).collect();
        let mut hits = Vec::new();
        for reads in reads.chunks(AT_ONCE) {
            let reads = reads.iter().map(|(place, source)| self.search_in(place, *source, terms));
            hits.extend(try_join_all(reads).await?.into_iter().flatten());
        }
        hits.sort();
        Ok(hits)
    }

    /// The best entries from one source in one place that `terms` find, enough for all results.
    async fn search_in(&self, place: &Place<'_>, source: Source, terms: &Terms) -> Result<Vec<Hit>> {
        let Some(begins) = terms.start(source) else { return Ok(Vec::new()) };
        let mut hits = Vec::new();
        let mut candidates = HashSet::new();
        let (mut looked_at, mut start) = (0, None);
        loop {
            let limit =
                if terms.is_lead_alone() && looked_at == 0 { AT_FIRST } else { LOOKED_AT - looked_at };
            let (items, last) = self
                .with_retries(|| self.read_entries(place, (source, &begins), limit, start.clone()))
                .await?;
            looked_at += items.len();
            for item in items {
                let key = item::key_of(&item)?;
                let words = item.get(WORDS).and_then(|words| words.as_s().ok()).map_or("", String::as_str);
                let entry =
                    keys::in_search_entry(&key).ok_or_else(|| item::unreadable(&item, "a strange key"));
                let Some((word, source, project, candidate)) = item::or_skipped(entry)? else { continue };
                if candidates.len() < MAX_RESULTS && terms.are_in(words.split(' ')) {
                    candidates.insert(candidate);
                    hits.push(Hit { source, word: word.to_owned(), candidate: Reverse(candidate), project });
                }
            }
            start = last;
            if start.is_none() || looked_at >= LOOKED_AT || candidates.len() == MAX_RESULTS {
                return Ok(hits);
            }
        }
    }

    async fn read_entries(
        &self,
        place: &Place<'_>,
        (source, begins): (Source, &str),
        limit: usize,
        start: Option<Item>,
    ) -> Result<(Vec<Item>, Option<Item>), Failure> {
        let query = self.client().query().table_name(self.table());
        let (query, pk, sk, partition) = match place {
            Place::Company(c) => {
                (query.index_name(SEARCH), SEARCH_PK, SEARCH_SK, keys::search_letter(c, begins))
            }
            Place::Project(c, p) => {
                (query.consistent_read(true), keys::PK, keys::SK, keys::search_words(c, *p))
            }
        };
        let response = query
            .key_condition_expression(format!("{pk} = :pk AND begins_with({sk}, :start)"))
            .expression_attribute_values(":pk", string(partition))
            .expression_attribute_values(":start", string(keys::search_prefix(source, begins)))
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(Failure::of)?;
        self.usage.count_reads(response.consumed_capacity());
        Ok((response.items.unwrap_or_default(), response.last_evaluated_key))
    }

    /// The candidates that the best `hits` lead to, with their projects, those left out that `terms` no longer find.
    pub async fn matches(&self, company: &CompanyId, hits: Vec<Hit>, terms: &Terms) -> Result<Vec<Placed>> {
        let mut seen = HashSet::new();
        let hits = hits.into_iter().filter(|hit| seen.insert(hit.candidate)).take(MAX_RESULTS);
        let ids: Vec<(ProjectId, CandidateId)> = hits.map(|hit| (hit.project, hit.candidate.0)).collect();
        let mut found = self.placed_candidates(company, &ids).await?;
        // An entry that was read may be of a moment ago.
        found.retain(|Placed { candidate, .. }| {
            terms.are_in(words_of(&candidate.profile).keys().map(String::as_str))
        });
        Ok(found)
    }
}
