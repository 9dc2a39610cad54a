//! Makes the names of schemas and requests from names of the API.

/// Joins the words of a name, which dots and underscores separate, in camel case: `CandidateCreated` for `candidate.created`.
pub(super) fn capitalise(name: &str) -> String {
    let words = name.split(['.', '_']).map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect()
}
