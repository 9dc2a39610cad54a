//! Bodies that bring files along with their fields.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream;
use multer::{Constraints, Multipart, SizeLimit, parse_boundary};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::body::{content_type, is_coded, is_of_type, or_coding, read_body};
use super::fields::{BodyFields, BodyForm, NOT_A_STRING, SentFile};
use super::outline::BodyOutline;
use super::wire::Uri;
use crate::app::App;
use crate::domain::file::FileKind;
use crate::error::{Error, FieldErrors, Result};
use crate::media::{MediaToken, inspect};

/// The longest body.
// In base64, and with all that stands around it in an event, it stays below Lambda's 6 MB.
pub const MAX_FILES_BYTES: usize = 4_500 * 1024;
const MAX_TEXT: usize = 64 * 1024;
const MAX_PARTS: usize = 100;

/// A change to the file of an owner.
#[derive(Debug)]
pub enum FileChange {
    /// Deletes the file.
    Remove,
    /// Stores these bytes.
    Put(Bytes),
}

/// The fields of a JSON object or of a multipart/form-data body, which may hold files.
#[derive(Debug)]
pub struct WithFiles(pub BodyFields);

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
        let is_coded = is_coded(request.headers());
        let body = read_body(request.into_body(), MAX_FILES_BYTES).await;
        // Another text than for JSON: it names the way for large files.
        let body = body.map_err(|_| Error::FilesTooLarge)?;
        let fields = match boundary {
            Some(boundary) => read_form(body, boundary).await,
            None => BodyFields::parse(body),
        };
        fields.map(Self).map_err(|error| or_coding(error, is_coded))
    }
}

struct FormPart {
    name: String,
    file_name: Option<String>,
    content_type: Option<String>,
    bytes: Bytes,
}

impl FormPart {
    fn hash(&self, hasher: Sha256) -> Sha256 {
        let Self { name, file_name, content_type, bytes } = self;
        let texts = [Some(name), file_name.as_ref(), content_type.as_ref()];
        let texts = texts.map(|text| text.map(|text| text.as_bytes()));
        texts.into_iter().chain([Some(&bytes[..])]).fold(hasher, |hasher, value| match value {
            // The length tells where each ends.
            Some(value) => hasher.chain_update((value.len() as u64).to_be_bytes()).chain_update(value),
            // An absent text differs from an empty one.
            None => hasher.chain_update(u64::MAX.to_be_bytes()),
        })
    }
}

/// Hashes the content of the body, so that two encodings of one form are equal.
pub(super) async fn hash(hasher: Sha256, headers: &HeaderMap, body: &Bytes) -> Sha256 {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = parse_boundary(declared).ok().filter(|_| is_of_type(declared, "multipart/form-data"));
    let parts = match boundary {
        // Each retry of a form has another boundary, so its bytes differ though it says the same.
        Some(boundary) => read_parts(body.clone(), boundary).await.ok(),
        None => None,
    };
    match parts {
        Some(parts) => parts.iter().fold(hasher, |hasher, part| part.hash(hasher)),
        None => hasher.chain_update(body),
    }
}

async fn read_parts(body: Bytes, boundary: String) -> Result<Vec<FormPart>> {
    let limits = SizeLimit::new().whole_stream(MAX_FILES_BYTES as u64);
    let constraints = Constraints::new().size_limit(limits);
    let body = stream::iter([Ok::<_, std::convert::Infallible>(body)]);
    let mut form = Multipart::with_constraints(body, boundary, constraints);
    let mut parts = Vec::new();
    while let Some(part) = form.next_field().await.map_err(malformed)? {
        // Each part costs an allocation, however small it is.
        if parts.len() == MAX_PARTS {
            return Err(Error::MalformedForm("too many parts".to_owned()));
        }
        let Some(name) = part.name().map(str::to_owned) else {
            return Err(Error::MalformedForm("a part has no name".to_owned()));
        };
        let file_name = part.file_name().map(str::to_owned);
        let content_type = part.content_type().map(ToString::to_string);
        parts.push(FormPart { name, file_name, content_type, bytes: part.bytes().await.map_err(malformed)? });
    }
    Ok(parts)
}

