//! Dry runs report what a request would do now, without writing or mailing.

use shared::Result;
use shared::auth::access::AdmittedRequest;
use shared::domain::Refusal;
use shared::domain::transition::CandidateChange;
use shared::http::QueryParameters;

/// The error for a dry run with an `Idempotency-Key`.
pub(crate) const DRY_RUN_WITH_KEY: Refusal = Refusal {
    code: "dry_run_with_key",
    detail: "A dry run changes nothing, so it takes no `Idempotency-Key`. Send the request without it.",
};

/// Whether the query asks for a dry run; `None` without the parameter.
pub(crate) fn read(mut query: QueryParameters) -> Result<Option<bool>> {
    let is_requested = query.flag("dry_run");
    query.finish()?;
    Ok(is_requested)
}

/// Refuses an `Idempotency-Key` in a dry run.
// Otherwise the real request with the same key would be answered with the report of the dry run.
pub(crate) fn require_no_key(access: &AdmittedRequest) -> Result<()> {
    if access.is_keyed() { Err(DRY_RUN_WITH_KEY.into()) } else { Ok(()) }
}

/// Whether a change mails the candidate, and their address accepts mails now.
pub(crate) fn is_mailed(change: &CandidateChange) -> bool {
    change.mail.is_some() && change.candidate.interview_mail_address().is_some()
}
