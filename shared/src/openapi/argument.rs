//! Describes the arguments of handlers in the OpenAPI document.

use schemars::JsonSchema;

use super::body::{BodyFormat, RequestBodyDoc};
use super::failure::ErrorResponseDoc;
use super::operation::{OperationDoc, SecurityScheme};
use crate::auth::login::AuthorizationResponse;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::policy::CallerRelation;
use crate::http::page::ListQuery;
use crate::http::{
    BodyFields, FileReader, FormFields, JsonEntries, OAuthBody, QueryParameters, ViewSchema, WithFiles,
    schema_of,
};

/// A type of handler argument that describes itself.
pub trait DescribeArgument {
    const READS_QUERY: bool = false;
    const READS_BODY: bool = false;
    /// The view of the resources that the argument is about, if the response shows another view.
    const ACTS_ON: Option<ViewSchema> = None;

    /// Adds credentials, parameters, body and errors to the operation.
    fn describe(operation: &mut OperationDoc);
}

impl<G: HasAdmission> DescribeArgument for G {
    fn describe(operation: &mut OperationDoc) {
        let failures: &[_] = match G::ADMISSION {
            AdmissionRule::Anyone => &[ErrorResponseDoc::Throttled],
            AdmissionRule::FileUrl => &[ErrorResponseDoc::Unauthenticated, ErrorResponseDoc::NotFound],
            AdmissionRule::Guest => {
                operation.security = SecurityScheme::Guest;
                &[ErrorResponseDoc::EndedGuestLink]
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
                let is_candidates_own = action.is_allowed(&CallerRelation::ThisCandidate);
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
    const READS_BODY: bool = true;

    fn describe(operation: &mut OperationDoc) {
        accepts(operation, BodyFormat::Object);
    }
}

impl DescribeArgument for WithFiles {
    const READS_BODY: bool = true;

    fn describe(operation: &mut OperationDoc) {
        accepts(operation, BodyFormat::ObjectOrForm);
    }
}

impl DescribeArgument for FormFields {
    const READS_BODY: bool = true;

    fn describe(operation: &mut OperationDoc) {
        accepts(operation, BodyFormat::Form);
    }
}

impl DescribeArgument for OAuthBody {
    const READS_BODY: bool = true;

    fn describe(operation: &mut OperationDoc) {
        accepts(operation, BodyFormat::ObjectOrParameters);
        operation.failures.insert(ErrorResponseDoc::OAuth);
    }
}

impl<V: JsonSchema, const MAX: usize> DescribeArgument for JsonEntries<V, MAX> {
    const READS_BODY: bool = true;
    const ACTS_ON: Option<ViewSchema> = Some(schema_of::<V>);

    fn describe(operation: &mut OperationDoc) {
        accepts(operation, BodyFormat::List(MAX));
    }
}

fn accepts(operation: &mut OperationDoc, accepts: BodyFormat) {
    operation.body = Some(RequestBodyDoc::new(accepts));
}

// `document.rs` describes the parameters, and `PageView` the parameters of pages.
impl DescribeArgument for QueryParameters {
    const READS_QUERY: bool = true;

    fn describe(_: &mut OperationDoc) {}
}

// `document.rs` describes the parameters.
impl DescribeArgument for AuthorizationResponse {
    // True, so that any parameter is accepted: providers add their own.
    const READS_QUERY: bool = true;

    fn describe(_: &mut OperationDoc) {}
}

impl DescribeArgument for ListQuery {
    const READS_QUERY: bool = true;

    fn describe(_: &mut OperationDoc) {}
}

impl DescribeArgument for FileReader {
    // True, so that any parameter is accepted: mail programs and others add parameters to links.
    const READS_QUERY: bool = true;

    fn describe(operation: &mut OperationDoc) {
        operation.takes_any_parameter = true;
    }
}
