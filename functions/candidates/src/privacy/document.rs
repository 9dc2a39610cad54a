//! The documentation of the routes of holds, erasure requests and consents.

use chrono::DateTime;
use serde_json::json;
use shared::domain::privacy::legal::LegalKind;
use shared::openapi::OperationDoc;

use super::consents::{self, ConsentView};
use super::hold::{HoldView, read_hold};

pub(crate) fn get_hold(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Returns 404 without a hold, and once it has ended. Its `ETag` is of the candidate's revision.")
}

pub(crate) fn save_hold(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Prevents every erasure of the candidate, for example during a lawsuit: by DELETE, by retention, and by their own \
             request for erasure. Replaces a hold as a whole: without `until`, it lasts until it is deleted. Once `until` is over, \
             the candidate may be erased again; no event tells of it.",
        )
        .body::<HoldView, _>(|body| read_hold(body, DateTime::UNIX_EPOCH))
        .example(
            "lawsuit",
            json!({ "reason": "Claim before the labour court, file 4 Ca 1/26", "until": "2027-06-30T00:00:00Z" }),
        )
}

pub(crate) fn delete_hold(operation: OperationDoc) -> OperationDoc {
    operation.text("Returns 404 without a hold, and once it has ended.")
}

pub(crate) fn get_erasure_request(operation: OperationDoc) -> OperationDoc {
    operation.text("Returns 404 without a request. Its `ETag` is of the candidate's revision.")
}

pub(crate) fn request_erasure(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
        "Takes no body. The service erases the candidate at `due_at`, after the `request_days` of the company's retention, \
         unless the request is withdrawn or a hold prevents it. To grant the request earlier, delete the candidate. To refuse it, \
         put the candidate on hold, which holds the reason. Until then the status stays, and the candidate gets no mails: no invitations, reminders, \
         new deadlines or password resets. A repeated request changes nothing.",
        )
        .is_limited("A candidate may make 100 changes of their own an hour.")
}

pub(crate) fn withdraw_erasure(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Mails that were due while the request stood are not sent later. Returns 404 without a request.",
        )
        .is_limited("A candidate may make 100 changes of their own an hour.")
}

pub(crate) fn list_consents(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The legal texts that the candidate has accepted. Consents that were withdrawn are not in the list.",
    )
}

pub(crate) fn record_consent(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Records that the candidate accepts the current version of a text. Repeating the request changes nothing. \
             Managers may record a consent that was obtained elsewhere, also one to an earlier version, by sending \
             `obtained_at`; it must not be older than the withdrawal of a consent. The events `candidate.consented` and \
             `candidate.consent_withdrawn` prove consents until the candidate is erased.",
        )
        .body::<ConsentView, _>(|body| consents::read(body, LegalKind::Consent, false))
        .is_limited("A candidate may make 100 changes of their own an hour.")
        .example("now", json!({ "version": 3, "language": "en" }))
        .example(
            "elsewhere",
            json!({ "version": 3, "language": "en", "obtained_at": "2026-11-08T10:00:00Z" }),
        )
}

pub(crate) fn withdraw_consent(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "From now on, the candidate cannot advance if the text is required. Erases nothing. The answer is the same if \
             there is no consent.",
        )
        .is_limited("A candidate may make 100 changes of their own an hour.")
}
