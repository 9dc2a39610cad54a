//! Search entries, written and deleted with their candidates, and the searches that read them.
//!
//! Each entry is in two partitions: in the table, of its project, source and first letter; in the index `search`, of
//! its company and first letter. So callers who see some projects and those who see all both read only what they may
//! see, with one query per source. An entry repeats all words of its candidate, so that a search for several terms
//! needs no more queries than for one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use futures_util::future::try_join_all;

use crate::domain::candidate::Candidate;
use crate::domain::candidate::search_words::{MAX_RESULTS, MAX_WORDS, SearchTerms, WordSource};
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::secret::SecretHash;
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, string};
use crate::store::table::keys::{self, ItemKey, SEARCH, TABLE};
use crate::store::table::read::projection::ProjectionExpression;
use crate::store::table::read::query::Query;
use crate::store::table::write::transaction::Transaction;

/// The attribute that holds all words of the candidate.
pub(in crate::store) const WORDS: &str = "words";
/// The attributes of an entry that a search reads.
const ENTRY: ProjectionExpression = ProjectionExpression::new("pk, sk, words", &[]);
/// The most entries that a search reads for one query.
// Enough even if the entries for all words of every result are among them.
const LOOKED_AT: usize = MAX_RESULTS * MAX_WORDS;
/// The most entries that the first call for a single word reads. More calls follow if these have too few candidates.
const AT_FIRST: usize = 2 * MAX_RESULTS;
/// The most concurrent queries.
pub(in crate::store) const AT_ONCE: usize = 32;

pub(in crate::store) type SearchWords = BTreeMap<String, WordSource>;

/// An entry that a search has found. Entries sort like results: full names, other names, email addresses; then by word,
/// so that whole words come before longer ones; then the newest candidate first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SearchHit {
    source: WordSource,
    word: String,
    pub(in crate::store) candidate: Reverse<CandidateId>,
    pub(in crate::store) project: ProjectId,
}

/// The search entries of a candidate: one for each of its `words`.
pub(in crate::store) fn entries(candidate: &Candidate, words: &SearchWords) -> Vec<(ItemKey, Item)> {
    let all: Vec<&str> = words.keys().map(String::as_str).filter(|word| !word.contains(' ')).collect();
    let all = all.join(" ");
    let entry = |(word, source): (&String, &WordSource)| {
        let key = keys::search::entry(&candidate.company, word, *source, candidate.project, candidate.id);
        // With room for the key.
        let mut attributes = Item::with_capacity(5);
        attributes
            .insert(SEARCH.pk.to_owned(), string(keys::search::letter_partition(&candidate.company, word)));
        attributes.insert(SEARCH.sk.to_owned(), string(&key.sk));
        attributes.insert(WORDS.to_owned(), string(&all));
        (key, attributes)
    };
    words.iter().map(entry).collect()
}

/// The hash that the log shows instead of an entry's key, because the key holds a word of a name or address.
pub(in crate::store) fn hash_of(key: &ItemKey) -> String {
    SecretHash::of(&key.sk).as_str().to_owned()
}

/// One query per source. `partition` chooses where to read, given the source and the start of the words.
fn queries(
    terms: &SearchTerms,
    partition: impl Fn(WordSource, &str) -> Query,
) -> impl Iterator<Item = (WordSource, Query)> {
    WordSource::ALL.into_iter().filter_map(move |source| {
        let start = terms.start(source)?;
        Some((source, partition(source, &start).starting_with(keys::search::sort_prefix(source, &start))))
    })
}

impl Transaction {
    pub(in crate::store) fn search_entries(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) {
        let words = |candidate: Option<&Candidate>| -> SearchWords {
            candidate.map(|candidate| candidate.words()).unwrap_or_default()
        };
        let old = words(before);
        let new = words(after);
        // Each entry repeats all words, so any change rewrites all entries.
        if old == new {
            return;
        }
        if let Some(Candidate { company, project, id, .. }) = before {
            for (word, source) in old.iter().filter(|(word, source)| new.get(*word) != Some(*source)) {
                self.delete_derived(keys::search::entry(company, word, *source, *project, *id));
            }
        }
        if let Some(after) = after {
            // Entries of unchanged words as well, since each repeats all words.
            for (key, attributes) in entries(after, &new) {
                self.put_derived(key, attributes);
            }
        }
    }
}

