//! Bodies with files: multipart forms, and JSON with data URIs.

mod disposition;
pub(in crate::http) mod part;

use std::collections::btree_map::Entry;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use futures_util::stream;
use multer::{Constraints, Multipart, SizeLimit, parse_boundary};
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::domain::media::captions::CaptionText;
use crate::domain::media::file::FileKind;
use crate::error::{AcceptedBody, Error, Result};
use crate::http::body::fields::{BodyFields, BodyForm, NOT_A_STRING};
use crate::http::body::known_names::{KnownNames, Representation};
use crate::http::body::outline::BodyOutline;
use crate::http::body::{content_type, is_coded, is_of_type, or_coding, read_body};
use crate::http::wire::Uri;
use crate::media::{FileUrlToken, inspect, is_plain_text};

use part::{FormPart, decode_data_uri};

/// The maximum size of a body with files, in bytes.
// In base64, and with the rest of the event, such a body stays below Lambda's 6 MB.
pub const MAX_FILES_BYTES: usize = 4_500 * 1024;
const MAX_PARTS: usize = 100;

/// A change to the file of a resource.
#[derive(Debug)]
pub enum FileChange {
    /// Deletes the file.
    Remove,
    /// Stores these bytes.
    Put(Bytes),
}

/// A file of a form with its file name.
#[derive(Debug)]
pub struct SentFile {
    /// The display name; not empty.
    pub name: String,
    /// The content.
    pub bytes: Bytes,
}

/// The fields of a JSON object or of a multipart/form-data body, which may hold files.
#[derive(Debug)]
pub struct WithFiles(pub BodyFields);

impl FromRequest<App> for WithFiles {
    type Rejection = Error;

    async fn from_request(request: Request, _: &App) -> Result<Self> {
        let known = KnownNames::new(Representation::of(request.extensions()));
        let declared = content_type(&request).unwrap_or("application/json").to_owned();
        let boundary = if is_of_type(&declared, "multipart/form-data") {
            Some(parse_boundary(&declared).map_err(malformed)?)
        } else if is_of_type(&declared, "application/json") {
            None
        } else {
            return Err(Error::UnsupportedMediaType(AcceptedBody::JsonOrForm));
        };
        let is_coded = is_coded(request.headers());
        let body = read_body(request.into_body(), MAX_FILES_BYTES).await;
        // This error, unlike that of JSON bodies, tells how to upload large files.
        let body = body.map_err(|_| Error::FilesTooLarge)?;
        let fields = match boundary {
            Some(boundary) => read_form(body, boundary).await,
            None => BodyFields::parse(body),
        };
        let fields = fields.map_err(|error| or_coding(error, is_coded))?;
        Ok(Self(fields.with_known(known)))
    }
}

/// The fields of a multipart/form-data body. Also reads JSON, so that the error names the field that must be a file.
#[derive(Debug)]
pub struct FormFields(pub BodyFields);

impl FromRequest<App> for FormFields {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        let read = WithFiles::from_request(request, app).await.map(|WithFiles(fields)| Self(fields));
        read.map_err(|error| match error {
            Error::UnsupportedMediaType(_) => Error::UnsupportedMediaType(AcceptedBody::Form),
            other => other,
        })
    }
}

/// Hashes the content of the body. Two encodings of one form have the same hash.
pub(in crate::http) async fn hash(hasher: Sha256, headers: &HeaderMap, body: &Bytes) -> Sha256 {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = parse_boundary(declared).ok().filter(|_| is_of_type(declared, "multipart/form-data"));
    let parts = match boundary {
        // Each retry of a form has a new boundary, so the bytes differ although the content is equal.
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
        // Limit the number of parts, because each costs an allocation, however small it is.
        if parts.len() == MAX_PARTS {
            return Err(Error::MalformedForm("too many parts".to_owned()));
        }
        parts.push(FormPart::read(part).await?);
    }
    Ok(parts)
}

async fn read_form(body: Bytes, boundary: String) -> Result<BodyFields> {
    let mut form = BodyForm::default();
    for part in read_parts(body, boundary).await? {
        if part.is_unchosen_file() {
            continue;
        }
        match form.parts.entry(part.name.clone()) {
            Entry::Vacant(place) => {
                place.insert(part);
            }
            Entry::Occupied(mut first) => first.get_mut().is_repeated = true,
        }
    }
    Ok(BodyFields::of_form(form))
}

