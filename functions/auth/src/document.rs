//! The texts and examples of each route in the OpenAPI document.

use serde_json::json;
use shared::auth::access::NO_SESSION;
use shared::domain::mail::address_change::{CONFIRMATION_DAYS, RESTORATION_HOURS};
use shared::domain::secret::RESET_HOURS;
use shared::http::{BodyFields, example_uri};
use shared::openapi::OperationDoc;

use crate::account;
use crate::exchange::{ExchangeRequest, ExchangedTokenView};
use crate::view::{LoginBody, SessionTokenView};

const USERNAME: &str = "User name or email address.";
const COMPANY: &str = "Identifier of the company.";

pub(crate) fn log_in(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Starts a session and returns its token, for the header `Authorization`. Customers whom the \
             operator allows to act for others may omit `password` and send their own token: they get a \
             token of the named customer, whose account type must not be above theirs. After ten failures \
             from one source within 15 minutes, that source must wait (429 with `Retry-After`); after a \
             hundred from all sources, every source must.",
        )
        .may_require_sign_in()
        .may_be_authenticated()
        .authenticates()
        .body::<SessionTokenView, _>(|body: BodyFields| LoginBody::read_for_token(body, true))
        .field("username", USERNAME)
        .field("company", COMPANY)
        .field(
            "extended_expiration_period",
            "Days until the token expires, whether used or not. Without it, the token expires when it is not \
             used.",
        )
        .example(
            "login",
            json!({ "company": "acme", "username": "grace", "password": "correct horse battery" }),
        )
        .example(
            "for_a_month",
            json!({ "company": "acme", "username": "grace@example.com", "password": "correct horse battery",
                    "extended_expiration_period": 30 }),
        )
}

pub(crate) fn exchange_token(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Exchanges a JWT that a platform has signed for a token that acts as a named token with `trust`, so that a workload keeps \
             no secret (RFC 8693, as a form or as JSON). The JWT must be by the `issuer` of the trust, with its `subject` and its \
             `claims`, for the base URL of this API as its only audience, and signed by RS256, ES256 or ES384; it may be exchanged as often as \
             it is valid, and for a day at most.\n\nThe token has the rights, the name in events and the end of the named token. It works for an \
             hour at most, and for no longer than an hour after the end of the JWT. Deleting the named token ends it at once; \
             `POST /api-token-invalidate/` ends it alone.\n\nA subject token is refused with the same answer whatever is wrong, be it \
             that there is no such company or that the issuer does not answer. An owner finds the reason in `last_problem` of the named \
             token; other claims than those of the trust are noted there only if the request names the token. Unknown parameters are \
             ignored, repeated ones refused.",
        )
        .body::<ExchangedTokenView, _>(ExchangeRequest::read)
        .is_limited(
            "After ten failures for a company from one source within 15 minutes, and after a hundred from all sources, further failures are \
             answered with 429. JWTs that a token trusts go on. The answer is never kept for an `Idempotency-Key`: exchange again.",
        )
        .field("grant_type", "`urn:ietf:params:oauth:grant-type:token-exchange`.")
        .field("subject_token", "The JWT of the platform.")
        .field("subject_token_type", "`urn:ietf:params:oauth:token-type:jwt`.")
        .field("requested_token_type", "`urn:ietf:params:oauth:token-type:access_token`, or omit it.")
        .field(
            "resource",
            "The URL of the company, or of the named token if several of them trust the workload.",
        )
        .field("audience", "In place of `resource`.")
        .field("scope", "Refused, because a token has all rights of its named token.")
        .field("actor_token", "Refused.")
        .example(
            "exchange",
            json!({
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                "subject_token": "the JWT of the platform",
                "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
                "resource": example_uri::COMPANY,
            }),
        )
}

pub(crate) fn log_out(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Ends the session of the request, or the token of an exchange that it came with.")
        .refuses(&[NO_SESSION])
}

pub(crate) fn log_in_by_cookie(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Starts a session with the cookie `sessionid`, and answers like `whoami`. In a browser, the page \
             must come from the service's own origin or an allowed one.",
        )
        .may_require_sign_in()
        .body::<(), _>(LoginBody::read)
        .authenticates()
        .checks_origin()
        .field("username", USERNAME)
        .field("company", COMPANY)
        .example(
            "login",
            json!({ "company": "acme", "username": "grace", "password": "correct horse battery" }),
        )
}

pub(crate) fn log_out_by_cookie(operation: OperationDoc) -> OperationDoc {
    operation.text("Ends the session of the request and expires the cookie.").refuses(&[NO_SESSION])
}

pub(crate) fn activate_account(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Accepts a customer's invitation by choosing a password. All sessions of the customer end.")
        .may_require_sign_in()
        .body::<(), _>(account::read_activation)
        .field("activation_key", "The last part of the link in the invitation.")
        .example(
            "activation",
            json!({ "activation_key": "the key in the mail", "password": "correct horse battery" }),
        )
}

