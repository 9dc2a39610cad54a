//! The arguments of handlers, as the document describes them.

use super::body::{BodyFormat, RequestBodyDoc};
use super::failure::ErrorResponseDoc;
use super::operation::{OperationDoc, SecurityScheme};
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::policy::CallerRelation;
use crate::http::page::ListQuery;
use crate::http::{BodyFields, FileReader, FormFields, JsonEntries, QueryParameters, WithFiles};

/// An argument of a handler.
pub trait DescribeArgument {
    /// Adds credentials, parameters, body and errors to the operation.
    fn describe(operation: &mut OperationDoc);
}

impl<G: HasAdmission> DescribeArgument for G {
    fn describe(operation: &mut OperationDoc) {
        let failures: &[_] = match G::ADMISSION {
            AdmissionRule::Anyone => &[ErrorResponseDoc::Throttled],
            AdmissionRule::Link => &[ErrorResponseDoc::Unauthenticated, ErrorResponseDoc::NotFound],
            AdmissionRule::Guest => {
                operation.security = SecurityScheme::Guest;
                &[ErrorResponseDoc::Unauthenticated]
            }
            AdmissionRule::Authenticated => {
                operation.security = SecurityScheme::Anybody;
                &[ErrorResponseDoc::Unauthenticated]
            }
            AdmissionRule::Candidate => {
                operation.security = SecurityScheme::Anybody;
                &[ErrorResponseDoc::EndedKey, ErrorResponseDoc::Forbidden]
            }
            AdmissionRule::Action(action) => {
                let is_candidates_own = action.is_allowed(&CallerRelation::Own);
                operation.action = Some(action);
                operation.security =
                    if is_candidates_own { SecurityScheme::Anybody } else { SecurityScheme::Staff };
                &[ErrorResponseDoc::Unauthenticated, ErrorResponseDoc::Forbidden, ErrorResponseDoc::NotFound]
            }
        };
        operation.failures.extend(failures);
    }
}

impl DescribeArgument for BodyFields {
    fn describe(operation: &mut OperationDoc) {
        accepts(operation, BodyFormat::Object);
    }
}

impl DescribeArgument for WithFiles {
    fn describe(operation: &mut OperationDoc) {
        accepts(operation, BodyFormat::ObjectOrForm);
    }
}

impl DescribeArgument for FormFields {
    fn describe(operation: &mut OperationDoc) {
        accepts(operation, BodyFormat::Form);
    }
}

impl<const MAX: usize> DescribeArgument for JsonEntries<MAX> {
    fn describe(operation: &mut OperationDoc) {
        accepts(operation, BodyFormat::List(MAX));
    }
}

fn accepts(operation: &mut OperationDoc, accepts: BodyFormat) {
    operation.body = Some(RequestBodyDoc::new(accepts));
    operation.failures.extend([
        ErrorResponseDoc::Invalid,
        ErrorResponseDoc::TooLarge,
        ErrorResponseDoc::UnsupportedMediaType,
    ]);
}

// `document.rs` describes the parameters, and `PageView` those of a page.
impl DescribeArgument for QueryParameters {
    fn describe(_: &mut OperationDoc) {}
}

impl DescribeArgument for ListQuery {
    fn describe(_: &mut OperationDoc) {}
}

impl DescribeArgument for FileReader {
    fn describe(_: &mut OperationDoc) {}
}
