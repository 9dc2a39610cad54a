//! The texts and examples of each route in the OpenAPI document.

use chrono::DateTime;
use serde_json::json;
use shared::domain::answers::{
    ALREADY_INTERVIEWED, MAX_PARTS, NO_TAKE, NO_TAKES_LEFT, NOT_RECORDED, NOT_WRITTEN, TAKE_CLOSED,
    TAKE_REPLACED, TOO_LARGE,
};
use shared::domain::candidate::{
    LINK_DELETED, NO_ANSWERS, NOT_INTERVIEWED, NOT_INTERVIEWING, REOPENED, TIME_OVER, TOO_MANY_LINKS,
};
use shared::domain::privacy::erasure_request::ERASURE_REQUESTED;
use shared::domain::transition::{
    ALREADY_EVALUATED, DEADLINE_MISSING, DEADLINE_PASSED, NOT_REOPENABLE, PROJECT_NOT_RUNNING,
};
use shared::http::view::{CandidateView, GuestLinkView};
use shared::openapi::OperationDoc;

use crate::answers::read_text;
use crate::captions::read_captions;
use crate::drafts::read_draft;
use crate::guests::links::read_new;
use crate::reopening::read_request;
use crate::takes::{read_finished, read_parts};
use crate::view::{AnswerView, DraftView, SignedPartsView, TakeView};

const GUEST_LIMIT: &str = "By one link, at most 300 requests an hour are answered.";

pub(crate) fn get_interview(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The answers so far, the questions without one, and the time that is left; before the beginning, what to expect. 404 in \
             projects whose `interview_platform` is `external` or that have no questions.\n\n\
             If the time ends before everything required is answered, the candidate is `aborted` an hour later. If something was \
             answered, `ended_by_time` is true and `ended_at` the moment, a mail tells the candidate what has arrived, the mail to \
             staff tells how far the interview was answered, and guest links can show it. To let the candidate go on, reopen the \
             interview, or set a later deadline and advance the candidate.",
        )
        .untagged()
}

pub(crate) fn reopen_interview(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Lets a candidate who is `interviewed`, or whose interview its time ended with answers (`ended_by_time`), go on with the \
             interview: they are `interviewing` again with all answers and one \
             more take of each question, up to 20 takes. They have time until the deadline, whatever the project's \
             `max_interview_time`; if they do not complete the interview again by then, it counts as complete with the answers that \
             there are, unless it had never been complete. `interviewdate` is null in the meantime. The candidate's link works again, or the mail \
             has a new one if the time had ended the interview; candidates with a password log in, and a mail tells \
             them, unless `receive_mails` is false. 404 in projects whose `interview_platform` is `external` or that have no questions.",
        )
        .body::<CandidateView, _>(|body| read_request(body, DateTime::UNIX_EPOCH))
        .field("reason", "Why the interview goes on. Only callers who may change the project see it, as `reopening` of the candidate.")
        .field("message", "The company's message to the candidate, until the interview is complete again: in the mail, on the page, and in the interview for managers.")
        .field("deadline", "The new deadline; without it, the deadline stays.")
        .refuses(&[
            NOT_REOPENABLE,
            PROJECT_NOT_RUNNING,
            ERASURE_REQUESTED,
            ALREADY_EVALUATED,
            DEADLINE_MISSING,
            DEADLINE_PASSED,
        ])
        .example(
            "reopen",
            json!({ "reason": "The second answer has no sound.", "message": "Please record the second answer once more.", "deadline": "2026-12-24T18:00:00+01:00" }),
        )
}

pub(crate) fn list_guest_links(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The links that work or rest, and those that have ended in the last 30 days, the latest 100 at most.",
    )
}

pub(crate) fn create_guest_link(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Makes a link for a person without an account. Its page, `url`, shows the questions and answers of a candidate who is \
             `interviewed`, or whose interview its time ended with answers, with the names of the company, the project and the candidate, \
             and nothing else. Anyone with the link can open it: send it to the recipient alone. Only this answer shows `url`; a retry with the same `Idempotency-Key` \
             returns it again for 24 hours, and is refused once the link is deleted. A link rests while the candidate may go on \
             with the interview or has requested erasure, and its page says so; it ends with the candidate and when the interview is cancelled, and outlives the role and the account of its creator.",
        )
        .body::<GuestLinkView, _>(|body| read_new(body, DateTime::UNIX_EPOCH))
        .field("expires_at", "When the link stops working: at most 90 days ahead, by default 14.")
        .field("hide_name", "Whether the candidate's name is hidden from guests; false by default.")
        .refuses(&[NOT_INTERVIEWED, REOPENED, ERASURE_REQUESTED, NO_ANSWERS, TOO_MANY_LINKS, LINK_DELETED])
        .example("guest", json!({ "recipient": "Head of sales", "expires_at": "2026-12-24T18:00:00+01:00" }))
}

pub(crate) fn delete_guest_link(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The link and the URLs of recordings that it has shown stop working at once. A recording that a guest is watching can play \
         on for up to 15 minutes.",
    )
}

pub(crate) fn get_review(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The answers and the texts that the page of a guest link shows. The key of a link that shows nothing gets 401 with `code` `link_expired`, \
             `link_withdrawn`, `link_resting` (the candidate may go on with the interview) or `candidate_gone`, and the company with a \
             contact; unknown keys get `invalid_credential` and nothing more. Reading the review is no opening of the link, because \
             programs that check links in mails read it too.",
        )
        .is_limited(GUEST_LIMIT)
        .untagged()
}

pub(crate) fn open_review(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Tells that a person has opened the link: its page sends this when the guest presses a button. Managers see the first and \
             the last opening of a link. Openings within ten minutes count as one.",
        )
        .is_limited(GUEST_LIMIT)
}

