//! The texts and examples of each route in the OpenAPI document.

use serde_json::json;
use shared::domain::language::Language;
use shared::domain::mail::address_change::{CONFIRMATION_DAYS, RESTORATION_HOURS};
use shared::domain::mail::suppression::UNDELIVERABLE;
use shared::domain::media::file::FileKind;
use shared::domain::staff::customer::{AccountType, CustomerStatus, LAST_OWNER, NOT_INVITED, OWN_ACCOUNT};
use shared::http::BodyFields;
use shared::http::read_announcement;
use shared::http::view::{CustomerView, UploadView};
use shared::openapi::OperationDoc;

use crate::changes::{CreateCustomer, UpdateCustomer};
use crate::import::entry::StaffList;

const MANAGED: &str = "Only customers with a higher account type may create, change or delete a customer.";

pub(crate) fn list_customers(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Oldest first.")
        .query::<String>("username", "Only the customer with this user name; case is ignored.")
        .query::<CustomerStatus>("status", "Only customers with this status.")
        .query::<AccountType>("account_type", "Only customers of this account type.")
}

pub(crate) fn create_customer(operation: OperationDoc) -> OperationDoc {
    operation
        .text(&format!("Emails an invitation to the customer. {MANAGED}"))
        .body::<CustomerView, _>(|mut body: BodyFields| {
            body.file(FileKind::Photo, || None);
            CreateCustomer::read(body)
        })
        .field("is_active", "New customers are active: false is refused.")
        .example(
            "customer",
            json!({ "first_name": "Grace", "last_name": "Hopper", "email": "grace@example.com",
                    "account_type": "hiring-manager", "preferred_language": "en" }),
        )
}

pub(crate) fn change_customer(operation: OperationDoc) -> OperationDoc {
    operation
        .text(&format!(
            "{MANAGED} Customers may change their own fields except `email`, `role` and `account_type`.\n\n\
             To change the email address, the caller must see every project in which the customer has a role or a share. \
             `invited` customers get another invitation at the new address; their sessions end, and so do the keys mailed \
             to the old one. `confirmed` customers get a mail with a link at the new address, valid for \
             {CONFIRMATION_DAYS} days: until they open it and enter their password, `email_confirmed` is false and the \
             former address counts for logins, password resets and mails. Setting the former address again needs no \
             confirmation. The former address gets a mail with a link that undoes the change within \
             {RESTORATION_HOURS} hours."
        ))
        .body::<CustomerView, _>(|mut body: BodyFields| {
            body.file(FileKind::Photo, || None);
            // The reader asks for this field only together with a password.
            body.text("current_password", shared::auth::password::Password::attempt);
            UpdateCustomer::read(body, |_| true, true)
        })
        .is_limited(
            "A wrong `current_password` counts as a failed login: after ten within 15 minutes, wait as `Retry-After` says. \
             A customer gets at most five mails an hour to new addresses, and five new addresses in 72 hours, or twenty with \
             `confirm`; both count together.",
        )
        .field(
            "confirm",
            "Whether the email address counts at once, for a customer who can neither read the former one nor log in. It ends all \
             sessions. Only for owners who have logged in themselves; ignored without another address.",
        )
        .field("is_active", "Only as it was read: a batch import alone activates and deactivates customers.")
        .field("password", "New password; needs `current_password`. All other sessions end.")
        .field("current_password", "Current password, to set a new one.")
        .example("position", json!({ "position": "Rear Admiral", "phone": "+1 202 555 0100" }))
}

pub(crate) fn delete_customer(operation: OperationDoc) -> OperationDoc {
    operation
        .text(&format!("{MANAGED} The customer gets a mail that names the caller."))
        .refuses(&[OWN_ACCOUNT, LAST_OWNER])
}

pub(crate) fn get_customer_photo(operation: OperationDoc) -> OperationDoc {
    operation.text("The customer's `photo` is this URL. It needs no credentials.")
}

pub(crate) fn announce_customer_photo(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Announces a photo that is too large for a request. Upload it to the URL in the answer. \
             Customers may do this for themselves and for customers whom they may change.",
        )
        .body::<UploadView, _>(|body: BodyFields| read_announcement(body, &[FileKind::Photo]))
        .example("photo", json!({ "field": "photo", "content_type": "image/jpeg", "size": 7_000_000 }))
}

pub(crate) fn get_customer_upload(operation: OperationDoc) -> OperationDoc {
    operation.text("The progress of an announced photo.")
}

pub(crate) fn reinvite_customer(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Emails another invitation or, to a customer who has yet to confirm a new email address, another link to confirm it. \
             The link in the previous mail stops working.",
        )
        .refuses(&[NOT_INVITED, UNDELIVERABLE])
        .is_limited("A customer gets at most five invitations an hour.")
}

pub(crate) fn import_customers(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Makes the list the company's active staff: new customers are created and invited, missing ones \
             deactivated, and the others left as they are, their email addresses included. Customers who have yet to confirm an \
             address are found by it and by the former one. Nothing changes unless the whole list is valid.",
        )
        .body::<CustomerView, _>(|body: BodyFields| StaffList::read(vec![Ok(body)], Language::En))
        .field("pk_attribute", "The attribute that identifies customers: the same in all entries.")
        .refuses(&[LAST_OWNER])
        .example(
            "staff",
            json!([{ "pk_attribute": "email", "account_type": "recruiter", "username": "grace",
                     "email": "grace@example.com", "first_name": "Grace", "last_name": "Hopper" }]),
        )
}
