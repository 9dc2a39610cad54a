//! The answers of handlers, as the document describes them.

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde_json::json;

use super::operation::Operation;
use crate::auth::access::Redirect;
use crate::http::page::{DEFAULT_SIZE, Envelope, MAX_SIZE};
use crate::http::respond::{Accepted, Answered, Created, Done, Ensured, Queued, ShownOnce};

/// The answer of a handler.
pub trait Answer {
    /// Whether a guard has made it, which stores it for repeats with the same Idempotency-Key.
    const IS_ONCE: bool = false;

    /// Adds status, headers and body to the operation.
    fn describe(operation: &mut Operation);
}

impl<T: Answer, E> Answer for Result<T, E> {
    const IS_ONCE: bool = T::IS_ONCE;

    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}

impl<T: Answer> Answer for Answered<T> {
    const IS_ONCE: bool = true;

    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}

impl<V: JsonSchema> Answer for Json<V> {
    fn describe(operation: &mut Operation) {
        operation.shows::<V>(StatusCode::OK, "The current state.");
    }
}

impl<V: JsonSchema> Answer for Created<V> {
    fn describe(operation: &mut Operation) {
        let created = operation.shows::<V>(StatusCode::CREATED, "Created.");
        created["headers"]["Location"] = json!({ "$ref": "#/components/headers/Location" });
    }
}

impl<V: JsonSchema> Answer for Ensured<V> {
    fn describe(operation: &mut Operation) {
        Created::<V>::describe(operation);
        operation.shows::<V>(StatusCode::OK, "Already exists.");
    }
}

impl Answer for Done {
    fn describe(operation: &mut Operation) {
        operation.tells(StatusCode::NO_CONTENT, "Done.");
    }
}

impl<V: JsonSchema> Answer for Queued<V> {
    fn describe(operation: &mut Operation) {
        operation.shows::<V>(StatusCode::ACCEPTED, "Queued.");
    }
}

impl Answer for Accepted {
    fn describe(operation: &mut Operation) {
        operation.tells(StatusCode::ACCEPTED, "Accepted. The answer is the same if there is nothing to do.");
    }
}

impl<V: JsonSchema> Answer for Envelope<V> {
    fn describe(operation: &mut Operation) {
        operation.is_list = true;
        let page = json!({ "type": "integer", "minimum": 1, "default": 1 });
        operation.add_query("page", "Page number. Following `next` and `previous` costs less.", page);
        let size = json!({ "type": "integer", "minimum": 1, "maximum": MAX_SIZE, "default": DEFAULT_SIZE });
        operation.add_query("page_size", "Number of resources per page.", size);
        let cursor = json!({ "type": "string" });
        operation.add_query(
            "cursor",
            "Position in the list. Only the links `next` and `previous` contain it.",
            cursor,
        );
        operation.shows::<Self>(StatusCode::OK, "One page of the list.");
    }
}

impl<T: Answer, K> Answer for ShownOnce<T, K> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}

impl Answer for Redirect {
    fn describe(operation: &mut Operation) {
        let found =
            operation.tells(StatusCode::FOUND, "`Location` is the file's URL, valid for some minutes.");
        found["headers"]["Location"] = json!({ "$ref": "#/components/headers/Location" });
    }
}

// `document.rs` describes it.
impl Answer for Response {
    fn describe(_: &mut Operation) {}
}
