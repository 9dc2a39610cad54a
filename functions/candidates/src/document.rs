//! The documentation of the routes, except those about many candidates and those of `privacy`, whose folders have their
//! own file.

use chrono::DateTime;
use serde_json::json;
use shared::auth::password::Password;
use shared::domain::answers::ALREADY_INTERVIEWED;
use shared::domain::candidate::{
    CandidateStatus, EMAIL_MISSING, KeyEnd, NOTHING_TO_ANSWER, ON_HOLD, TOO_MANY_SHARES,
};
use shared::domain::mail::address_change::{CONFIRMATION_DAYS, RESTORATION_HOURS};
use shared::domain::mail::suppression::UNDELIVERABLE;
use shared::domain::media::file::FileKind;
use shared::domain::privacy::erasure_request::ERASURE_REQUESTED;
use shared::domain::scoring::status::EvaluationStatus;
use shared::domain::text::ExternalId;
use shared::domain::transition::{
    DEADLINE_PASSED, DEADLINE_REQUIRED, EMAIL_REQUIRED, MAILS_OFF, NOT_ADVANCED, NOT_REMINDABLE,
    NOT_SKIPPABLE,
};
use shared::http::BodyFields;
use shared::http::read_announcement;
use shared::http::view::{CandidateView, HelpRequestView, ShareView, UploadView};
use shared::openapi::OperationDoc;

use crate::cancellation::CancellationRequest;
use crate::changes::{CandidateFiles, read_adjustments, read_changes, read_new};
use crate::list::OwnEvaluation;
use crate::{deadline, help_request, shares};

pub(crate) fn list_candidates(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Oldest first. To keep a copy in step, do not read the list again: `GET /companies/{companyId}/events/` tells what has \
             changed, by `project` too.",
        )
        .query::<CandidateStatus>("status", "Only candidates with this status.")
        .query_as(
            "email",
            "Only candidates with this email address; case is ignored.",
            json!({ "type": "string", "maxLength": 254 }),
        )
        .query::<ExternalId>(
            "external_id",
            "Only the candidate with this key, which is compared exactly. May not be empty.",
        )
        .query::<EvaluationStatus>(
            "evaluation_status",
            "With `status=interviewed`: only candidates whose evaluation by the project's evaluators has this status.",
        )
        .query::<OwnEvaluation>(
            "my_evaluation_status",
            "With `status=interviewed`: only candidates who wait for the caller's evaluation, or whom the caller has evaluated. Callers who are \
             not evaluators get an empty list.",
        )
}

pub(crate) fn list_candidates_by_email(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The candidates with this email address or key in all projects that the caller sees, oldest first: to find everything that concerns a \
             person who asks for their data, or for its erasure. Send `email`, `external_id`, or both, which must then both hold.",
        )
        .query_as(
            "email",
            "The email address; case is ignored.",
            json!({ "type": "string", "minLength": 1, "examples": ["ada@example.com"] }),
        )
        .query::<ExternalId>("external_id", "The client's key, which is compared exactly. May not be empty.")
}

pub(crate) fn get_candidate_data(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "All that the service holds about the candidate, as a file. Staff get the whole document, from which to answer a request \
         for access (GDPR, Article 15). Candidates get what they gave and what they can see anyway (Article 20), without the \
         fields that only staff get: what managers and evaluators have written is released by the company.\n\n\
         Fetch the files with the URLs in `files`. The document holds no credentials, no drafts of evaluations, no logs and no \
         backups. The person's applications to other projects have documents of their own: \
         `GET /companies/{companyId}/candidates/?email=` lists them.\n\n\
         A document that is too long for one response has a `next`: its lists `evaluations`, `first_judgements`, `vetos` and `history` go on there, on \
         pages that hold these lists alone and have a `next` themselves. Append them in this order. All pages together hold every \
         entry once, also if the candidate changes in the meantime. The document of candidates themselves is always one page.\n\n\
         Once the candidate is interviewed, evaluators who have yet to evaluate them get 403 with the code `evaluate_first`, \
         whatever else they are in the project.",
    )
    .query_as(
        "after",
        "The place at which the page begins. Only `next` contains it.",
        json!({ "type": "string" }),
    )
}

