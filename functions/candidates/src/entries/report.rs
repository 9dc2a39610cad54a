//! How reports describe failed and pending entries.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use shared::Error;
use shared::domain::Refusal;
use shared::http::wire::EntryErrors;

/// The error of a pending entry.
pub(crate) const NOT_DONE_IN_TIME: Refusal = Refusal {
    code: "not_done_in_time",
    detail: "This entry was not processed in time. `detail` says how to retry it.",
};

/// The code of an entry with field errors.
const INVALID: &str = "invalid";

/// Why an entry failed or is pending.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EntryProblem {
    /// The code of `errors`; `invalid` for field errors. Missing if there are no errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"throttled")]
    code: Option<String>,
    /// The seconds to wait before sending the entry again, like `Retry-After` for a single request. Missing if a retry
    /// does not help.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 840)]
    retry_after: Option<i64>,
    /// The error response to a request for this entry alone; an empty object without an error.
    #[schemars(with = "EntryErrors")]
    errors: Value,
}

impl EntryProblem {
    /// The problem for an error; empty without one.
    pub(crate) fn of(error: Option<&Error>) -> Self {
        let Some(error) = error else { return Self { code: None, retry_after: None, errors: json!({}) } };
        let errors = error.body();
        let code = if matches!(error, Error::Fields(_)) { None } else { errors["code"].as_str() };
        let code = Some(code.unwrap_or(INVALID).to_owned());
        Self { code, retry_after: error.retry_after(), errors }
    }

    /// The same problem with another code.
    pub(crate) fn with_code(self, code: &str) -> Self {
        Self { code: Some(code.to_owned()), ..self }
    }
}

/// Says which entries to send again; `None` if none are pending. `pending` holds their indexes, ascending.
pub(crate) fn retry_advice(pending: &[usize], is_keyed: bool) -> Option<String> {
    if pending.is_empty() {
        return None;
    }
    // Without a key, repeating the whole request would process the other entries twice.
    let advice = if is_keyed {
        "Retry the whole request with the same `Idempotency-Key`."
    } else {
        "Send only these again."
    };
    Some(format!("Entries {} were not processed in time. {advice}", ranges_of(pending)))
}

/// Formats ascending numbers as ranges, such as `3, 5-9`.
fn ranges_of(numbers: &[usize]) -> String {
    let ranges = numbers.chunk_by(|number, next| number + 1 == *next).map(|range| match range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range.iter().map(usize::to_string).collect(),
    });
    ranges.collect::<Vec<_>>().join(", ")
}
