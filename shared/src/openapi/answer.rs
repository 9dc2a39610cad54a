//! Describes the responses of handlers in the OpenAPI document.

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde_json::json;

use super::operation::OperationDoc;
use crate::auth::access::FileRedirect;
use crate::http::exchange::respond::{
    AcceptedResponse, CommittedResponse, Created, CreatedOrUpdated, JsonFile, NoContent, NoContentTagged,
    QueuedResponse, Requested, TaggedBy, WithSecret,
};
use crate::http::page::{DEFAULT_SIZE, MAX_SIZE, PageView};
use crate::http::{ViewSchema, schema_of};

/// A type of response that describes itself.
pub trait DescribeResponse {
    /// Whether `commit` makes the response, so that it is stored for retries with the same Idempotency-Key.
    const IS_ONCE: bool = false;
    /// The view in the response.
    const SHOWS: Option<ViewSchema> = None;
    /// Whether the response's status tells if the request has created the resource or changed an existing one.
    const MAY_CREATE: bool = false;

    /// Adds status, headers and body to the operation.
    fn describe(operation: &mut OperationDoc);
}

impl<T: DescribeResponse, E> DescribeResponse for Result<T, E> {
    const IS_ONCE: bool = T::IS_ONCE;
    const SHOWS: Option<ViewSchema> = T::SHOWS;
    const MAY_CREATE: bool = T::MAY_CREATE;

    fn describe(operation: &mut OperationDoc) {
        T::describe(operation);
    }
}

impl<T: DescribeResponse> DescribeResponse for CommittedResponse<T> {
    const IS_ONCE: bool = true;
    const SHOWS: Option<ViewSchema> = T::SHOWS;
    const MAY_CREATE: bool = T::MAY_CREATE;

    fn describe(operation: &mut OperationDoc) {
        T::describe(operation);
    }
}

impl<V: JsonSchema> DescribeResponse for Json<V> {
    const SHOWS: Option<ViewSchema> = Some(schema_of::<V>);

    fn describe(operation: &mut OperationDoc) {
        operation.shows::<V>(StatusCode::OK, "The current state.");
    }
}

impl<V: JsonSchema> DescribeResponse for JsonFile<V> {
    fn describe(operation: &mut OperationDoc) {
        let file = operation.shows::<V>(StatusCode::OK, "The document, which browsers save as a file.");
        file["headers"]["Content-Disposition"] = json!({
            "description": "The name of the file.",
            "schema": { "type": "string" },
        });
    }
}

impl<V: JsonSchema> DescribeResponse for Created<V> {
    const SHOWS: Option<ViewSchema> = Some(schema_of::<V>);

    fn describe(operation: &mut OperationDoc) {
        let created = operation.shows::<V>(StatusCode::CREATED, "Created.");
        created["headers"]["Location"] = json!({ "$ref": "#/components/headers/Location" });
    }
}

impl<V: JsonSchema> DescribeResponse for Requested<V> {
    const SHOWS: Option<ViewSchema> = Some(schema_of::<V>);

    fn describe(operation: &mut OperationDoc) {
        let requested =
            operation.shows::<V>(StatusCode::ACCEPTED, "Requested. Fetch `Location` until it is done.");
        requested["headers"]["Location"] = json!({ "$ref": "#/components/headers/Location" });
    }
}

impl<V: JsonSchema> DescribeResponse for CreatedOrUpdated<V> {
    const SHOWS: Option<ViewSchema> = Some(schema_of::<V>);
    const MAY_CREATE: bool = true;

    fn describe(operation: &mut OperationDoc) {
        Created::<V>::describe(operation);
        operation.shows::<V>(StatusCode::OK, "Already exists.");
    }
}

impl<T: DescribeResponse, P> DescribeResponse for TaggedBy<T, P> {
    const SHOWS: Option<ViewSchema> = T::SHOWS;

    fn describe(operation: &mut OperationDoc) {
        T::describe(operation);
    }
}

impl DescribeResponse for NoContent {
    fn describe(operation: &mut OperationDoc) {
        operation.tells(StatusCode::NO_CONTENT, "Done.");
    }
}

impl DescribeResponse for NoContentTagged {
    fn describe(operation: &mut OperationDoc) {
        let answer = operation.tells(StatusCode::NO_CONTENT, "Saved.");
        answer["headers"]["ETag"] = json!({ "$ref": "#/components/headers/ETag" });
    }
}

impl<V: JsonSchema> DescribeResponse for QueuedResponse<V> {
    const SHOWS: Option<ViewSchema> = Some(schema_of::<V>);

    fn describe(operation: &mut OperationDoc) {
        operation.shows::<V>(StatusCode::ACCEPTED, "Queued.");
    }
}

impl DescribeResponse for AcceptedResponse {
    fn describe(operation: &mut OperationDoc) {
        operation.tells(StatusCode::ACCEPTED, "Accepted. The answer is the same if there is nothing to do.");
    }
}

impl<V: JsonSchema> DescribeResponse for PageView<V> {
    fn describe(operation: &mut OperationDoc) {
        operation.is_untagged = true;
        let page = json!({ "type": "integer", "minimum": 1, "default": 1 });
        operation.add_query("page", "Page number. Following `next` and `previous` costs less.", page);
        let size = json!({ "type": "integer", "minimum": 1, "maximum": MAX_SIZE, "default": DEFAULT_SIZE });
        operation.add_query("page_size", "Number of resources per page.", size);
        let cursor = json!({ "type": "string" });
        operation.add_query(
            "cursor",
            "Position in the list: `cursor` of the page before. The other parameters must be those of that page.",
            cursor,
        );
        operation.shows::<Self>(StatusCode::OK, "One page of the list.");
    }
}

impl<T: DescribeResponse, K> DescribeResponse for WithSecret<T, K> {
    const SHOWS: Option<ViewSchema> = T::SHOWS;

    fn describe(operation: &mut OperationDoc) {
        T::describe(operation);
    }
}

impl DescribeResponse for FileRedirect {
    fn describe(operation: &mut OperationDoc) {
        let found =
            operation.tells(StatusCode::FOUND, "`Location` is the file's URL, valid for some minutes.");
        found["headers"]["Location"] = json!({ "$ref": "#/components/headers/Location" });
    }
}

// A raw response says nothing by its type, so `document.rs` describes it.
impl DescribeResponse for Response {
    fn describe(_: &mut OperationDoc) {}
}
