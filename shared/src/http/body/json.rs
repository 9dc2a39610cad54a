//! JSON bodies: one object, or a list of objects.

use std::marker::PhantomData;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::app::App;
use crate::error::{AcceptedBody, Error, FieldErrors, Result};
use crate::http::body::fields::BodyFields;
use crate::http::body::known_names::{KnownNames, Representation};
use crate::http::body::{content_type, is_coded, is_of_type, or_coding, read_body};

const MAX_BODY_BYTES: usize = 1024 * 1024;
/// The maximum size of a body that is a list, in bytes.
// The list must fit into Lambda's 6 MB event, whose JSON escapes each quotation mark with a second byte.
const MAX_LIST_BYTES: usize = 4 * 1024 * 1024;

impl FromRequest<App> for BodyFields {
    type Rejection = Error;

    async fn from_request(request: Request, _: &App) -> Result<Self> {
        let known = KnownNames::new(Representation::of(request.extensions()));
        Ok(read_json(request, MAX_BODY_BYTES, Self::parse).await?.with_known(known))
    }
}

/// A JSON list of 1 to `MAX` objects, each about a resource that the view `V` shows. An entry that is not an object is an
/// `Err` at its index.
#[derive(Debug)]
pub struct JsonEntries<V, const MAX: usize> {
    pub entries: Vec<Result<BodyFields>>,
    about: PhantomData<fn() -> V>,
}

impl<V, const MAX: usize> FromRequest<App> for JsonEntries<V, MAX> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &App) -> Result<Self> {
        let known = KnownNames::new(Representation::of(request.extensions()));
        read_json(request, MAX_LIST_BYTES, |json| Self::parse(json, &known)).await
    }
}

impl<V, const MAX: usize> JsonEntries<V, MAX> {
    fn parse(json: Bytes, known: &KnownNames) -> Result<Self> {
        let (value, json) = parse(json)?;
        let message = match value {
            Value::Array(list) if list.is_empty() => "This list may not be empty.".to_owned(),
            Value::Array(list) if list.len() > MAX => {
                format!("Ensure this list has no more than {MAX} items.")
            }
            Value::Array(list) => {
                let texts: Vec<&RawValue> = serde_json::from_slice(&json).map_err(Error::internal)?;
                let texts = texts.into_iter().map(|text| json.slice_ref(text.get().as_bytes()));
                let entries = list.into_iter().zip(texts).map(|(value, json)| {
                    BodyFields::of(value, json).map(|fields| fields.with_known(known.clone()))
                });
                return Ok(Self { entries: entries.collect(), about: PhantomData });
            }
            _ => "Invalid data. Expected a list.".to_owned(),
        };
        Err(Error::field(FieldErrors::ACROSS, message))
    }
}

async fn read_json<T>(request: Request, limit: usize, parse: impl FnOnce(Bytes) -> Result<T>) -> Result<T> {
    // Simple clients send JSON without a `Content-Type`.
    if content_type(&request).is_some_and(|declared| !is_of_type(declared, "application/json")) {
        return Err(Error::UnsupportedMediaType(AcceptedBody::Json));
    }
    let is_coded = is_coded(request.headers());
    let body = read_body(request.into_body(), limit).await?;
    parse(body).map_err(|error| or_coding(error, is_coded))
}

/// Parses a JSON text. Also returns the text without a byte order mark.
fn parse(json: Bytes) -> Result<(Value, Bytes)> {
    // RFC 8259 allows ignoring the byte order mark, which some Windows programs write before UTF-8.
    let start = if json.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let json = json.slice(start..);
    let value = serde_json::from_slice(&json).map_err(|error| Error::MalformedJson(error.to_string()))?;
    Ok((value, json))
}

impl BodyFields {
    /// Parses the fields of a JSON object.
    pub fn parse(json: Bytes) -> Result<Self> {
        let (value, json) = parse(json)?;
        Self::of(value, json)
    }

    /// The fields of `value`, whose text is `json`; an error unless `value` is an object.
    pub(in crate::http) fn of(value: Value, json: Bytes) -> Result<Self> {
        match value {
            Value::Object(object) => Ok(Self::of_object(object, json)),
            _ => Err(Error::field(FieldErrors::ACROSS, "Invalid data. Expected an object.")),
        }
    }
}
