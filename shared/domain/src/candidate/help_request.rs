//! Requests of candidates for help from the company: for more time, another way to answer, help with their device, or to stop.

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Candidate;
use crate::Refusal;
use crate::names::named;
use crate::staff::help_notice::AskedHelp;
use crate::text::TextLines;

/// The maximum number of a candidate's requests within 24 hours, replaced ones included.
pub const MAX_HELP_REQUESTS: usize = 3;
/// How long a request counts towards the maximum.
const COUNTED_FOR: TimeDelta = TimeDelta::hours(24);

/// There is no request, or it has been answered.
pub const NOTHING_TO_ANSWER: Refusal = Refusal {
    code: "nothing_to_answer",
    detail: "The candidate has no request for help that still needs an answer in words.",
};

named! {
    /// The help that a candidate asks for.
    pub enum HelpKind {
        /// More time.
        Time = "time",
        /// Another way to answer.
        Adjustment = "adjustment",
        /// Help with a device or the page.
        Technical = "technical",
        /// To stop: the candidate no longer wants to take part.
        Decline = "decline",
    }
}

/// A text of a request or of its answer: up to 1,000 characters in several lines, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct HelpText(TextLines<1000>);

impl HelpText {
    /// Cleans up `text` like [`TextLines::parse`]. Fails if it is too long or blank.
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse_visible(text).map(Self)
    }
}

impl fmt::Display for HelpText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The latest request of a candidate for help.
// Only the latest is stored: a further request replaces it, and the history has the times of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelpRequest {
    pub kind: HelpKind,
    /// The request in the candidate's words.
    pub text: HelpText,
    pub asked_at: DateTime<Utc>,
    /// When the company answered, in words or by an action; `None` while the request is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<DateTime<Utc>>,
    /// The company's words to the candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<HelpText>,
}

impl HelpRequest {
    /// A request that is made at `now`.
    pub fn new(kind: HelpKind, text: HelpText, now: DateTime<Utc>) -> Self {
        Self { kind, text, asked_at: now, answered_at: None, answer: None }
    }

    /// Whether the company has not answered yet.
    pub fn is_open(&self) -> bool {
        self.answered_at.is_none()
    }
}

impl Candidate {
    /// The request that the company has not answered yet.
    pub fn open_help_request(&self) -> Option<&HelpRequest> {
        self.help_request.as_ref().filter(|request| request.is_open())
    }

    /// The open request, as notices to staff name it.
    pub fn asked_help(&self) -> Option<AskedHelp> {
        let asked_at = self.open_help_request()?.asked_at;
        Some(AskedHelp { project: self.project, candidate: self.id, asked_at })
    }

    /// Replaces an earlier request by `request`. After [`MAX_HELP_REQUESTS`] requests within 24 hours, fails with the time until
    /// the next one is allowed.
    pub fn with_help_request(mut self, request: HelpRequest) -> Result<Self, TimeDelta> {
        self.help_asked.count(COUNTED_FOR, MAX_HELP_REQUESTS, request.asked_at)?;
        self.help_request = Some(request);
        Ok(self)
    }

    /// Removes the open request; `None` if there is none.
    pub fn without_help_request(self) -> Option<Self> {
        // The request still counts: taking it back must not circumvent the limit.
        self.open_help_request().is_some().then_some(Self { help_request: None, ..self })
    }

    /// Closes an open request, which the company has answered by an action at `now`.
    pub(crate) fn close_help_request(&mut self, now: DateTime<Utc>) {
        if let Some(request) = self.help_request.as_mut().filter(|request| request.is_open()) {
            // The platform may report a completion at a time before the request.
            request.answered_at = Some(now.max(request.asked_at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn at(hour: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::hours(hour)
    }

    fn request(hour: i64) -> HelpRequest {
        HelpRequest::new(HelpKind::Time, HelpText::parse("My exam is tomorrow.").unwrap(), at(hour))
    }

    #[test]
    fn the_fourth_request_within_a_day_is_too_many_and_taking_one_back_changes_nothing_about_it() {
        let mut one = samples::candidate();
        for hour in [0, 1, 2] {
            one = one.with_help_request(request(hour)).unwrap().without_help_request().unwrap();
        }
        assert_eq!(one.clone().with_help_request(request(23)), Err(TimeDelta::hours(1)));
        assert!(one.with_help_request(request(24)).is_ok());
    }

    #[test]
    fn only_an_open_request_is_taken_back_or_closed() {
        let mut one = samples::candidate();
        assert_eq!(one.clone().without_help_request(), None);
        one.close_help_request(at(1));
        assert_eq!(one.help_request, None);
        one = one.with_help_request(request(0)).unwrap();
        one.close_help_request(at(1));
        one.close_help_request(at(2));
        assert_eq!(one.help_request.as_ref().unwrap().answered_at, Some(at(1)));
        assert_eq!(one.without_help_request(), None);
    }
}
