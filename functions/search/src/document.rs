//! What the reference says of this group.

use shared::openapi::{Group, Operation};

use crate::find;

/// This group as the reference shows it.
pub fn group() -> Group {
    Group {
        name: "search",
        title: "Search",
        text: "Candidates by name and email, in all projects that the caller may read.",
        routes: crate::routes(),
        operations: vec![Operation::of("Search candidates", find::list).text(
            "At most 50, the best first: by whole words before beginnings, by names before addresses, the newest first. \
             Case and accents do not count. An array, without the envelope of lists.",
        )
        .required_query(
            "q",
            "Beginnings of words of names and addresses; all of them must be found.",
            "ada lov",
        )],
    }
}
