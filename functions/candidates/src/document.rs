//! The documentation of each route.

use serde_json::json;
use shared::auth::password::Password;
use shared::domain::candidate::{CandidateStatus, EMAIL_MISSING, TOO_MANY_SHARES};
use shared::domain::file::FileKind;
use shared::domain::suppression::UNDELIVERABLE;
use shared::domain::transition::{
    DEADLINE_PASSED, EMAIL_REQUIRED, NOT_ADVANCED, NOT_REMINDABLE, NOT_SKIPPABLE,
};
use shared::http::BodyFields;
use shared::http::read_announcement;
use shared::http::view::{CandidateView, ShareView, UploadView};
use shared::openapi::OperationDoc;

use crate::changes::{CandidateFiles, read_changes, read_new};
use crate::{deadline, shares};

pub(crate) fn list_candidates(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Oldest first.")
        .query::<CandidateStatus>("status", "Only candidates with this status.")
        .query_as(
            "email",
            "Only candidates with this email address; case is ignored.",
            json!({ "type": "string", "maxLength": 254 }),
        )
}

pub(crate) fn create_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text("The status is `new`: candidates get no mail until they are advanced.")
        .body::<CandidateView, _>(|mut body: BodyFields| {
            CandidateFiles::read(&mut body, |_| None);
            read_new(body)
        })
        .example("candidate", candidate())
}

pub(crate) fn list_candidate_events(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The history of the candidate, oldest first: every write, at once. Those without `types` have changed nothing \
         that others are told about; who has yet to evaluate the candidate does not see them. `sequence` is null until \
         the event is in the company's feed.",
    )
}

pub(crate) fn import_candidates(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "For each entry, creates the candidate, sets the deadline and advances the candidate. An entry \
             that cannot be created is `failed`; one that cannot be advanced stays `new`. Neither stops the \
             others. Entries that do not fit into the time limit are `pending`, and `detail` says what to \
             send again.",
        )
        .body::<CandidateView, _>(|mut body: BodyFields| {
            CandidateFiles::read(&mut body, |_| None);
            read_new(body)
        })
        .field("photo", "Files are not imported: an entry with a file fails.")
        .field("cv", "Files are not imported: an entry with a file fails.")
        .example("one", json!([candidate()]))
}

pub(crate) fn change_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Managers change the application. Candidates change their own `phone`, `gender`, `address`, \
             `photo`, `cv` and `password`; their other fields are ignored. A new `email` ends the \
             candidate's sessions and revokes the keys mailed to the old address; `invited` candidates get \
             another invitation at the new one.",
        )
        .refuses(&[EMAIL_REQUIRED, UNDELIVERABLE])
        .is_limited("A candidate gets at most five invitations an hour.")
        .body::<CandidateView, _>(|mut body: BodyFields| {
            CandidateFiles::read(&mut body, |_| None);
            body.text("password", Password::choose);
            read_changes(body)
        })
        .field("password", "Only candidates can set their password.")
        .example("phone", json!({ "phone": "+44 20 7946 0000" }))
        .example("deadline", json!({ "deadline": "2026-12-24T18:00:00+01:00" }))
}

pub(crate) fn delete_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Also deletes the candidate's files, evaluations, keys, sessions and shares. Files and evaluations go within \
             seconds, with what earlier events say of the candidate: `candidate.erased` tells when that is done.")
}

pub(crate) fn set_deadline(operation: OperationDoc) -> OperationDoc {
    operation
        .text("The deadline may be in the past; the candidate then expires like any other.")
        .body::<CandidateView, _>(deadline::read)
        .example("deadline", json!({ "deadline": "2026-12-24T18:00:00+01:00" }))
}

pub(crate) fn advance_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The introduction has a table of the moves. Candidates who are invited without a deadline get \
             the default of the project or the company.",
        )
        .refuses(&NOT_ADVANCED)
}

pub(crate) fn skip_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Withdraws the candidate permanently: no more mails; keys and sessions are revoked.")
        .refuses(&[NOT_SKIPPABLE])
}

pub(crate) fn remind_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Emails a reminder to a candidate who is `invited` or `confirmed`.")
        .refuses(&[NOT_REMINDABLE, DEADLINE_PASSED, EMAIL_MISSING, UNDELIVERABLE])
        .is_limited("A candidate gets at most five reminders an hour.")
}

pub(crate) fn get_candidate_photo(operation: OperationDoc) -> OperationDoc {
    operation.text("The candidate's `photo` is this URL. It needs no credentials.")
}

pub(crate) fn get_candidate_cv(operation: OperationDoc) -> OperationDoc {
    operation.text("The candidate's `cv` is this URL. It needs no credentials.")
}

pub(crate) fn announce_candidate_file(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Announces a file that is too large for a request. Upload it to the URL in the answer.")
        .body::<UploadView, _>(|body: BodyFields| read_announcement(body, &FileKind::ALL))
        .example("cv", json!({ "field": "cv", "content_type": "application/pdf", "size": 9_000_000 }))
}

pub(crate) fn get_candidate_upload(operation: OperationDoc) -> OperationDoc {
    operation.text("The progress of an announced file.")
}

pub(crate) fn list_shares(operation: OperationDoc) -> OperationDoc {
    operation.text("Oldest first.").expand(&[shares::CUSTOMER])
}

pub(crate) fn share_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Lets a customer read the candidate without a role in the project.")
        .body_with_references::<ShareView, _>(shares::read_new)
        .refuses(&[TOO_MANY_SHARES])
        .example(
            "share",
            json!({ "customer": "/api/v3/companies/acme/customers/01JQ8Z2M8F3A6D1S4J7H0K9PME/" }),
        )
}

fn candidate() -> serde_json::Value {
    json!({ "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com",
            "deadline": "2026-12-24T18:00:00+01:00" })
}
