//! Names of body members and query parameters. Requests with unknown names are refused: a client that mistypes a restriction
//! must not create something unrestricted.

use strsim::osa_distance;

/// The maximum length in characters of a sent name in a response, so that the response cannot grow with the request.
const MAX_SHOWN: usize = 100;
/// The maximum edit distance between an unknown name and the suggested one.
const MAX_CHANGES: usize = 2;

/// The name as responses show it: truncated if it is long.
pub(in crate::http) fn shown(name: &str) -> String {
    match name.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// `problem`, followed by the `known` name that is most similar to `name`, if any is similar enough.
pub(in crate::http) fn with_suggestion<'a>(
    problem: String,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    match nearest(name, known) {
        Some(nearest) => format!("{problem} Did you mean {nearest}?"),
        None => problem,
    }
}

fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = folded(name);
    let distances = known.into_iter().filter_map(|known| {
        let other = folded(known);
        let changes = osa_distance(&name, &other);
        // Two changes turn almost any name into a short one, so also limit the distance by length.
        (changes <= MAX_CHANGES && 3 * changes <= other.chars().count()).then_some((changes, known))
    });
    distances.min().map(|(_, known)| known)
}

/// The name in lower case without underscores, because programming languages differ in both.
fn folded(name: &str) -> String {
    // Truncated, because distances of long names are slow to compute. All known names are shorter.
    name.chars().take(MAX_SHOWN).filter(|character| *character != '_').flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["external_id", "receive_mails", "q", "by", "page", "page_size", "account_type"];
        for (name, meant) in [
            ("externalid", Some("external_id")),
            ("externalId", Some("external_id")),
            ("EXTERNAL_ID", Some("external_id")),
            ("recieve_mails", Some("receive_mails")),
            ("accounttypes", Some("account_type")),
            ("pages", Some("page")),
            ("pageSize", Some("page_size")),
            ("BY", Some("by")),
            ("x", None),
            ("to", None),
            ("external", Some("external_id")),
            ("extern", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), meant, "{name}");
        }
        assert_eq!(nearest(&"é".repeat(10_000), known), None);
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(shown(&"é".repeat(100)), "é".repeat(100));
        assert_eq!(shown(&"é".repeat(101)), format!("{}…", "é".repeat(100)));
    }
}
