//! The keys of search entries: one entry per word of a candidate.

use super::ItemKey;
use crate::domain::candidate::search_words::WordSource;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};

/// The number of groups that the first letters of words are divided into. Each letter of the Latin alphabet has a group of its own.
const LETTER_GROUPS: u32 = 32;

/// The partition of a project's search entries from `source` whose words begin with the first letter of `start`.
pub(in crate::store) fn partition(c: &CompanyId, p: ProjectId, source: WordSource, start: &str) -> String {
    // An import writes some ten entries per candidate, too many for one partition. The source and the first letter
    // spread them, and every search knows both.
    let letter = start.chars().next().map_or(0, u32::from);
    shard(c, p, source, letter % LETTER_GROUPS)
}

fn shard(c: &CompanyId, p: ProjectId, source: WordSource, group: u32) -> String {
    // All words with the same first letter share a shard, so that a query for one letter reads one partition.
    format!("SEARCH#{c}#{}#{group:02}#PROJECT#{p}", source.as_str())
}

/// All partitions of the search entries of a project.
pub(in crate::store) fn partitions(c: &CompanyId, p: ProjectId) -> impl Iterator<Item = String> {
    WordSource::ALL
        .into_iter()
        .flat_map(move |source| (0..LETTER_GROUPS).map(move |group| shard(c, p, source, group)))
}

/// The partition of the index `SEARCH` for words with the first letter of `word`.
pub(in crate::store) fn letter_partition(c: &CompanyId, word: &str) -> String {
    let first: String = word.chars().take(1).collect();
    format!("SEARCH#{c}#LETTER#{first}")
}

/// The prefix of the sort keys of words from `source` that begin with `start`.
pub(in crate::store) fn sort_prefix(source: WordSource, start: &str) -> String {
    format!("{}#{start}", source.as_str())
}

/// The entry of one word of a candidate. The space in its key sorts whole words before longer ones.
pub(in crate::store) fn entry(
    c: &CompanyId,
    word: &str,
    source: WordSource,
    p: ProjectId,
    k: CandidateId,
) -> ItemKey {
    ItemKey::new(
        partition(c, p, source, word),
        // Reversed, so that the newest candidate comes first among equal words.
        format!("{} {}", sort_prefix(source, word), k.reversed()),
    )
}

/// The parts of the key of a search entry.
pub(in crate::store) fn in_entry(key: &ItemKey) -> Option<(&str, WordSource, ProjectId, CandidateId)> {
    let (_, p) = key.pk.rsplit_once('#')?;
    let (word, k) = key.sk.rsplit_once(' ')?;
    let (word, source) = WordSource::ALL
        .into_iter()
        .find_map(|source| Some((word.strip_prefix(&sort_prefix(source, ""))?, source)))?;
    Some((word, source, p.parse().ok()?, k.parse::<CandidateId>().ok()?.reversed()))
}