async fn read_form(body: Bytes, boundary: String) -> Result<BodyFields> {
    let (mut texts, mut form, mut errors) = (Map::new(), BodyForm::default(), FieldErrors::default());
    for FormPart { name, file_name, bytes, .. } in read_parts(body, boundary).await? {
        if texts.contains_key(&name) || form.files.contains_key(&name) {
            errors.add(&name, "This field appears twice. Send it once.");
            continue;
        }
        match file_name {
            // What browsers send of a field in which no file was chosen.
            Some(file_name) if file_name.is_empty() && bytes.is_empty() => {}
            Some(file_name) => {
                form.files.insert(name, SentFile { name: file_name, bytes });
            }
            // A photo may come as a data URI.
            None if bytes.len() > MAX_TEXT
                && !bytes.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"data:")) =>
            {
                errors.add(&name, "Ensure this field has no more than 64 KiB.");
            }
            None => match String::from_utf8(bytes.into()) {
                Ok(text) => {
                    texts.insert(name, Value::String(text));
                }
                Err(_) => errors.add(&name, "Encode text as UTF-8."),
            },
        }
    }
    Ok(BodyFields::of_form(texts, form, errors))
}

impl BodyFields {
    /// A file: a part of a form that has a file name, or, of a photo, a data URI. Null or the empty string takes it
    /// away; an address below `own`, which clients are shown where there is one, leaves it as it is.
    pub fn file(&mut self, kind: FileKind, own: Option<&Uri>) -> Option<FileChange> {
        let name = kind.as_str();
        self.note(name, |outline, _| outline.file(kind));
        let sent = self.form.as_mut().and_then(|form| form.files.remove(name));
        let change = match sent {
            Some(file) => FileChange::Put(file.bytes),
            None => self
                .read_or_null(name, |value| file_text(kind, own, value))?
                .unwrap_or(Some(FileChange::Remove))?,
        };
        if let FileChange::Put(bytes) = &change
            // As far as that is cheap, so that its errors are returned together with those of other fields.
            && let Err(message) = inspect(kind, bytes)
        {
            self.refuse(name, message);
            return None;
        }
        Some(change)
    }

    /// A file of any kind, which the form must have; without it, `missing` says what to do.
    pub fn required_file(&mut self, name: &str, missing: &str) -> Option<SentFile> {
        self.note(name, BodyOutline::required_file);
        let sent = self.form.as_mut().and_then(|form| form.files.remove(name));
        if sent.is_none() {
            self.refuse(name, missing);
        }
        sent
    }
}

/// What a text says of a file; `None` when it leaves it as it is.
fn file_text(kind: FileKind, own: Option<&Uri>, value: &Value) -> Result<Option<FileChange>, String> {
    let text = value.as_str().ok_or(NOT_A_STRING)?;
    if text.is_empty() {
        return Ok(Some(FileChange::Remove));
    }
    let token = own
        .and_then(|own| text.strip_prefix(own.as_str()))
        .map(|token| token.strip_suffix('/').unwrap_or(token));
    // The URL that the client was shown means "unchanged". Its token differs in every response, so only its form
    // counts.
    if token.is_some_and(|token| MediaToken::parse(token).is_some()) {
        return Ok(None);
    }
    // A client that sends another resource's URL wants what does not happen, and must not take the answer for
    // success.
    if after_scheme(text, "http").is_some() {
        return Err("To keep the file, send the URL that this resource shows, or omit the field.".to_owned());
    }
    if kind != FileKind::Photo {
        return Err("Send this file as a multipart/form-data part.".to_owned());
    }
    let (head, data) = after_scheme(text, "data:").and_then(|uri| uri.split_once(',')).unwrap_or_default();
    let is_base64 = head.rsplit_once(';').is_some_and(|(_, coding)| coding.eq_ignore_ascii_case("base64"));
    let data = STANDARD.decode(data).ok().filter(|_| is_base64);
    let bytes = data.ok_or("Use data:<mime type>;base64,<data>, or multipart/form-data.")?;
    Ok(Some(FileChange::Put(bytes.into())))
}

/// What follows the beginning of a URL, which has no case.
fn after_scheme<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    let (beginning, rest) = text.split_at_checked(scheme.len())?;
    beginning.eq_ignore_ascii_case(scheme).then_some(rest)
}

fn malformed(error: multer::Error) -> Error {
    Error::MalformedForm(error.to_string())
}
