//! The keys of search entries: one entry per word of a candidate.

use super::ItemKey;
use crate::domain::candidate::search_words::WordSource;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};

/// The first letters of words fall into so many groups; those of the Latin alphabet into one each.
const LETTER_GROUPS: u32 = 32;

/// The partition of the search entries of a project whose words come from `source` and begin as `start` does.
pub(in crate::store) fn words(c: &CompanyId, p: ProjectId, source: WordSource, start: &str) -> String {
    // An import writes some ten entries per candidate, too many for one partition. The source and the first letter
    // spread them, and every search knows both.
    let letter = start.chars().next().map_or(0, u32::from);
    shard(c, p, source, letter % LETTER_GROUPS)
}

fn shard(c: &CompanyId, p: ProjectId, source: WordSource, group: u32) -> String {
    // Letters share shards by group: a query of one letter would otherwise need several partitions.
    format!("SEARCH#{c}#{}#{group:02}#PROJECT#{p}", source_name(source))
}

/// All partitions of the search entries of a project.
pub(in crate::store) fn all_words(c: &CompanyId, p: ProjectId) -> impl Iterator<Item = String> {
    WordSource::ALL
        .into_iter()
        .flat_map(move |source| (0..LETTER_GROUPS).map(move |group| shard(c, p, source, group)))
}

/// The partition of the index `SEARCH` for words with the first letter of `word`.
pub(in crate::store) fn letter(c: &CompanyId, word: &str) -> String {
    let first: String = word.chars().take(1).collect();
    format!("SEARCH#{c}#LETTER#{first}")
}

/// The start of the sort keys of words from `source` that begin with `start`.
pub(in crate::store) fn prefix(source: WordSource, start: &str) -> String {
    format!("{}#{start}", source_name(source))
}

fn source_name(source: WordSource) -> &'static str {
    match source {
        WordSource::FullName => "FULL",
        WordSource::Name => "NAME",
        WordSource::Email => "EMAIL",
    }
}

/// One word of a candidate. The space sorts whole words before longer ones; of one word the newest candidate comes first.
pub(in crate::store) fn entry(
    c: &CompanyId,
    word: &str,
    source: WordSource,
    p: ProjectId,
    k: CandidateId,
) -> ItemKey {
    ItemKey::new(
        words(c, p, source, word),
        // Reversed, so that of equal words the newest candidate comes first.
        format!("{} {}", prefix(source, word), k.reversed()),
    )
}

/// The parts of the key of a search entry.
pub(in crate::store) fn in_entry(key: &ItemKey) -> Option<(&str, WordSource, ProjectId, CandidateId)> {
    let (_, p) = key.pk.rsplit_once('#')?;
    let (word, k) = key.sk.rsplit_once(' ')?;
    let (word, source) = WordSource::ALL
        .into_iter()
        .find_map(|source| Some((word.strip_prefix(&prefix(source, ""))?, source)))?;
    Some((word, source, p.parse().ok()?, k.parse::<CandidateId>().ok()?.reversed()))
}