pub(crate) fn create_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The status is `new`: candidates get no mail until they are advanced. With an `external_id`, a client creates a \
             candidate or finds the one that it has created: if another candidate of the project has the key, the answer is \
             409 with the code `external_id_taken`, and `resource_uri` is that candidate.",
        )
        .takes_external_id()
        .body::<CandidateView, _>(|mut body: BodyFields| {
            CandidateFiles::read(&mut body, |_| None);
            read_new(body, DateTime::UNIX_EPOCH)
        })
        .example("candidate", candidate())
}

pub(crate) fn list_events_of_candidate(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The history of the candidate, oldest first: every write, at once. Those without `types` have changed nothing \
         that others are told about; who has yet to evaluate the candidate does not see them. `sequence` is null until \
         the event is in the company's feed.",
    )
}

pub(crate) fn change_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text(&format!(
            "Managers change the application. Candidates change their own `phone`, `gender`, `address`, \
             `photo`, `cv` and `password`; their other fields are ignored.\n\n\
             A new `email` of a candidate without a password counts at once. It ends the \
             candidate's sessions and revokes the keys mailed to the old address; `invited` candidates get \
             another invitation at the new one, unless they have requested erasure. Candidates with a password get a mail with a link at \
             the new address, valid for {CONFIRMATION_DAYS} days: until they open it and enter their password, `email_confirmed` is \
             false and the former address counts for logins, password resets and mails. To send another link, set the former address, \
             which needs no confirmation, and then the new one. The former address gets a mail with a link that undoes the change \
             within {RESTORATION_HOURS} hours, also if a manager has set `confirm`. Only with `confirm` can their address be removed.\n\n\
             With `receive_mails` false, nothing is mailed, the address may be emptied, and keys that were never mailed stay good. \
             To turn mails on for an `invited` or `confirmed` candidate, there must be an address; that sends none by itself."
        ))
        .takes_external_id()
        .refuses(&[DEADLINE_REQUIRED, EMAIL_REQUIRED, UNDELIVERABLE])
        .is_limited(
            "A candidate gets at most five mails an hour that changes and reminders cause, and, with a password, five new addresses in 72 \
             hours, or twenty with `confirm`; both count together. Candidates may make 100 changes of their own an hour.",
        )
        .body::<CandidateView, _>(|mut body: BodyFields| {
            CandidateFiles::read(&mut body, |_| None);
            body.text("password", Password::choose);
            read_adjustments(&mut body)?;
            read_changes(body, DateTime::UNIX_EPOCH)
        })
        .field(
            "confirm",
            "Whether the email address counts at once, for a candidate with a password whose former address had a typing error, or is \
             removed. It ends all sessions. Only for managers who have logged in themselves; ignored without another address.",
        )
        .field("password", "Only candidates can set their password.")
        .example("phone", json!({ "phone": "+44 20 7946 0000" }))
        .example("deadline", json!({ "deadline": "2026-12-24T18:00:00+01:00" }))
        .example("adjustments", json!({ "adjustments": { "time_factor": 1.5, "may_write": true } }))
}

pub(crate) fn delete_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Also deletes the candidate's files, evaluations, keys, sessions and shares. Files and evaluations go within \
             seconds, with what earlier events say of the candidate: `candidate.erased` tells when that is done.")
        .refuses(&[ON_HOLD])
}

pub(crate) fn set_deadline(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "A deadline in the past ends the candidate's time, without a mail. `invited` and `confirmed` candidates become `expired` within a minute \
             or two. `interviewing` candidates begin no further answer; an interview that this service conducts closes an hour later, complete if \
             everything required was answered, else `aborted`. To let `expired` and `aborted` candidates go on, set a deadline ahead and advance them.\n\n\
             A new deadline ahead is mailed to `invited` and `confirmed` candidates, unless they have requested erasure or `receive_mails` is false.",
        )
        .is_limited("A candidate gets at most five mails an hour that changes and reminders cause.")
        .body::<CandidateView, _>(|body| deadline::read(body, DateTime::UNIX_EPOCH))
        .example("deadline", json!({ "deadline": "2026-12-24T18:00:00+01:00" }))
}

pub(crate) fn advance_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The introduction has a table of the moves. Candidates who are invited without a deadline get \
             the default of the project or the company. With `receive_mails` false, no address is needed and no mail is sent: \
             `interview_url` in the answer is the link to the interview.",
        )
        .refuses(&NOT_ADVANCED)
}