impl Store {
    /// The entries of a whole company that match `terms`, best first. A candidate may have several.
    pub async fn search_company(&self, company: &CompanyId, terms: &SearchTerms) -> Result<Vec<SearchHit>> {
        let queries = queries(terms, |_, start| {
            Query::new(SEARCH, string(keys::search::letter_partition(company, start)))
        });
        self.search(queries.collect(), terms).await
    }

    /// The entries of these projects that match `terms`, best first. A candidate may have several.
    pub async fn search_projects(
        &self,
        company: &CompanyId,
        projects: &[ProjectId],
        terms: &SearchTerms,
    ) -> Result<Vec<SearchHit>> {
        let places = projects.iter().flat_map(|project| {
            queries(terms, |source, start| {
                Query::new(TABLE, string(keys::search::partition(company, *project, source, start)))
            })
        });
        self.search(places.collect(), terms).await
    }

    async fn search(&self, queries: Vec<(WordSource, Query)>, terms: &SearchTerms) -> Result<Vec<SearchHit>> {
        let mut hits = Vec::new();
        for queries in queries.chunks(AT_ONCE) {
            let reads = queries.iter().map(|(source, query)| self.search_in(*source, query.clone(), terms));
            hits.extend(try_join_all(reads).await?.into_iter().flatten());
        }
        hits.sort();
        Ok(hits)
    }

    /// The best entries of a query that match `terms`, enough to fill the results.
    async fn search_in(
        &self,
        source: WordSource,
        mut query: Query,
        terms: &SearchTerms,
    ) -> Result<Vec<SearchHit>> {
        let mut hits = Vec::new();
        let mut candidates = HashSet::new();
        let mut looked_at = 0;
        query.attributes = ENTRY;
        loop {
            let is_first = looked_at == 0 && terms.is_lead_alone();
            // For one word, a few entries have enough candidates. Several terms need more entries, because most match only one of them.
            query.limit = Some(if is_first { AT_FIRST } else { LOOKED_AT - looked_at });
            let found = self.query(&query).await?;
            looked_at += found.rows.len();
            for item in found.rows {
                let key = item::key_of(&item)?;
                let words = item.get(WORDS).and_then(|words| words.as_s().ok()).map_or("", String::as_str);
                let entry = keys::search::in_entry(&key).ok_or_else(|| {
                    let hash = hash_of(&key);
                    let message = format!("the search entry {hash} cannot be read: it has a strange key");
                    Error::Unreadable(message.into())
                });
                let Some((word, _, project, candidate)) = item::or_skipped(entry)? else { continue };
                if candidates.len() < MAX_RESULTS && terms.are_in(words.split(' ')) {
                    candidates.insert(candidate);
                    hits.push(SearchHit {
                        source,
                        word: word.to_owned(),
                        candidate: Reverse(candidate),
                        project,
                    });
                }
            }
            query.start = found.last;
            if query.start.is_none() || looked_at >= LOOKED_AT || candidates.len() == MAX_RESULTS {
                return Ok(hits);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples;

    #[test]
    fn every_beginning_of_a_word_leads_to_the_partition_of_its_entry() {
        let candidate = samples::candidate();
        let Candidate { company, project, id, .. } = &candidate;
        let all: HashSet<String> = keys::search::partitions(company, *project).collect();
        assert_eq!(all.len(), 3 * 32);
        for word in ["ada lovelace", "łukasz", "王", "123", "_"] {
            for source in WordSource::ALL {
                let key = keys::search::entry(company, word, source, *project, *id);
                assert!(all.contains(&key.pk), "{key:?}");
                assert_eq!(keys::search::in_entry(&key), Some((word, source, *project, *id)));
                for (end, letter) in word.char_indices() {
                    let start = &word[..end + letter.len_utf8()];
                    assert_eq!(keys::search::partition(company, *project, source, start), key.pk, "{start}");
                }
            }
        }
    }
}
