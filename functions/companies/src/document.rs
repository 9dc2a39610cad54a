//! The texts and examples of each route in the OpenAPI document.

use serde_json::json;
use shared::domain::export::EXPORT_RUNNING;
use shared::domain::language::Language;
use shared::domain::privacy::legal::LegalKind;
use shared::domain::privacy::retention_rule::RetentionStart;
use shared::http::view::LabelView;
use shared::openapi::OperationDoc;

use crate::changes::read_changes;
use crate::retention::SetRetention;
use crate::retention::view::PolicyView;
use crate::usage::MAX_MONTHS;
use crate::view::{CompanyView, LegalTextView};
use crate::{labels, legal, logo, shares};

pub(crate) fn change_company(operation: OperationDoc) -> OperationDoc {
    operation
        .body::<CompanyView, _>(read_changes)
        .example("deadline", json!({ "default_interview_period": 14, "timezone": "Europe/London" }))
}

pub(crate) fn get_company_login(operation: OperationDoc) -> OperationDoc {
    operation
        .text("The company, a contact for questions, and the application of its staff, for the login page of candidates.")
        .finds_nothing()
}

pub(crate) fn list_languages(operation: OperationDoc) -> OperationDoc {
    operation.text("The languages that `support_lang` and `preferred_language` may name.")
}

pub(crate) fn list_labels(operation: OperationDoc) -> OperationDoc {
    operation.text("Oldest first.")
}

pub(crate) fn create_label(operation: OperationDoc) -> OperationDoc {
    operation.body::<LabelView, _>(labels::read_new).example("label", json!({ "text": "Senior" }))
}

pub(crate) fn change_label(operation: OperationDoc) -> OperationDoc {
    operation.body::<LabelView, _>(labels::read_changes).example("label", json!({ "text": "Principal" }))
}

pub(crate) fn delete_label(operation: OperationDoc) -> OperationDoc {
    operation.text("Also removes the label from all projects.")
}

pub(crate) fn list_shares_with_caller(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Candidates that other customers share with the caller, the oldest share first.")
        .expand(&[shares::CANDIDATE])
}

pub(crate) fn get_usage(operation: OperationDoc) -> OperationDoc {
    let month = json!({ "type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$" });
    operation
        .text(
            "What the company has used, by calendar month in UTC. It counts the events of the feed, each in the month of its `timestamp`, \
             as soon as they have their numbers. The numbers stay when candidates are erased and when events expire. An event that gets \
             its number only when its month is final counts in the first month that is not. Nothing was counted before the release that \
             brought this operation.",
        )
        .required_query_as("from", "The first month.", month.clone(), "2026-10")
        .required_query_as("to", &format!("The last month, at most {MAX_MONTHS} with the first one."), month, "2026-11")
}

pub(crate) fn list_legal_texts(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The texts that tell candidates about their data and that the company asks them to accept: all versions, by kind \
             and the oldest first. Without a credential of the company, the list has the current version of each kind \
             alone. It is empty for a company that has published nothing, and for one that does not exist.",
        )
        .query::<LegalKind>("kind", "Only texts of this kind.")
        .query::<Language>("language", "Leaves only this language in `texts`.")
        .query::<bool>("current", "True for the current version of each kind, without kinds that are retired.")
}

pub(crate) fn list_exports(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "Newest first, without the URLs of their files. An export is listed for 7 days. Only owners who are logged in themselves may \
         use exports: named tokens and sessions on behalf of an owner are refused.",
    )
}

pub(crate) fn request_export(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Requests an archive of everything of the company: all records, also those that the API shows to some users only, and all \
             files. It has no passwords, keys or other secrets. The service writes it within minutes, and owners can download it for \
             72 hours. All owners are mailed at once that it was requested, and the caller when it is done. The event \
             `company.exported` tells of its end.\n\nThe archive is a folder of plain files: JSON, a record a line, with a signed manifest. The \
             operator of another deployment of this service can import it.\n\nIf a candidate or a customer is deleted \
             meanwhile, the archive is written without them. If one is deleted afterwards, the service deletes the export.",
        )
        .refuses(&[EXPORT_RUNNING])
        .is_limited("A company may request four exports in 24 hours, those that have failed or that owners have deleted included.")
}

pub(crate) fn get_export(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "Fetch it every few seconds until `status` is neither `pending` nor `running`. To restore the folder of the archive, save each of \
         the `files` under its `name`, and each of the `media` below `media/` under its `path`.",
    )
}

pub(crate) fn delete_export(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "Ends an export that is running, and deletes its files within minutes. URLs that were shown before work until \
         then. The event is `company.export_deleted`.",
    )
}

pub(crate) fn list_exported_media(operation: OperationDoc) -> OperationDoc {
    operation.text("Photos, CVs and recordings by their `path`, with URLs. The list is empty unless the export can be downloaded.")
}

