//! What the answers of handlers mean for clients.

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde_json::json;

use super::operation::Operation;
use crate::auth::access::Redirect;
use crate::http::page::{DEFAULT_SIZE, Envelope, MAX_SIZE};
use crate::http::respond::{Accepted, Answered, Created, Done, Ensured, ShownOnce};

/// What a handler answers.
pub trait Answer {
    /// Says what it means for clients.
    fn describe(operation: &mut Operation);
}

impl<T: Answer, E> Answer for Result<T, E> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}

impl<V: JsonSchema> Answer for Json<V> {
    fn describe(operation: &mut Operation) {
        operation.shows::<V>(StatusCode::OK, "As it is now.");
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
        operation.shows::<V>(StatusCode::OK, "It was there already.");
    }
}

impl Answer for Done {
    fn describe(operation: &mut Operation) {
        operation.tells(StatusCode::NO_CONTENT, "Done.");
    }
}

impl Answer for Accepted {
    fn describe(operation: &mut Operation) {
        operation.tells(StatusCode::ACCEPTED, "Accepted, whether or not there is anything to do.");
    }
}

impl<V: JsonSchema> Answer for Envelope<V> {
    fn describe(operation: &mut Operation) {
        operation.is_list = true;
        let page = json!({ "type": "integer", "minimum": 1, "default": 1 });
        operation.add_query(
            "page",
            "The number of the page. Following links costs less than naming numbers.",
            page,
        );
        let size = json!({ "type": "integer", "minimum": 1, "maximum": MAX_SIZE, "default": DEFAULT_SIZE });
        operation.add_query("page_size", "How many resources a page has.", size);
        let cursor = json!({ "type": "string" });
        operation.add_query("cursor", "Where the page begins or ends; only as links have it.", cursor);
        operation.shows::<Self>(StatusCode::OK, "A page of the list.");
    }
}

impl<T: Answer, K> Answer for ShownOnce<T, K> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}

impl<T: Answer> Answer for Answered<T> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
        operation.is_answered_once = true;
    }
}

impl Answer for Redirect {
    fn describe(operation: &mut Operation) {
        let found = operation.tells(StatusCode::FOUND, "Where the file is, for some minutes.");
        found["headers"]["Location"] = json!({ "$ref": "#/components/headers/Location" });
    }
}

// Said by the operation.
impl Answer for Response {
    fn describe(_: &mut Operation) {}
}
