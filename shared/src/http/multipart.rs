//! Bodies that bring files along with their fields.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use futures_util::stream;
use multer::{Constraints, Multipart, SizeLimit, parse_boundary};
use serde_json::{Map, Value};

use super::json::{Fields, Form, SentFile, content_type, is_of_type, read_body};
use crate::app::App;
use crate::error::{Error, FieldErrors, Result};

/// The longest body. In base64, and with all that stands around it in an event, it stays below Lambda's 6 MB.
pub const MAX_FILES_BYTES: usize = 4_500 * 1024;
/// The longest text in a form.
const MAX_TEXT: usize = 64 * 1024;
/// The most parts of a form.
const MAX_PARTS: usize = 100;

/// The fields of a JSON object or of a multipart/form-data body, which may hold files.
#[derive(Debug)]
pub struct WithFiles(pub Fields);

impl FromRequest<App> for WithFiles {
    type Rejection = Error;

    async fn from_request(request: Request, _: &App) -> Result<Self> {
        let declared = content_type(&request).unwrap_or("application/json").to_owned();
        let boundary = if is_of_type(&declared, "multipart/form-data") {
            Some(parse_boundary(&declared).map_err(malformed)?)
        } else if is_of_type(&declared, "application/json") {
            None
        } else {
            return Err(Error::UnsupportedMediaType);
        };
        let body = read_body(request.into_body(), MAX_FILES_BYTES).await;
        let body = body.map_err(|_| Error::FilesTooLarge)?;
        match boundary {
            Some(boundary) => read_form(body, boundary).await.map(Self),
            None => Fields::parse(&body).map(Self),
        }
    }
}

async fn read_form(body: Bytes, boundary: String) -> Result<Fields> {
    let limits = SizeLimit::new().whole_stream(MAX_FILES_BYTES as u64);
    let constraints = Constraints::new().size_limit(limits);
    let body = stream::iter([Ok::<_, std::convert::Infallible>(body)]);
    let mut parts = Multipart::with_constraints(body, boundary, constraints);
    let (mut texts, mut form, mut errors) = (Map::new(), Form::default(), FieldErrors::default());
    let mut count = 0;
    while let Some(part) = parts.next_field().await.map_err(malformed)? {
        count += 1;
        if count > MAX_PARTS {
            return Err(Error::MalformedForm("too many parts".to_owned()));
        }
        let Some(name) = part.name().map(str::to_owned) else {
            return Err(Error::MalformedForm("a part has no name".to_owned()));
        };
        let file_name = part.file_name().map(str::to_owned);
        let bytes = part.bytes().await.map_err(malformed)?;
        if texts.contains_key(&name) || form.files.contains_key(&name) {
            errors.add(&name, "This field was sent twice.");
            continue;
        }
        match file_name {
            // What browsers send of a field in which no file was chosen.
            Some(file_name) if file_name.is_empty() && bytes.is_empty() => {}
            Some(file_name) => {
                form.files.insert(name, SentFile { name: file_name, bytes });
            }
            None if bytes.len() > MAX_TEXT && !bytes.starts_with(b"data:") => {
                errors.add(&name, "This text is too long.");
            }
            None => match String::from_utf8(bytes.into()) {
                Ok(text) => {
                    texts.insert(name, Value::String(text));
                }
                Err(_) => errors.add(&name, "Send texts in UTF-8."),
            },
        }
    }
    Ok(Fields::of_form(texts, form, errors))
}

fn malformed(error: multer::Error) -> Error {
    Error::MalformedForm(error.to_string())
}
