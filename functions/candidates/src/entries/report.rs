//! How reports tell of entries that have failed or are left.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use shared::Error;
use shared::domain::Refusal;
use shared::http::wire::EntryErrors;

/// The error of an entry that is left.
pub(crate) const NOT_DONE_IN_TIME: Refusal = Refusal {
    code: "not_done_in_time",
    detail: "This entry was not processed in time. `detail` says how to retry it.",
};

/// The code of an entry whose errors are messages by field.
const INVALID: &str = "invalid";

/// Why an entry has failed or is left.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EntryProblem {
    /// The code of `errors`; `invalid` if they are messages by field. Missing if there are no errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"throttled")]
    code: Option<String>,
    /// After how many seconds the entry may be sent again, as `Retry-After` tells of a request for it alone. Missing if that does
    /// not help.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 840)]
    retry_after: Option<i64>,
    /// The error that a request for this entry alone would get; otherwise an empty object.
    #[schemars(with = "EntryErrors")]
    errors: Value,
}

impl EntryProblem {
    /// The problem with this error; without one, there is none.
    pub(crate) fn of(error: Option<&Error>) -> Self {
        let Some(error) = error else { return Self { code: None, retry_after: None, errors: json!({}) } };
        let errors = error.body();
        let code = if matches!(error, Error::Fields(_)) { None } else { errors["code"].as_str() };
        let code = Some(code.unwrap_or(INVALID).to_owned());
        Self { code, retry_after: error.retry_after(), errors }
    }

    /// The problem under another code.
    pub(crate) fn with_code(self, code: &str) -> Self {
        Self { code: Some(code.to_owned()), ..self }
    }
}

/// Which entries to send again; `None` if none are left. `pending` are their places, ascending.
pub(crate) fn retry_advice(pending: &[usize], is_keyed: bool) -> Option<String> {
    if pending.is_empty() {
        return None;
    }
    // Without a key, repeating the whole request would do the others twice.
    let advice = if is_keyed {
        "Retry the whole request with the same `Idempotency-Key`."
    } else {
        "Send only these again."
    };
    Some(format!("Entries {} were not processed in time. {advice}", ranges_of(pending)))
}

/// Ascending numbers as text, such as `3, 5-9`.
fn ranges_of(numbers: &[usize]) -> String {
    let ranges = numbers.chunk_by(|number, next| number + 1 == *next).map(|range| match range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range.iter().map(usize::to_string).collect(),
    });
    ranges.collect::<Vec<_>>().join(", ")
}
