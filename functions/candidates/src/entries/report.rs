//! How reports tell of entries that are left.

use shared::domain::Refusal;

/// The error of an entry that is left.
pub(crate) const NOT_DONE_IN_TIME: Refusal = Refusal {
    code: "not_done_in_time",
    detail: "This entry was not processed in time. `detail` says how to retry it.",
};

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
    let ranges = numbers.chunk_by(|one, next| one + 1 == *next).map(|range| match range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range.iter().map(usize::to_string).collect(),
    });
    ranges.collect::<Vec<_>>().join(", ")
}