pub(crate) fn forget_password(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Emails a reset key to the customers and candidates with this name: one mail to each address, \
             with a link for each account, at most once in five minutes. The answer does not show whether \
             there are any.",
        )
        .body::<(), _>(account::read_forgotten)
        .field("username", USERNAME)
        .field("company", COMPANY)
        .example("forgotten", json!({ "company": "acme", "username": "grace" }))
}

pub(crate) fn reset_password(operation: OperationDoc) -> OperationDoc {
    operation
        .text(&format!(
            "Sets a new password. The key in the mail is valid for {RESET_HOURS} hours. All sessions end, \
             and logins that were refused after too many failures are allowed again."
        ))
        .may_require_sign_in()
        .body::<(), _>(account::read_reset)
        .field("key", "The last part of the link in the mail.")
        .example("reset", json!({ "key": "the key in the mail", "password": "correct horse battery" }))
}

pub(crate) fn confirm_email(operation: OperationDoc) -> OperationDoc {
    operation
        .may_be_authenticated()
        .text(&format!(
            "Lets the new address of a customer, or of a candidate with a password, count for logins, password resets and mails. The \
             key in the mail to the new address is valid for {CONFIRMATION_DAYS} days. It does not prove that its holder has the \
             account, so send the password of the account too, or a session of it that was not started on behalf of its holder. The \
             former address gets a mail."
        ))
        .may_require_sign_in()
        .body::<(), _>(account::read_confirmation)
        .is_limited(
            "A wrong `password` counts as a failed login. After ten within 15 minutes, wait as `Retry-After` says.",
        )
        .field("key", "The last part of the link in the mail.")
        .field("password", "The password of the account. Without it, the request needs a session of the account.")
        .example("password", json!({ "key": "the key in the mail", "password": "correct horse battery" }))
}

pub(crate) fn restore_email(operation: OperationDoc) -> OperationDoc {
    operation
        .text(&format!(
            "Restores the former email address of a customer, or of a candidate with a password. The key in the mail to the former \
             address is valid for {RESTORATION_HOURS} hours after the change. All sessions of the account end, and so do the keys \
             that were mailed since the change. If the new address has counted, the password ends too, and the former address gets a \
             mail to choose another one. The owners of the company get a mail."
        ))
        .body::<(), _>(account::read_key)
        .field("key", "The last part of the link in the mail.")
        .example("key", json!({ "key": "the key in the mail" }))
}

pub(crate) fn get_key_holder(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The account that was sent a key, so that a page can name it before it asks for a password or a decision. The key \
             stays valid. A key that was used, has expired or was replaced is refused with the code `key_ended` and the `company` that it \
             was made for, so that the page can say where to log in.",
        )
        .body::<(), _>(account::read_key)
        .field(
            "key",
            "The last part of the link in an invitation of staff, or in a mail about a forgotten password or a change of the email \
             address.",
        )
        .example("key", json!({ "key": "the key in the mail" }))
}

pub(crate) fn send_link(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Mails the link to the interview to a candidate whose link opens nothing, to the address on file: for a key that a \
             newer mail has replaced, or whose candidate has chosen a password or got a later deadline. 202 in any case, without \
             telling whether the key was ever sent. No mail goes to candidates whose interview is over, who are withdrawn or \
             undeliverable, or whose `receive_mails` is false.",
        )
        .body::<(), _>(account::read_key)
        .field("key", "The key in the link.")
        .is_limited("One mail goes in five minutes for a key, and five in an hour to a candidate; requests beyond that are answered alike.")
        .example("key", json!({ "key": "the last part of the link" }))
}

pub(crate) fn get_caller(operation: OperationDoc) -> OperationDoc {
    operation.text("The caller, their permissions outside of project roles, and when the session expires.")
}

pub(crate) fn get_calling_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Everything that a candidate needs for the interview: the candidate, the project, the company, a contact for questions, and \
             the remaining time. Other callers get 403.\n\n\
             If the key of a candidate has ended, the answer is 401. Its `code` gives the reason: `key_registered`, \
             `interview_completed`, `deadline_passed`, `withdrawn` or `key_replaced`. The company and a contact come with it. With \
             `deadline_passed`, `ended_by_time` is true if something had been answered when the time of the interview ended; \
             `answers` is the number of answers, and `ended_at` the end. \
             Unknown keys get `invalid_credential` and nothing more.",
        )
        .query::<bool>(
            "opened",
            "Whether the candidate has opened the interview: they see your page, and have pressed something. The first such request \
             sets `opened_at` of the candidate, which managers see, and has the event `candidate.opened`. By default false.",
        )
}
