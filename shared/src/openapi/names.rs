//! The names of schemas and requests, made of names of the API.

/// The words of a name that dots and underscores separate, joined with a capital each: `CandidateCreated` for `candidate.created`.
pub(super) fn capitalise(name: &str) -> String {
    let words = name.split(['.', '_']).map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect()
}
