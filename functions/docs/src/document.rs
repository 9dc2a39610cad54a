//! What the reference says of itself.

use shared::openapi::{Group, Operation};

use crate::{assets, openapi, page};

/// This group as the reference shows it.
pub fn group() -> Group {
    Group {
        name: "docs",
        title: "Reference",
        text: "This reference, for programs and for people. It needs no credential.",
        routes: crate::routes(),
        operations: vec![
            Operation::of("Get this document", openapi::show)
                .text("OpenAPI 3.1, with the address of this deployment under `servers`.")
                .sends("application/json", "The document."),
            Operation::of("Show the reference", page::show)
                .text("For browsers. Requests can be tried on it: they go to this deployment, and change what they say.")
                .sends("text/html", "The page."),
            Operation::of("Get a file of the reference", assets::show)
                .text("What the page consists of. It names the files by addresses that change when they do.")
                .sends("text/css", "A style sheet or a script.")
                .sends("text/javascript", "A style sheet or a script."),
        ],
    }
}
