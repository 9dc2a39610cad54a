//! The texts and examples of each route in the OpenAPI document.

use serde_json::json;
use shared::openapi::OperationDoc;

use crate::feed::PROJECT_REQUIRED;

pub(crate) fn list_events(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Every change of the company's resources, shortly after it was made. Numbers (`sequence`) ascend \
             without gaps, and those with one `resource_uri` are in the order of its changes, so a client that follows `next` \
             misses nothing: read until `more` is false, store `next`, and continue there at any time.\n\n\
             An event can tell of several things at once: `types` has all of them, `type` the most telling one. \
             Events hold facts such as statuses and dates, and the client's own keys, but no other personal data: fetch \
             the resource for the rest. \
             With a filter, a request looks at 500 events at most, so a page may be empty although `more` is true.\n\n\
             To begin now instead of at the first event, take `meta.latest` of any page, then read the resources that you keep a copy of, then \
             go on with `?after=` and that number. Events may tell of what you have read already; none is missed.\n\n\
             A named token with `projects` reads the events of one of these at a time and must name it as `project`. Gaps between its \
             numbers, and `latest`, tell how much happens elsewhere in the company, but not what.\n\n\
             Events are kept for 400 days, unless the operator has set another time. If those after `after` have been \
             deleted, the answer is 410 with the number of the `first` one that is left: read all resources anew, and \
             continue with `after` one less than that.",
        )
        .query_as("after", "Events after this number, ascending. By default all.", json!({ "type": "integer", "minimum": 0, "default": 0 }))
        .query_as(
            "before",
            "Events before this number, the latest first; `latest` begins at the end. For people: events of the last \
             seconds may be missing.",
            json!({ "type": "string", "pattern": "^(latest|[0-9]+)$" }),
        )
        .query_as(
            "page_size",
            "Number of events per page.",
            json!({ "type": "integer", "minimum": 1, "maximum": 100, "default": 20 }),
        )
        .query::<String>("type", "Only events of this type, or of all types that begin so: `candidate.*`.")
        .query::<String>("resource", "Only changes of the resource with this URL.")
        .query::<String>(
            "project",
            "Only changes in the project with this URL. Required for named tokens with `projects`.",
        )
        .query::<String>(
            "by",
            "Only changes by the customer, candidate or named token with this URL, by `system` or by `operator`.",
        )
        .refuses(&[PROJECT_REQUIRED])
        .may_have_expired()
        .untagged()
}

pub(crate) fn get_receipt(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "A statement of the items of a candidate that were erased, when and why, signed by the service: for your records, and for those who ask. Only \
         events of type `candidate.erased` have a receipt; others answer 404. The statement names the candidate by their \
         identifier alone.\n\n\
         Verify it with any JOSE library: pass `jws` with the key of `/receipt-keys/` that has the `kid` of its header, and \
         the algorithm `EdDSA`. Check that the header's `typ` is `erasure-receipt+jws`, and that `iss` and `company` are the \
         service and the company that you expect. The payload is the statement. A receipt that you have fetched needs no service and is good for \
         as long as you keep it and the key; here you can fetch it until the event expires.\n\n\
         After the service was restored to an earlier moment, the candidate is erased again: `deleted_at` stays that of the \
         first deletion, `erased_at` is that of the last erasure, and the event's identifier may be another one.\n\n\
         `copies` tells the days of the service's settings at the moment of the erasure. It does not list what ends by itself: the answer to a POST with an `Idempotency-Key` (encrypted, a day), the \
         first bytes of what a webhook of yours has answered (7 days), and reports of mails that bounced (14 days). What the \
         service has sent you, and what you have written about the candidate elsewhere, is yours to erase.",
    )
}

pub(crate) fn list_receipt_keys(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The public keys that verify receipts, as a JWK set, without credentials. Former keys stay in it, so that older \
         receipts verify. Caches may keep it for five minutes; fetch it again for a `kid` that it lacks.",
    )
}