pub(crate) fn set_logo(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Send a form with a PNG, JPEG, GIF or WebP of at most 2 MiB and 4 megapixels. The service shows it to candidates, on \
             their page and in mails, as a PNG that fits into 360 × 120 pixels, on white. A new logo takes the place of \
             the former one under the same URL, also in mails that were sent. The event is `company.updated`, with `logo` \
             among the changed fields.",
        )
        .body::<CompanyView, _>(logo::read_logo)
        .field("file", "The picture.")
}

pub(crate) fn delete_logo(operation: OperationDoc) -> OperationDoc {
    operation.text("The URL of the logo ends, also in mails that were sent: they show the company's name. Returns 404 without a logo.")
}

pub(crate) fn get_logo(operation: OperationDoc) -> OperationDoc {
    operation
        .text("The company's `logo` is this URL. It needs no credentials. Anyone may keep the response for an hour.")
        .sends("image/png", "The logo.")
        .finds_nothing()
}

pub(crate) fn publish_legal_text(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Publishes the next version of a kind of text. It applies at once, and candidates who have accepted an \
             earlier version must accept this one if it is required. Versions never change and are never deleted; one \
             with empty `texts` retires its kind. The event is `company.updated`, with `legal` among the changed fields.",
        )
        .body::<LegalTextView, _>(legal::read_new)
        .example(
            "policy",
            json!({ "kind": "privacy_policy", "texts": { "en": "https://acme.example/privacy" } }),
        )
        .example(
            "consent",
            json!({
                "kind": "consent",
                "texts": {
                    "en": "I agree that Acme Ltd evaluates my recorded answers.",
                    "de": "Ich willige ein, dass Acme Ltd meine Antworten auswertet.",
                },
                "is_required": true,
            }),
        )
        .example("retired", json!({ "kind": "consent", "texts": {} }))
}

pub(crate) fn get_legal_text(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The identifier is the kind and the version, such as `consent-3`. Needs no credential. Anyone may keep the \
             response for an hour.",
        )
        .finds_nothing()
}

pub(crate) fn get_retention(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The policy for projects without one of their own, and what the daily runs have done. A company that has never \
         set a policy has null `days`: it keeps its candidates.",
    )
}

pub(crate) fn set_retention(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Candidates are erased `days` after their last activity or the close of their project, by a run in the night \
             (02:00 in the company's time zone), as if a user had deleted them; those on hold are not. The last \
             activity is the latest of the candidate's creation, invitation, confirmation, interview, reminders, \
             evaluations, skipping, aborting and expiry, and of the deadline while the candidate is `invited`, `confirmed` \
             or `interviewing`.\n\n\
             A first or stricter policy erases nothing for seven days, until `starts_at`; fewer `days`, and \
             `last_activity` in place of `project_closed`, are stricter. Another policy applies at once, but starts no \
             earlier than the one before it would have. `due/` shows beforehand who would be erased.",
        )
        .body::<PolicyView, _>(SetRetention::read)
        .field("from", "The event from which the days are counted. By default `last_activity`.")
        .field(
            "request_days",
            "The days until an unanswered request for erasure is carried out, for requests that are made later. By \
             default 30.",
        )
        .field(
            "notice_days",
            "The days before an erasure in which runs count a candidate as `soon`. By default 14.",
        )
        .example("half_a_year", json!({ "days": 180, "from": "project_closed" }))
        .example("keep", json!({ "days": null, "request_days": 14 }))
}

pub(crate) fn delete_retention(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The company keeps its candidates again, except in projects with a policy of their own, and all other settings are \
         the defaults. Requests for erasure stay due.",
    )
}

pub(crate) fn list_due(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The candidates whom a run at the moment `until` would erase, by project and then by creation, the oldest \
             first; with those on hold, whom it would not. With `days`, another policy is tried in the place of all, those \
             of projects included, as if it had already started. Nothing is erased, and requests for erasure are not \
             listed.\n\n\
             A request looks at 5,000 candidates in 300 projects at most, so a page may be short or empty although \
             `more` is true.",
        )
        .query::<String>("project", "Only candidates of the project with this URL.")
        .query_as("until", "The moment of the run. By default now.", json!({ "type": "string", "format": "date-time" }))
        .query_as(
            "days",
            "Tries this number of days.",
            json!({ "type": "integer", "minimum": 7, "maximum": 3650 }),
        )
        .query::<RetentionStart>("from", "The event from which `days` are counted. By default `last_activity`.")
        .query_as(
            "page_size",
            "Number of candidates per page.",
            json!({ "type": "integer", "minimum": 1, "maximum": 100, "default": 20 }),
        )
        .query::<String>("after", "The place to continue at, from `next`.")
        .untagged()
}
