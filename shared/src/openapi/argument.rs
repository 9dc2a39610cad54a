//! The arguments of handlers, as the document describes them.

use axum::extract::RawQuery;

use super::body::{Accepts, Body};
use super::failure::Failure;
use super::operation::{Operation, Security};
use crate::auth::access::{
    CallerAccess, CandidateAccess, CandidateSelf, CompanyAccess, CountedProjectAccess, CustomerAccess,
    LabelAccess, MediaAccess, Pending, ProjectAccess, RenditionAccess, RoleAccess, ShareAccess, TokenAccess,
    UploadAccess, VideoAccess,
};
use crate::auth::login::PublicAccess;
use crate::domain::policy::{Grant, Standing};
use crate::error::Result;
use crate::http::page::ListQuery;
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

impl Argument for PublicAccess {
    fn describe(operation: &mut Operation) {
        operation.fails(Failure::Throttled);
    }
}

impl Argument for CallerAccess {
    fn describe(operation: &mut Operation) {
        operation.security = Security::Anybody;
        operation.fails(Failure::Unauthenticated);
    }
}

impl Argument for CandidateSelf {
    fn describe(operation: &mut Operation) {
        operation.security = Security::Anybody;
        operation.fails(Failure::Unauthenticated);
        operation.fails(Failure::Forbidden);
    }
}

macro_rules! guards {
    ($($guard:ident),+) => {
        $(
            impl<A: Grant> Argument for $guard<A> {
                fn describe(operation: &mut Operation) {
                    allows::<A>(operation);
                }
            }
        )+
    };
}

guards!(
    CompanyAccess,
    LabelAccess,
    TokenAccess,
    ProjectAccess,
    CountedProjectAccess,
    RoleAccess,
    CandidateAccess,
    ShareAccess,
    CustomerAccess,
    VideoAccess
);

fn allows<G: Grant>(operation: &mut Operation) {
    let is_candidates_own = G::ACTION.is_allowed(&Standing::Itself);
    operation.action = Some(G::ACTION);
    operation.security = if is_candidates_own { Security::Anybody } else { Security::Staff };
    for failure in [Failure::Unauthenticated, Failure::Forbidden, Failure::NotFound] {
        operation.fails(failure);
    }
}

impl<G: Argument> Argument for UploadAccess<G> {
    fn describe(operation: &mut Operation) {
        G::describe(operation);
    }
}

impl<G> Argument for MediaAccess<G> {
    fn describe(operation: &mut Operation) {
        by_address(operation);
    }
}

impl<G> Argument for RenditionAccess<G> {
    fn describe(operation: &mut Operation) {
        by_address(operation);
    }
}

/// The token in the path is the credential.
fn by_address(operation: &mut Operation) {
    operation.fails(Failure::Unauthenticated);
    operation.fails(Failure::NotFound);
}

impl<G: Argument> Argument for Pending<G> {
    fn describe(operation: &mut Operation) {
        G::describe(operation);
    }
}
