//! The view of a candidate's request for help.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::candidate::{HelpKind, HelpRequest};
use crate::http::wire::Timestamp;

/// The latest request of a candidate for help.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HelpRequest")]
pub struct HelpRequestView {
    /// The help that the candidate asks for: `time`, `adjustment` (another way to answer), `technical`, or `decline` (they no longer want
    /// to take part; nothing happens by itself). Other values may come.
    kind: HelpKind,
    /// The candidate's own words, in several lines. They never appear in events.
    #[schemars(example = &"My exam is on the same day. Could I have until Friday?", length(min = 1, max = 1000))]
    text: String,
    /// When the candidate asked for help.
    asked_at: Timestamp,
    /// When the company answered, in words or by an action; null while the request is open.
    #[schemars(example = ())]
    answered_at: Option<Timestamp>,
    /// The company's words to the candidate, in several lines; empty without any.
    #[schemars(example = &"", length(max = 1000))]
    answer: String,
}

impl From<&HelpRequest> for HelpRequestView {
    fn from(request: &HelpRequest) -> Self {
        let HelpRequest { kind, text, asked_at, answered_at, answer } = request;
        Self {
            kind: *kind,
            text: text.to_string(),
            asked_at: Timestamp(*asked_at),
            answered_at: answered_at.map(Timestamp),
            answer: answer.as_ref().map(ToString::to_string).unwrap_or_default(),
        }
    }
}
