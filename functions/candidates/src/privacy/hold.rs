//! Holds, which prevent the erasure of a candidate.

use axum::Json;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::Admitted;
use shared::domain::candidate::Candidate;
use shared::domain::policy::ManagePrivacy;
use shared::domain::privacy::hold::{CandidateHold, HoldReason};
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, NoContent};
use shared::http::iso8601::parse_timestamp;
use shared::http::wire::Timestamp;
use shared::{Error, Result};

/// A hold.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Hold")]
pub(crate) struct HoldView {
    /// Why the candidate must not be erased. It never appears in events.
    #[schemars(example = &"Claim before the labour court, file 4 Ca 1/26")]
    reason: String,
    /// When the hold ends, within ten years; null if it has no end.
    #[schemars(example = &"2027-06-30T00:00:00Z")]
    until: Option<Timestamp>,
}

impl HoldView {
    pub(crate) fn new(hold: &CandidateHold) -> Self {
        Self { reason: hold.reason.to_string(), until: hold.until.map(Timestamp) }
    }
}

/// GET …/hold/
pub(crate) async fn read(
    access: Admitted<Candidate, ManagePrivacy>,
) -> Result<CommittedResponse<Json<HoldView>>> {
    let hold = access.target.candidate.hold_at(access.now).ok_or(Error::NotFound)?;
    access.show(HoldView::new(hold))
}

/// PUT …/hold/
pub(crate) async fn save(
    access: Admitted<Candidate, ManagePrivacy>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<HoldView>>> {
    let hold = read_hold(body, access.now)?;
    let before = &access.target.candidate;
    let shown = HoldView::new(&hold);
    if before.hold.as_ref() == Some(&hold) {
        return access.show(shown);
    }
    let after = Candidate { hold: Some(hold), ..Candidate::clone(before) };
    access.commit(access.store.change_candidate(before, &after.into(), access.now), Json(shown)).await
}

/// DELETE …/hold/
pub(crate) async fn delete(
    access: Admitted<Candidate, ManagePrivacy>,
) -> Result<CommittedResponse<NoContent>> {
    let before = &access.target.candidate;
    before.hold_at(access.now).ok_or(Error::NotFound)?;
    let after = Candidate { hold: None, ..Candidate::clone(before) };
    access.commit(access.store.change_candidate(before, &after.into(), access.now), NoContent).await
}

/// Reads the body of a hold that is set at `now`.
pub(crate) fn read_hold(mut body: BodyFields, now: DateTime<Utc>) -> Result<CandidateHold> {
    let reason = body.required("reason", HoldReason::parse);
    // A PUT replaces the whole hold, so a missing `until` means no end.
    let until = body.clearable_date("until", |text| CandidateHold::check_until(parse_timestamp(text)?, now));
    body.finish(|| Some(CandidateHold { reason: reason?, until: until.flatten() }))
}
