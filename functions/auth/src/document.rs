//! What the reference says of this group.

use serde_json::json;
use shared::auth::access::NO_SESSION;
use shared::domain::secret::RESET_HOURS;
use shared::http::Fields;
use shared::openapi::{Group, Operation};

use crate::view::{Login, TokenView};
use crate::{account, login, logout, whoami};

const USERNAME: &str = "A user name or an email address.";
const COMPANY: &str = "The company's identifier.";

/// This group as the reference shows it.
pub fn group() -> Group {
    Group {
        name: "auth",
        title: "Authentication",
        text: "Logging in and out, choosing passwords, and who is calling.",
        routes: crate::routes(),
        operations: vec![
            token(),
            Operation::of("Log out", logout::token)
                .text("Ends the session that the request comes with.")
                .refuses(&[NO_SESSION]),
            Operation::of("Log in by cookie", login::session)
                .text(
                    "Begins a session whose secret travels in the cookie `sessionid`, and answers as `whoami` does. A \
                     browser's page must be of the service's own origin or of one that it is configured for.",
                )
                .body::<(), _>(Login::read)
                .authenticates()
                .minds_its_origin()
                .field("username", USERNAME)
                .field("company", COMPANY)
                .example("login", json!({ "company": "acme", "username": "grace", "password": "correct horse battery" })),
            Operation::of("Log out by cookie", logout::session)
                .text("Ends the session that the request comes with, and takes the cookie back.")
                .refuses(&[NO_SESSION]),
            Operation::of("Activate account", account::activate)
                .text("Takes up a customer's invitation by choosing a password. All its sessions end.")
                .body::<(), _>(account::read_activation)
                .field("activation_key", "What the link in the invitation's mail ends with.")
                .example("activation", json!({ "activation_key": "the key in the mail", "password": "correct horse battery" })),
            Operation::of("Forget password", account::forget_password)
                .text(
                    "Emails a reset key to the customers and candidates that the name leads to: one mail to each address, \
                     with a link for each of its accounts, at most one in five minutes. The answer is the same whether \
                     there are any.",
                )
                .body::<(), _>(account::read_forgotten)
                .field("username", USERNAME)
                .field("company", COMPANY)
                .example("forgotten", json!({ "company": "acme", "username": "grace" })),
            Operation::of("Reset password", account::reset_password)
                .text(&format!(
                    "Sets a new password by the key in a mail, which is good for {RESET_HOURS} hours. All sessions end, and \
                     logins that were refused after too many failures are allowed again."
                ))
                .body::<(), _>(account::read_reset)
                .field("key", "What the link in the mail ends with.")
                .example("reset", json!({ "key": "the key in the mail", "password": "correct horse battery" })),
            Operation::of("Get caller", whoami::whoami)
                .text("Who is calling, what it may do without a role in a project, and until when."),
            Operation::of("Get calling candidate", whoami::candidate)
                .text("What a candidate needs to take part: itself, its project and company, and the time that is left. 403 for everybody else."),
        ],
    }
}

fn token() -> Operation {
    Operation::of("Log in", login::token)
        .text(
            "Begins a session whose secret is sent in the header `Authorization`. A customer whom the operator lets act \
             for others may leave out `password` and send its own token: it gets one of somebody else, who must not be \
             above it. After ten failures from one source in 15 minutes that source has to wait (429 with \
             `Retry-After`), after a hundred from all sources everybody.",
        )
        .body::<TokenView, _>(|body: Fields| Login::read_for_token(body, true))
        .field("username", USERNAME)
        .field("company", COMPANY)
        .field(
            "extended_expiration_period",
            "Days after which the token ends, used or not, instead of by not being used.",
        )
        .example("login", json!({ "company": "acme", "username": "grace", "password": "correct horse battery" }))
        .example(
            "for_a_month",
            json!({ "company": "acme", "username": "grace@example.com", "password": "correct horse battery",
                    "extended_expiration_period": 30 }),
        )
}
