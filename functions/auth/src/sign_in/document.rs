//! The documentation of the sign-in settings' routes.

use serde_json::json;
use shared::auth::login::MAX_RETURN;
use shared::domain::outgoing::AllowedTargets;
use shared::domain::staff::sign_in::{NO_PROVIDER, SIGN_IN_UNTRIED, SUBJECT_TAKEN, SignInFailure};
use shared::http::example_uri;
use shared::openapi::OperationDoc;

use super::links::{LinkView, SetLink};
use super::{SetSignIn, SignInView};

pub(crate) fn get_sign_in(operation: OperationDoc) -> OperationDoc {
    operation.text("Without the client secret. 404 if the company has no provider.")
}

pub(crate) fn set_sign_in(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Sets the provider (OpenID Connect) by which staff sign in. The provider is asked at once, and refused with the reason if it \
             does not work. Register `redirect_uri` of the answer there.\n\n\
             Nobody gets an account by signing in. An account is linked when its holder signs in for the first time, by an address of \
             one of `domains` that the provider calls verified and the account has; from then on the identity at the provider counts \
             (`sub`), whatever its address. For providers that verify no addresses, owners set the identity of each customer \
             (`PUT …/customers/{customerId}/sign-in/`) or, if all accounts of the issuer are of the company, `trusts_addresses`. Of \
             `https://accounts.google.com`, the domain of the organisation (`hd`) must be listed too.\n\n\
             With `required`, passwords of staff and the sessions that they have begun open nothing any more, but for the owners in \
             `break_glass`. Named tokens and candidates are not concerned. Another `issuer` or `client_id` needs its `client_secret`, and \
             ends all links and the sessions that the former provider has begun.\n\n\
             The owner must have logged in within the last hour: otherwise 403 `login_too_old`. All owners get a mail.",
        )
        .is_limited("For a company, at most ten issuers are asked within 15 minutes; those whose keys are known do not count.")
        .body_with_references::<SignInView, _>(|body, company, references| {
            SetSignIn::read(body, AllowedTargets::Public, company, references)
        })
        .field("client_secret", "The secret of the client at the provider. By default the one that is set.")
        .refuses(&[SIGN_IN_UNTRIED])
        .example(
            "provider",
            json!({
                "issuer": "https://login.acme.example", "client_id": "interviews", "client_secret": "the secret",
                "domains": ["acme.example"],
            }),
        )
        .example(
            "required",
            json!({
                "issuer": "https://login.acme.example", "client_id": "interviews", "domains": ["acme.example"],
                "required": true, "break_glass": [example_uri::CUSTOMER],
            }),
        )
}

pub(crate) fn delete_sign_in(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "Staff log in with passwords alone; all links and the sessions that the provider has begun end. The owner must have logged in \
         within the last hour: otherwise 403 `login_too_old`. All owners get a mail.",
    )
}

pub(crate) fn begin_sign_in(operation: OperationDoc) -> OperationDoc {
    describe_ends(operation)
        .text(
            "Sends the browser of a member of staff to their company's provider (302). The provider sends it on to `…/callback/` below \
             this address, which begins a session with the cookie `sessionid`, for twelve hours at most.",
        )
        .query_as(
            "return_to",
            "The address that the browser goes on to in the end: a path of the pages, or a URL of an origin that may use cookies. By \
             default the company's page for staff.",
            json!({ "type": "string", "maxLength": MAX_RETURN }),
        )
}

pub(crate) fn end_sign_in(operation: OperationDoc) -> OperationDoc {
    describe_ends(operation)
        .text(
            "Receives the browser from the provider. Register this address there. A sign-in ends within ten minutes, once, and in the \
             browser that began it.",
        )
        .query::<String>("state", "Names the sign-in.")
        .query::<String>("code", "The authorization code. Without it, the provider has refused.")
        .query::<String>("iss", "The issuer that has answered (RFC 9207).")
        .is_limited(
            "After ten failures for a company from one source within 15 minutes, further sign-ins from there are refused with \
             `sign_in_limited`. Those that succeed do not count.",
        )
}

fn describe_ends(operation: OperationDoc) -> OperationDoc {
    operation.redirects("To the provider; in the end, to `return_to`.").refuses(&SignInFailure::ALL.map(SignInFailure::refusal)).text(
        "\n\nBrowsers are sent to a page that shows the reason instead (303); only requests that accept `application/json` and not \
         `text/html` get the error.",
    )
}

pub(crate) fn get_link(operation: OperationDoc) -> OperationDoc {
    operation.text("For owners, and for those who may change the customer's email address. 404 if the customer is not linked.")
}

pub(crate) fn set_link(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Links a customer with an identity at the company's provider, for providers that verify no addresses. If it is another one than \
             before, the customer's sessions end, and they get a mail if another customer did it. The owner must have logged in within the \
             last hour: otherwise 403 `login_too_old`.",
        )
        .body::<LinkView, _>(SetLink::read)
        .refuses(&[NO_PROVIDER, SUBJECT_TAKEN])
        .example("link", json!({ "subject": "00u1a2b3c4d5e6f7" }))
}

pub(crate) fn delete_link(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "Ends the link and the sessions of a customer, who gets a mail if another customer did it. At the next sign-in, the address links \
         them again, perhaps with another identity. For owners, and for those who may change the customer's email address.",
    )
}