pub(crate) fn get_answer(operation: OperationDoc) -> OperationDoc {
    operation.text("404 before the first take or text.")
}

pub(crate) fn write_answer(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "For questions whose `kind` is `text`, and for all questions if the candidate's `adjustments` say so. With \
             `If-Match`, a second window does not overwrite what the first has written.",
        )
        .body::<AnswerView, _>(read_text)
        .refuses(&[NOT_INTERVIEWING, TIME_OVER, NOT_WRITTEN])
        .is_limited("A candidate may write 600 times an hour.")
        .example("text", json!({ "text": "The race in our scheduler." }))
}

pub(crate) fn save_draft(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Saves the text that the candidate has typed and not sent. The interview shows the draft to the candidate alone. It is no answer: \
             send it with `PUT …/answers/{questionId}/`, which ends the draft. Once the time of the interview is over, the draft is \
             the answer if there is no other, and so it is when the candidate or the platform completes the interview; a draft \
             beside an answer is then dropped. No event tells of drafts; the history keeps that one has begun, without its text, and \
             nothing of the texts that follow. A blank text deletes the draft. \
             A draft is written once in two seconds: a request that comes earlier waits, and is answered when its text is stored, \
             or, without `If-Match`, a later one, whose `ETag` the response then has. With `If-Match`, a second window does not \
             overwrite what the first has typed: send the `ETag` of the response, or the `tag` of the draft that the interview \
             shows, or `\"0-\"` if it shows none.",
        )
        .body::<DraftView, _>(read_draft)
        .refuses(&[NOT_INTERVIEWING, TIME_OVER, NOT_WRITTEN])
        .example("text", json!({ "text": "The race in our" }))
}

pub(crate) fn delete_draft(operation: OperationDoc) -> OperationDoc {
    operation.text("Deletes the draft. 204 also without one.").refuses(&[
        NOT_INTERVIEWING,
        TIME_OVER,
        NOT_WRITTEN,
    ])
}

pub(crate) fn reset_answer(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Deletes the takes, the text and the draft, and gives all takes back. For managers, before the interview is complete.")
        .refuses(&[ALREADY_INTERVIEWED])
}

pub(crate) fn set_captions(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Send a form with a WebVTT file of at most 256 KiB and 5,000 cues, which replaces the captions of the answer in this \
             language, and with the number of the take that you have captioned. The service stores times, positions and plain \
             text, and leaves out markup, styles, regions, identifiers and comments. Captions go with their take: when the \
             candidate records another one, and when the answer is reset. Managers may caption an answer at any time, also while the candidate is \
             on hold. Players of staff and guests show them; candidates see them in the document with all their data alone.",
        )
        .body::<AnswerView, _>(read_captions)
        .field("file", "The WebVTT file, in UTF-8.")
        .field("take", "The `number` of the answer's `take`, so that captions of an earlier recording are refused.")
        .refuses(&[NOT_RECORDED, NO_TAKE, TAKE_REPLACED])
}

pub(crate) fn delete_captions(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Returns 404 if the answer has no captions in this language.")
        .refuses(&[NOT_RECORDED, NO_TAKE])
}

pub(crate) fn get_captions(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The `url` of each of the answer's `captions` is such a URL. It needs no credentials. It names the answer and not the take: \
             after another recording it returns the captions of that one, or 404 if that one has none in this language. A `<track>` on \
             the origin of the API can load it; pages of other origins fetch it and hand it to the `<track>` as a `blob:` URL.",
        )
        .sends("text/vtt", "The captions, as WebVTT.")
}

pub(crate) fn begin_take(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Uses up one of the takes of the question, unless it fails, is one of the first two that are interrupted, or one of \
             the first three that are closed without a part until a minute after `record_from`. An open take of the question is \
             closed with the parts that have arrived. Send an `Idempotency-Key`: a repeat then begins no second take. If the \
             question has a time to prepare and a video, the candidate sees both only now, and the time to prepare begins when \
             the video has had its time.",
        )
        .refuses(&[NOT_INTERVIEWING, TIME_OVER, NOT_RECORDED, NO_TAKES_LEFT])
}

pub(crate) fn sign_parts(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The parts of a take are one recording, cut anywhere: joined in the order of their numbers, they are the file. Upload \
             each with the returned request and exactly these headers. The bucket refuses other bytes (400), and bytes for a \
             part that is there (412). Writes nothing, so it can be repeated.",
        )
        .body::<SignedPartsView, _>(|body| read_parts(body, MAX_PARTS))
        .refuses(&[TAKE_CLOSED, TOO_LARGE])
        .example(
            "part",
            json!({ "parts": [
                { "number": 7, "size": 640_000, "sha256": "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=" },
            ] }),
        )
}

pub(crate) fn finish_take(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Once all parts have arrived, the take is `pending` and will be converted. Otherwise it stays open, and \
             `missing_parts` lists what to send. Repeating it is harmless. With `parts` null, the parts that have arrived are \
             the take. With `parts` 0, the candidate gives the take up: it is dropped, and an earlier one stays the answer.",
        )
        .body::<TakeView, _>(|body| read_finished(body, MAX_PARTS))
        .field("parts", "The number of parts; null for those that have arrived, 0 to give the take up.")
        .refuses(&[TAKE_CLOSED, TOO_LARGE])
        .example("take", json!({ "parts": 25, "recorded_seconds": 84, "source": "recorder" }))
}

pub(crate) fn get_thumbnail(operation: OperationDoc) -> OperationDoc {
    operation.text("The answer's `thumb` is this URL. It needs no credentials.")
}

pub(crate) fn get_recording(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The URLs in `streams` of an answer are such URLs. They need no credentials. The answer leads to a URL that works for \
         at most four hours, often less. When it answers 403, request this URL again.",
    )
}