pub(crate) fn skip_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Withdraws the candidate permanently: no more mails; keys and sessions are revoked. Only before the interview, and after it \
             has expired or was aborted; `cancel/` also ends an interview that has begun.",
        )
        .refuses(&[NOT_SKIPPABLE])
}

pub(crate) fn cancel_interview(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Withdraws a candidate who has not completed the interview, also in the middle of it: they become `skipped`, permanently. Keys and \
             sessions are revoked at once, and the candidate's link tells that the company has cancelled the interview, and whom to ask. A recording \
             that is under way ends with what has arrived of it; what was answered stays until the candidate is erased; drafts of \
             written answers are dropped. Guest links end. A hold and a request for erasure stay as they are.\n\n\
             A candidate who is `skipped` already stays so: 200, without an event or a mail. A request that comes at the same time as the \
             completion either cancels the interview or is refused.",
        )
        .body::<CandidateView, _>(CancellationRequest::read)
        .field("reason", "Why the interview is cancelled. Only callers who may change the project see it, as `cancellation` of the candidate.")
        .field(
            "notify",
            "Whether a mail tells the candidate: one, and none if they were never invited, have requested erasure, or `receive_mails` is false. By \
             default false.",
        )
        .refuses(&[ALREADY_INTERVIEWED])
        .example("filled", json!({ "reason": "The position is filled.", "notify": true }))
}

pub(crate) fn list_help_requests(operation: OperationDoc) -> OperationDoc {
    operation.text("The open requests of the project's candidates for help, the oldest candidate first.")
}

pub(crate) fn ask_for_help(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Candidates ask the company for more time, another way to answer, help with a device, or to stop. Nothing moves by itself. Besides \
             open keys and sessions, a key that has ended works here: one that `whoami/candidate/` refuses with `deadline_passed`, \
             `interview_completed` or `key_registered`; with `withdrawn` it is refused with 400, a replaced one with 401.\n\n\
             A further request replaces an earlier one, and its answer. Interview managers who take notifications get a mail with the text, at most one \
             in ten minutes; without such a manager the contact that candidates see, and without an address there, the owners. The event is \
             `candidate.asked`, without kind and text.\n\n\
             A request is answered by `help-request/answer/`, or by what is done for the candidate: another deadline, other `adjustments`, a \
             reopening; it is also closed when the interview is cancelled, the candidate is skipped, or the interview is complete.",
        )
        .body::<HelpRequestView, _>(help_request::read)
        .refuses(&[KeyEnd::Withdrawn.refusal()])
        .is_limited("A candidate may ask three times within 24 hours.")
        .example("time", json!({ "kind": "time", "text": "My exam is on the same day. Could I have until Friday?" }))
}

pub(crate) fn take_help_request_back(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Takes an open request back. No event tells of it, and it still counts for the limit. Returns 404 without one, and once it is \
             answered. The keys of PUT work here too.",
        )
        .refuses(&[KeyEnd::Withdrawn.refusal()])
        .is_limited("A candidate may make 100 changes of their own an hour.")
}

pub(crate) fn answer_help_request(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The company's words to a candidate who has asked for help. They are mailed, unless `receive_mails` is false, and shown to the \
             candidate on the page. A request that a new deadline or anything else has answered may still get words, once.",
        )
        .body::<CandidateView, _>(help_request::read_answer)
        .field("text", "At most 1,000 characters, in several lines.")
        .refuses(&[NOTHING_TO_ANSWER])
        .is_limited("A candidate gets at most five mails an hour that changes and reminders cause.")
        .example("time", json!({ "text": "You have until Friday. Good luck with your exam!" }))
}

pub(crate) fn remind_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Emails a reminder to a candidate who is `invited` or `confirmed`. The service sends reminders itself on the \
             `reminder_days` of the project.",
        )
        .refuses(&[
            NOT_REMINDABLE,
            ERASURE_REQUESTED,
            DEADLINE_PASSED,
            MAILS_OFF,
            EMAIL_MISSING,
            UNDELIVERABLE,
        ])
        .is_limited("A candidate gets at most five mails an hour that changes and reminders cause.")
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
        .is_limited("A candidate may make 100 changes of their own an hour.")
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

pub(crate) fn candidate() -> serde_json::Value {
    json!({ "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com", "external_id": "4711",
            "deadline": "2026-12-24T18:00:00+01:00" })
}
