//! The arguments of handlers, as the document describes them.

use axum::extract::RawQuery;

use super::body::{Accepts, Body};
use super::failure::Failure;
use super::operation::{Operation, Security};
use crate::auth::{Admission, Admits};
use crate::domain::policy::Standing;
use crate::error::Result;
use crate::http::page::ListQuery;
use crate::http::{Entries, Fields, WithFiles};

/// An argument of a handler.
pub trait Argument {
    /// Adds credentials, parameters, body and errors to the operation.
    fn describe(operation: &mut Operation);
}

impl<G: Admits> Argument for G {
    fn describe(operation: &mut Operation) {
        let failures: &[_] = match G::ADMISSION {
            Admission::Anyone => &[Failure::Throttled],
            Admission::Link => &[Failure::Unauthenticated, Failure::NotFound],
            Admission::Authenticated => {
                operation.security = Security::Anybody;
                &[Failure::Unauthenticated]
            }
            Admission::Candidate => {
                operation.security = Security::Anybody;
                &[Failure::Unauthenticated, Failure::Forbidden]
            }
            Admission::Action(action) => {
                let is_candidates_own = action.is_allowed(&Standing::Itself);
                operation.action = Some(action);
                operation.security = if is_candidates_own { Security::Anybody } else { Security::Staff };
                &[Failure::Unauthenticated, Failure::Forbidden, Failure::NotFound]
            }
        };
        operation.failures.extend(failures);
    }
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
    operation.failures.extend([Failure::Invalid, Failure::TooLarge, Failure::UnsupportedMediaType]);
}

// `document.rs` describes the parameters, and `Envelope` those of a page.
impl Argument for RawQuery {
    fn describe(_: &mut Operation) {}
}

impl Argument for ListQuery {
    fn describe(_: &mut Operation) {}
}

impl Argument for Result<ListQuery> {
    fn describe(_: &mut Operation) {}
}
