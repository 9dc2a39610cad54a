//! The texts and examples of each route in the OpenAPI document.

use shared::openapi::OperationDoc;

pub(crate) fn search_candidates(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The best 50 matches: whole words before beginnings, names before email addresses, then newest \
             first. Case, accents and apostrophes are ignored. The answer is an array, without `meta` and pages.",
        )
        .required_query(
            "q",
            "Words, or the beginnings of words, in names and email addresses. Candidates must match all of them. A word \
             may begin at a part of a name, such as `smith-jones` in Neil-Smith-Jones.",
            "ada lov",
        )
}
