//! Names that requests send: of members of bodies, and of query parameters. One that is not known is refused, because whoever
//! mistypes a restriction must not get the unrestricted thing.

use strsim::osa_distance;

/// The most characters of a name in a response, which must not grow with what was sent.
const MAX_SHOWN: usize = 100;
/// The most changes between a name and the one that may have been meant.
const MAX_CHANGES: usize = 2;

/// The name as responses show it.
pub(in crate::http) fn shown(name: &str) -> String {
    match name.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// `problem` with a name, followed by the known name that may have been meant, if there is one.
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
        // Any name is near a short one.
        (changes <= MAX_CHANGES && 3 * changes <= other.chars().count()).then_some((changes, known))
    });
    distances.min().map(|(_, known)| known)
}

/// The name without underscores and case, which differ between languages.
fn folded(name: &str) -> String {
    // No known name is as long, and distances between long names cost time.
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
