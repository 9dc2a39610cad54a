//! The documentation of the routes about many candidates.

use chrono::DateTime;
use serde_json::json;
use shared::domain::id::ProjectId;
use shared::http::example_uri;
use shared::http::view::CandidateView;
use shared::openapi::OperationDoc;

use super::dry_run::DRY_RUN_WITH_KEY;
use crate::bulk::{BulkReport, BulkRequest, STATUS_CHANGED};
use crate::document::candidate;
use crate::import::read_candidate;

/// The limit of concurrent bulk requests.
const TWO_AT_ONCE: &str = "Two imports or actions on many candidates of a company run at once, dry runs included. A third is 429 with the code \
                           `busy`; a request that died counts for 30 seconds.";

pub(crate) fn import_candidates(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "For each entry, creates the candidate, sets the deadline and advances the candidate. An entry \
             that cannot be created is `failed`; one that cannot be advanced stays `new`. Neither stops the \
             others. An entry with `errors` has a `code`: that of the error, or `invalid` for messages by field. An entry whose \
             `external_id` another candidate of the project has is `failed` with the code `external_id_taken`; `candidate` is that \
             candidate, and `interview_url` the link to their interview. So is every entry whose `external_id` an earlier entry has. \
             Entries that do not fit into the time limit are `pending`, and `detail` says what to send again.\n\n\
             With `receive_mails` false, one entry creates and invites a candidate without a mail, and the answer has the link \
             to send them, `interview_url`.\n\n\
             With `?dry_run=true`, the answer is the same report of what would happen now, without candidates and links, and \
             nothing is written or mailed; `meta.mails` is the number of mails that candidates would get.",
        )
        .query::<bool>("dry_run", "Only report what would happen. By default false.")
        .refuses(&[DRY_RUN_WITH_KEY])
        .is_limited(TWO_AT_ONCE)
        .body::<CandidateView, _>(|body| read_candidate(body, DateTime::UNIX_EPOCH))
        .field(
            "consents",
            "Consents that were obtained elsewhere, as for `consents/{kind}/`. `candidate.consented` is then an event of \
             the creation.",
        )
        .field("photo", "Files are not imported: an entry with a file fails.")
        .field("cv", "Files are not imported: an entry with a file fails.")
        .example("one", json!([candidate()]))
        .example("consent", json!([with_consent(candidate())]))
        .example(
            "without_our_mail",
            json!([{ "first_name": "Ada", "last_name": "Lovelace", "receive_mails": false, "deadline": "2026-12-24T18:00:00+01:00" }]),
        )
}

pub(crate) fn act_on_many_candidates(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Takes one action on up to 1,000 candidates: on those in `candidates`, or on all who are in `status` when the request \
             comes, the oldest first. If there are more, `meta.more` is true, and `meta.next` is the last of these candidates: send it as \
             `after` to act on the next ones, also if these have failed and are still in the status. Each action and each refusal is that of the request for \
             one candidate. Entries do not stop each other. A candidate who is not in the project fails like a 404; \
             one who has left the `status` before their turn fails with the code `status_changed`.\n\n\
             With a `deadline`, `advance` sets it first, and it stays if the candidate then cannot be advanced: `deadline_set` tells. A \
             failed entry has the `code` of its error, and `retry_after` if the same may succeed later.\n\n\
             The entries that change something take about a second for each hundred. Entries that do not fit into the time limit are `pending`, and \
             `detail` says what to send again. With an `Idempotency-Key`, a repeated request does what is left and no action \
             twice, about the same candidates.\n\n\
             With `dry_run`, in the body or the query, the answer is the same report of what would happen now, without links, and nothing is written or \
             mailed; `meta.mails` is the number of mails that candidates would get.",
        )
        .query::<bool>("dry_run", "Only report what would happen. By default false.")
        .body_with_references::<BulkReport, _>(|body, company, references| {
            let project = ProjectId::from_bytes([0; 16]);
            BulkRequest::read(body, None, company, project, references, DateTime::UNIX_EPOCH)
        })
        .field("action", "The action on each candidate.")
        .field("deadline", "Required for `deadline`, allowed for `advance`.")
        .field("reason", "Required for `cancel`: why the interviews are cancelled. Only callers who may change the project see it.")
        .field("notify", "Allowed for `cancel`: whether a mail tells the candidates who were ever invited. By default false.")
        .field("candidates", "URLs of different candidates, or `external_id:` and the client's key of one. Send this or `status`.")
        .field("status", "Act on all candidates who are in this status. Send this or `candidates`.")
        .field(
            "after",
            "Only with `status`: act on those who come after this candidate, who may have been deleted. The `meta.next` of the \
             request before.",
        )
        .field("dry_run", "Only report what would happen. By default false.")
        .refuses(&[DRY_RUN_WITH_KEY])
        .is_limited(TWO_AT_ONCE)
        .text(&format!("\n\nAn entry by `status` may fail with `{}`: {}", STATUS_CHANGED.code, STATUS_CHANGED.detail))
        .example("expired", json!({ "action": "advance", "status": "expired", "deadline": "2026-12-24T18:00:00+01:00" }))
        .example("some", json!({ "action": "remind", "candidates": [example_uri::CANDIDATE, "external_id:4711"], "dry_run": true }))
        .example("filled", json!({ "action": "cancel", "status": "invited", "reason": "The position is filled.", "notify": true }))
}

fn with_consent(mut candidate: serde_json::Value) -> serde_json::Value {
    candidate["consents"] =
        json!([{ "kind": "consent", "version": 3, "language": "en", "obtained_at": "2026-11-08T10:00:00Z" }]);
    candidate
}
