//! What the reference says of this group.

use serde_json::json;
use shared::domain::customer::{AccountType, CustomerStatus, LAST_OWNER, NOT_INVITED, OWN_ACCOUNT};
use shared::domain::file::FileKind;
use shared::domain::suppression::UNDELIVERABLE;
use shared::http::view::{CustomerView, UploadView};
use shared::http::{Fields, read_announcement};
use shared::openapi::{Group, Operation};

use crate::batch_import::ImportView;
use crate::changes::{Changes, Creation, Imported};
use crate::{batch_import, crud, photo, reinvite};

/// Whom people may create, change and delete.
const MANAGED: &str = "Customers may be created, changed and deleted by those of a higher account type only.";

/// This group as the reference shows it.
pub fn group() -> Group {
    Group {
        name: "customers",
        title: "Customers",
        text: "The staff users of a company.",
        routes: crate::routes(),
        operations: vec![
            Operation::of("List customers", crud::list)
                .text("The oldest first.")
                .query::<String>("username", "Only who has this user name, whatever its case.")
                .query::<CustomerStatus>("status", "Only customers with this status.")
                .query::<AccountType>("account_type", "Only customers of this account type."),
            create(),
            Operation::of("Get customer", crud::read),
            update(),
            Operation::of("Delete customer", crud::delete)
                .text(&format!("{MANAGED} The customer gets a mail that names who deleted it."))
                .refuses(&[OWN_ACCOUNT, LAST_OWNER]),
            Operation::of("Get customer photo", photo::read)
                .text("The address is the customer's `photo`; it needs no credential."),
            Operation::of("Announce customer photo", photo::announce)
                .text("For a photo that is too large for a request: put it where the answer says. Of oneself, or of whom one manages.")
                .body::<UploadView, _>(|body: Fields| read_announcement(body, &[FileKind::Photo]))
                .example("photo", json!({ "field": "photo", "content_type": "image/jpeg", "size": 7_000_000 })),
            Operation::of("Get customer upload", photo::upload).text("How far it is."),
            Operation::of("Reinvite customer", reinvite::update)
                .text("Sends another invitation; the link of the one before is good no more.")
                .refuses(&[NOT_INVITED, UNDELIVERABLE])
                .is_limited("At most five times an hour for one customer."),
            import(),
        ],
    }
}

fn create() -> Operation {
    Operation::of("Create customer", crud::create)
        .text(&format!("The customer is invited by mail. {MANAGED}"))
        .body::<CustomerView, _>(|mut body: Fields| {
            body.file(FileKind::Photo, None);
            Creation::read(body)
        })
        .example(
            "customer",
            json!({ "first_name": "Grace", "last_name": "Hopper", "email": "grace@example.com",
                    "account_type": "hiring-manager", "preferred_language": "en" }),
        )
}

fn update() -> Operation {
    Operation::of("Change customer", crud::update)
        .text(&format!(
            "{MANAGED} People may change their own names, phone, gender, position, photo, language, \
                        notifications and password. Another email address ends the customer's sessions and the keys \
             mailed to the old address; a customer who is `invited` gets another invitation there."
        ))
        .body::<CustomerView, _>(|mut body: Fields| {
            body.file(FileKind::Photo, None);
            // Asked for along with a password.
            body.text("current_password", shared::auth::password::Password::attempt);
            Changes::read(body, |_| true)
        })
        .is_limited("Wrong present passwords count as failed logins: after ten in 15 minutes, wait as `Retry-After` says.")
        .field("password", "Another password; needs `current_password`. All other sessions end.")
        .field("current_password", "The present password, for another. A wrong one counts as a failed login.")
        .example("position", json!({ "position": "Rear Admiral", "phone": "+1 202 555 0100" }))
}

fn import() -> Operation {
    Operation::of("Import customers", batch_import::create)
        .text(
            "Makes the company's active staff those of the list: who is new is created and invited, who is missing is \
             deactivated, everybody else stays as they are. Everything is checked before anything is changed.",
        )
        .body::<CustomerView, _>(|body: Fields| Imported::read_all(vec![Ok(body)]))
        .field("pk_attribute", "By what entries are found among the staff; the same in all of them.")
        .refuses(&[LAST_OWNER])
        .example(
            "staff",
            json!([{ "pk_attribute": "email", "account_type": "recruiter", "username": "grace",
                     "email": "grace@example.com", "first_name": "Grace", "last_name": "Hopper" }]),
        )
        .answers::<axum::Json<ImportView>>()
}
