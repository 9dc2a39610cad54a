//! What the reference says of this group.

use serde_json::json;
use shared::domain::named_token::TOO_MANY_TOKENS;
use shared::http::view::LabelView;
use shared::openapi::{Group, Operation};

use crate::changes::Changes;
use crate::view::{CompanyView, TokenView};
use crate::{company, labels, shares, tokens};

/// This group as the reference shows it.
pub fn group() -> Group {
    Group {
        name: "companies",
        title: "Companies",
        text: "A company's settings, its labels, its named tokens, and what its people share.",
        routes: crate::routes(),
        operations: vec![
            Operation::of("Get company", company::read),
            Operation::of("Change company", company::update)
                .body::<CompanyView, _>(Changes::read)
                .example("deadline", json!({ "default_interview_period": 14, "timezone": "Europe/London" })),
            Operation::of("List labels", labels::list).text("The oldest first."),
            Operation::of("Create label", labels::create)
                .body::<LabelView, _>(labels::read_new)
                .example("label", json!({ "text": "Senior" })),
            Operation::of("Get label", labels::read),
            Operation::of("Change label", labels::update)
                .body::<LabelView, _>(labels::read_change)
                .example("label", json!({ "text": "Principal" })),
            Operation::of("Delete label", labels::delete).text("Takes it from all projects as well."),
            Operation::of("List shares with caller", shares::list)
                .text("The candidates that others share with the caller, the oldest share first.")
                .expand(&[shares::CANDIDATE]),
            Operation::of("List named tokens", tokens::list).text("All but their values."),
            Operation::of("Create named token", tokens::create)
                .text(
                    "A token that does not end, by which a service acts for the company: as an owner, but for what needs \
                     a person. The answer is the only one that shows its value; a repeat by Idempotency-Key does not.",
                )
                .body::<TokenView, _>(tokens::read_new)
                .field("value", "32 to 256 visible characters of ASCII, hard to guess; without one the service chooses.")
                .refuses(&[TOO_MANY_TOKENS])
                .example("token", json!({ "name": "Applicant tracking" })),
            Operation::of("Get named token", tokens::read).text("All but its value."),
            Operation::of("Delete named token", tokens::delete).text("It is good no more."),
        ],
    }
}
