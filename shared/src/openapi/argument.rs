//! The arguments of handlers, as the document describes them.

use axum::extract::RawQuery;
use serde_json::json;

use super::body::{Accepts, Body};
use super::failure::Failure;
use super::operation::{Operation, Security};
use crate::auth::guard::InProject;
use crate::auth::guard::{
    AsCandidate, Beside, ByAddress, ByVideoAddress, CandidatePage, InCompany, Matches, OfCompany,
    OnCandidate, OnCustomer, OnProject, OnRole, OnShare, OnUpload, OnVideo, Public, WhoAmI,
};
use crate::auth::policy::{Grant, Standing};
use crate::domain::candidate::CandidateStatus;
use crate::domain::company::Company;
use crate::error::{Error, Result};
use crate::http::schema::inline;
use crate::http::{Entries, Fields, WithFiles};

/// An argument of a handler.
pub trait Argument {
    /// Adds credentials, parameters, body and errors to the operation.
    fn describe(operation: &mut Operation);
}

impl Argument for Fields {
    fn describe(operation: &mut Operation) {
        accepts(operation, Accepts::Object);
    }
}

impl Argument for WithFiles {
    fn describe(operation: &mut Operation) {
        accepts(operation, Accepts::ObjectOrForm);
    }
}

impl<const MAX: usize> Argument for Entries<MAX> {
    fn describe(operation: &mut Operation) {
        accepts(operation, Accepts::List(MAX));
    }
}

fn accepts(operation: &mut Operation, accepts: Accepts) {
    operation.body = Some(Body::new(accepts));
    for failure in [Failure::Invalid, Failure::TooLarge, Failure::UnsupportedMediaType] {
        operation.fails(failure);
    }
}

// `document.rs` describes the parameters.
impl Argument for RawQuery {
    fn describe(_: &mut Operation) {}
}

impl Argument for Public {
    fn describe(operation: &mut Operation) {
        operation.fails(Failure::Throttled);
    }
}

impl Argument for WhoAmI {
    fn describe(operation: &mut Operation) {
        operation.security = Security::Anybody;
        operation.fails(Failure::Unauthenticated);
    }
}

impl Argument for Result<WhoAmI, Error> {
    fn describe(operation: &mut Operation) {
        operation.security = Security::Optional;
        operation.fails(Failure::Unauthenticated);
    }
}

impl Argument for AsCandidate {
    fn describe(operation: &mut Operation) {
        operation.security = Security::Anybody;
        operation.fails(Failure::Unauthenticated);
        operation.fails(Failure::Forbidden);
    }
}

macro_rules! guards {
    ($($guard:ident$(<$of:ident>)?),+) => {
        $(
            impl<$($of,)? G: Grant> Argument for $guard<$($of,)? G> {
                fn describe(operation: &mut Operation) {
                    allows::<G>(operation);
                }
            }
        )+
    };
}

guards!(InCompany, OfCompany<Thing>, InProject, OnProject, OnCandidate, OnCustomer, OnVideo, OnShare, OnRole);

fn allows<G: Grant>(operation: &mut Operation) {
    let is_candidates_own = G::ACTION.is_allowed(&Standing::Itself);
    operation.action = Some(G::ACTION);
    operation.security = if is_candidates_own { Security::Anybody } else { Security::Staff };
    for failure in [Failure::Unauthenticated, Failure::Forbidden, Failure::NotFound] {
        operation.fails(failure);
    }
}

impl<G: Argument> Argument for OnUpload<G> {
    fn describe(operation: &mut Operation) {
        G::describe(operation);
    }
}

impl<G> Argument for ByAddress<G> {
    fn describe(operation: &mut Operation) {
        by_address(operation);
    }
}

impl<G> Argument for ByVideoAddress<G> {
    fn describe(operation: &mut Operation) {
        by_address(operation);
    }
}

/// The token in the path is the credential.
fn by_address(operation: &mut Operation) {
    operation.fails(Failure::Unauthenticated);
    operation.fails(Failure::NotFound);
}

impl<G: Argument, P: Argument> Argument for Beside<G, P> {
    fn describe(operation: &mut Operation) {
        G::describe(operation);
        P::describe(operation);
    }
}

impl Argument for Company {
    fn describe(_: &mut Operation) {}
}

impl Argument for CandidatePage {
    fn describe(operation: &mut Operation) {
        operation.add_query("status", "Only candidates with this status.", inline::<CandidateStatus>());
        let email = json!({ "type": "string", "maxLength": 254 });
        operation.add_query("email", "Only candidates with this email address; case is ignored.", email);
    }
}

impl Argument for Matches {
    fn describe(operation: &mut Operation) {
        operation.parameters.push(json!({
            "name": "q", "in": "query", "required": true,
            "description": "Words, or the beginnings of words, in names and email addresses. Candidates must match all of them.",
            "schema": { "type": "string", "minLength": 1 },
            "example": "ada lov",
        }));
        operation.fails(Failure::Invalid);
    }
}
