//! JSON bodies: one object, or a list of them.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use serde_json::Value;

use super::body::{content_type, is_of_type, read_body};
use super::fields::BodyFields;
use crate::app::App;
use crate::error::{Error, FieldErrors, Result};

const MAX_BODY_BYTES: usize = 1024 * 1024;
/// The longest body that is read.
// As part of an event, where each quotation mark takes two bytes, it has to stay below Lambda's 6 MB.
const MAX_LIST_BYTES: usize = 4 * 1024 * 1024;

impl FromRequest<App> for BodyFields {
    type Rejection = Error;

    async fn from_request(request: Request, _: &App) -> Result<Self> {
        Self::parse(&read_json(request, MAX_BODY_BYTES).await?)
    }
}

/// The items of a JSON list of 1 to `MAX` objects; one that is no object is an error in its place.
#[derive(Debug)]
pub struct JsonEntries<const MAX: usize>(pub Vec<Result<BodyFields>>);

impl<const MAX: usize> FromRequest<App> for JsonEntries<MAX> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &App) -> Result<Self> {
        Self::parse(&read_json(request, MAX_LIST_BYTES).await?)
    }
}

impl<const MAX: usize> JsonEntries<MAX> {
    fn parse(json: &[u8]) -> Result<Self> {
        let message = match parse(json)? {
            Value::Array(list) if list.is_empty() => "This list may not be empty.".to_owned(),
            Value::Array(list) if list.len() > MAX => {
                format!("Ensure this list has no more than {MAX} items.")
            }
            Value::Array(list) => return Ok(Self(list.into_iter().map(BodyFields::of).collect())),
            _ => "Invalid data. Expected a list.".to_owned(),
        };
        Err(Error::field(FieldErrors::ACROSS, message))
    }
}

async fn read_json(request: Request, limit: usize) -> Result<Bytes> {
    // A body without a type is taken for JSON, which simple clients send.
    if content_type(&request).is_some_and(|declared| !is_of_type(declared, "application/json")) {
        return Err(Error::UnsupportedMediaType);
    }
    read_body(request.into_body(), limit).await
}

fn parse(json: &[u8]) -> Result<Value> {
    serde_json::from_slice(json).map_err(|error| Error::MalformedJson(error.to_string()))
}

impl BodyFields {
    /// The fields of a JSON text.
    pub fn parse(json: &[u8]) -> Result<Self> {
        Self::of(parse(json)?)
    }

    pub(super) fn of(value: Value) -> Result<Self> {
        match value {
            Value::Object(object) => Ok(Self::of_object(object)),
            _ => Err(Error::field(FieldErrors::ACROSS, "Invalid data. Expected an object.")),
        }
    }
}
