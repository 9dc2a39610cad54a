//! What the reference says of this group.

use serde_json::json;
use shared::domain::candidate::{CandidateStatus, TOO_MANY_SHARES};
use shared::domain::email_status::UNDELIVERABLE;
use shared::domain::file::FileKind;
use shared::domain::transition::{
    DEADLINE_PASSED, EMAIL_MISSING, EMAIL_REQUIRED, NOT_ADVANCED, NOT_REMINDABLE, NOT_SKIPPABLE,
};
use shared::http::Fields;
use shared::http::view::{CandidateView, ShareView, UploadView, read_announcement};
use shared::openapi::{Group, Operation};

use crate::changes::{Changes, Files, OwnChanges};
use crate::import::Report;
use crate::{crud, deadline, files, import, list, reminder, shares, status};

/// This group as the reference shows it.
pub fn group() -> Group {
    Group {
        name: "candidates",
        title: "Candidates",
        text: "The candidates of a project, their files, their way through the interview, and with whom they are shared.",
        routes: crate::routes(),
        operations: vec![
            Operation::of("List candidates", list::list).text("The oldest first.")
                .query::<CandidateStatus>("status", "Only candidates with this status.")
                .query_as(
                    "email",
                    "Only candidates with this email address, whatever its case.",
                    json!({ "type": "string", "maxLength": 254 }),
                ),
            Operation::of("Create candidate", crud::create)
                .text("Its status is `new`: it knows of nothing until it is advanced.")
                .body::<CandidateView, _>(|mut body: Fields| {
                    Files::read(&mut body, |_| None);
                    Changes::read_new(body)
                })
                .example("candidate", candidate()),
            Operation::of("Import candidates", import::create)
                .text(
                    "Creates each entry's candidate, gives it its deadline and advances it. An entry that cannot be \
                     created is `failed`, one that cannot be advanced stays `new`; neither stops the others. One that there \
                     was no time for is `pending`, and `detail` tells how to have it done.",
                )
                .body::<CandidateView, _>(|mut body: Fields| {
                    Files::read(&mut body, |_| None);
                    Changes::read_new(body)
                })
                .field("photo", "Files are not imported; an entry that brings one fails.")
                .field("cv", "Files are not imported; an entry that brings one fails.")
                .example("one", json!([candidate()]))
                .answers::<axum::Json<Report>>(),
            Operation::of("Get candidate", crud::read),
            Operation::of("Change candidate", crud::update)
                .text(
                    "Managers change what belongs to the application. The candidate itself changes `phone`, `gender`, \
                     `address`, `photo`, `cv` and its `password`; the rest is ignored. Another `email` ends the \
                     candidate's sessions and the keys mailed to the old address; a candidate who is `invited` gets \
                     another invitation there.",
                )
                .refuses(&[EMAIL_REQUIRED, UNDELIVERABLE])
                .is_limited("At most five invitations an hour for one candidate.")
                .body::<CandidateView, _>(|mut body: Fields| {
                    Files::read(&mut body, |_| None);
                    OwnChanges::read_from(&mut body);
                    Changes::read(body)
                })
                .field("password", "The candidate's own choice; of nobody else.")
                .example("phone", json!({ "phone": "+44 20 7946 0000" }))
                .example("deadline", json!({ "deadline": "2026-12-24T18:00:00+01:00" })),
            Operation::of("Delete candidate", crud::delete).text("Its files, keys, sessions and shares go with it."),
            Operation::of("Set deadline", deadline::update)
                .text("One in the past is taken too, and the rules apply to it.")
                .body::<CandidateView, _>(deadline::read)
                .example("deadline", json!({ "deadline": "2026-12-24T18:00:00+01:00" })),
            Operation::of("Advance candidate", status::advance)
                .text("See the table of moves in the introduction. A candidate without a deadline gets one by its project's or its company's default when it is invited.")
                .refuses(&NOT_ADVANCED),
            Operation::of("Skip candidate", status::skip)
                .text("Withdraws the candidate permanently: no more mails; keys and sessions are revoked.")
                .refuses(&[NOT_SKIPPABLE]),
            Operation::of("Remind candidate", reminder::create)
                .text("Sends a mail to a candidate who is invited or confirmed.")
                .refuses(&[NOT_REMINDABLE, DEADLINE_PASSED, EMAIL_MISSING, UNDELIVERABLE])
                .is_limited("At most five reminders an hour for one candidate."),
            Operation::of("Get candidate photo", files::photo)
                .text("The address is the candidate's `photo`; it needs no credential."),
            Operation::of("Get candidate CV", files::cv)
                .text("The address is the candidate's `cv`; it needs no credential."),
            Operation::of("Announce candidate file", files::announce)
                .text("For a file that is too large for a request: put it where the answer says.")
                .body::<UploadView, _>(|body: Fields| read_announcement(body, &FileKind::ALL))
                .example("cv", json!({ "field": "cv", "content_type": "application/pdf", "size": 9_000_000 })),
            Operation::of("Get candidate upload", files::upload).text("How far it is."),
            Operation::of("List shares", shares::list)
                .text("With whom the candidate is shared, the oldest first.")
                .expand(&[shares::CUSTOMER]),
            Operation::of("Share candidate", shares::create)
                .text("Lets a customer read a candidate without a role in its project.")
                .body_with_references::<ShareView, _>(shares::read_new)
                .refuses(&[TOO_MANY_SHARES])
                .example(
                    "share",
                    json!({ "customer": "/api/v3/companies/acme/customers/01JQ8Z2M8F3A6D1S4J7H0K9PME/" }),
                ),
            Operation::of("Get share", shares::read),
            Operation::of("Delete share", shares::delete),
        ],
    }
}

fn candidate() -> serde_json::Value {
    json!({ "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com",
            "deadline": "2026-12-24T18:00:00+01:00" })
}