impl BodyFields {
    /// Reads a file: a form's part or, for a photo, also a data URI. Null or an empty string removes the file. The
    /// file's URL, which responses show below `own`, keeps it.
    pub fn file(&mut self, kind: FileKind, own: impl FnOnce() -> Option<Uri>) -> Option<FileChange> {
        let name = kind.as_str();
        self.note(name, |outline, _| outline.file(kind));
        let change = match self.form.as_mut().and_then(|form| form.parts.remove(name)) {
            Some(part) => {
                part_change(kind, own().as_ref(), &part).map_err(|message| self.refuse(name, message)).ok()?
            }
            None => self
                .read_or_null(name, |value| {
                    match read_text(kind, own().as_ref(), value.as_str().ok_or(NOT_A_STRING)?)? {
                        FileText::Change(change) => Ok(Some(change)),
                        FileText::Unchanged => Ok(None),
                        FileText::Other => Err(how_to_send(kind)),
                    }
                })?
                .unwrap_or(Some(FileChange::Remove)),
        }?;
        if let FileChange::Put(bytes) = &change
            // These cheap checks run here so that their errors are returned together with those of other fields.
            && let Err(message) = inspect(kind, bytes)
        {
            self.refuse(name, message);
            return None;
        }
        Some(change)
    }

    /// Reads a required file of any kind. Records the error `missing` if the file or its name is missing.
    pub fn required_file(&mut self, name: &'static str, missing: &str) -> Option<SentFile> {
        self.note(name, BodyOutline::required_file);
        let part = self.form.as_mut().and_then(|form| form.parts.remove(name));
        let sent = part.map(|part| {
            let file_name = part.file_name.clone().filter(|name| !name.is_empty());
            part.content().map(|bytes| file_name.map(|name| SentFile { name, bytes }))
        });
        let file = sent.transpose().map_err(|message| self.refuse(name, message)).ok()?.flatten();
        if file.is_none() {
            self.refuse(name, missing);
        }
        file
    }

    /// Reads a required WebVTT file.
    pub fn required_captions(&mut self, name: &'static str) -> Option<CaptionText> {
        let missing = "Send the captions as a multipart/form-data part with a file name.";
        let file = self.required_file(name, missing)?;
        CaptionText::parse(&file.bytes).map_err(|message| self.refuse(name, message)).ok()
    }
}

/// The change that a form's part asks for; `None` if the file stays as it is.
fn part_change(kind: FileKind, own: Option<&Uri>, part: &FormPart) -> Result<Option<FileChange>, String> {
    let bytes = part.content()?;
    if part.file_name.is_none()
        && let Ok(text) = std::str::from_utf8(&bytes)
    {
        match read_text(kind, own, text)? {
            FileText::Change(change) => return Ok(Some(change)),
            FileText::Unchanged => return Ok(None),
            FileText::Other => {}
        }
    }
    // Clients that send bytes from memory omit the file name, and some the type. But plain text without either is more
    // likely a stray value, such as "undefined" or a file's path.
    if !part.is_declared_file() && is_plain_text(&bytes) {
        return Err(how_to_send(kind));
    }
    Ok(Some(FileChange::Put(bytes)))
}

/// The meaning of a text sent instead of a file.
enum FileText {
    Change(FileChange),
    /// The file stays as it is.
    Unchanged,
    /// Neither a change nor the file's URL. The text may be the file's content.
    Other,
}

fn read_text(kind: FileKind, own: Option<&Uri>, text: &str) -> Result<FileText, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(FileText::Change(FileChange::Remove));
    }
    let token = own
        .and_then(|own| text.strip_prefix(own.as_str()))
        .map(|token| token.strip_suffix('/').unwrap_or(token));
    // The file's URL means "unchanged". Its token differs in every response, so only the token's format is checked.
    if token.is_some_and(|token| FileUrlToken::parse(token).is_some()) {
        return Ok(FileText::Unchanged);
    }
    let begins_with = |scheme: &str| {
        text.get(..scheme.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(scheme))
    };
    // The service does not copy files from URLs, so another URL must not be answered with success.
    if begins_with("http") {
        return Err("To keep the file, send the URL that this resource shows, or omit the field.".to_owned());
    }
    if !begins_with("data:") {
        return Ok(FileText::Other);
    }
    let bytes = if kind == FileKind::Photo { decode_data_uri(text) } else { None };
    let bytes = bytes.ok_or_else(|| how_to_send(kind))?;
    Ok(FileText::Change(FileChange::Put(bytes.into())))
}

fn how_to_send(kind: FileKind) -> String {
    let how = match kind {
        FileKind::Photo => {
            "Use data:<mime type>;base64,<data>, or a multipart/form-data part with a file name."
        }
        FileKind::Cv => "Send this file as a multipart/form-data part with a file name.",
    };
    how.to_owned()
}

fn malformed(error: multer::Error) -> Error {
    Error::MalformedForm(error.to_string())
}
