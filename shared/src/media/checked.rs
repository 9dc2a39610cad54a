//! Validated files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use axum::body::Bytes;
use tokio::sync::Semaphore;

use super::{document, picture};
use crate::domain::media::file::{FileKind, FileType};
use crate::error::{Error, Result};

/// The bytes to store, with their detected type.
#[derive(Debug)]
pub struct CheckedFile {
    pub(super) bytes: Vec<u8>,
    pub(super) file_type: FileType,
}

/// The largest file of a logo, in bytes.
const MAX_LOGO_BYTES: usize = 2 * 1024 * 1024;

const BROKEN: &str = "This file is broken. Save it again and upload the new copy.";

/// Admits one picture at a time.
// Decoding may take hundreds of megabytes.
static ROOM: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(1));

/// Validates a file as far as that is cheap, so that all validation errors are returned together.
pub fn inspect(kind: FileKind, bytes: &[u8]) -> Result<(), String> {
    check_size(kind, bytes)?;
    caught(|| match kind {
        FileKind::Photo => picture::inspect(bytes),
        FileKind::Cv => document::recognise(bytes).map(drop),
    })
}

/// Whether a CV with these bytes would be plain text.
pub fn is_plain_text(bytes: &[u8]) -> bool {
    caught(|| document::recognise(bytes)).is_ok_and(FileType::is_plain_text)
}

/// Re-encodes the logo that was sent as field `name` as a PNG, on a thread of its own.
pub async fn logo_picture(name: &'static str, bytes: Bytes) -> Result<Vec<u8>> {
    let _room = ROOM.acquire().await.map_err(Error::internal)?;
    let encode = move || {
        if bytes.len() > MAX_LOGO_BYTES {
            return Err(format!("Ensure this file has no more than {} MB.", MAX_LOGO_BYTES >> 20));
        }
        caught(|| picture::re_encode_logo(&bytes))
    };
    let encoded = tokio::task::spawn_blocking(encode).await.map_err(Error::internal)?;
    encoded.map_err(|message| Error::field(name, message))
}

/// The type of a stored file, judged by its header; `None` for a type that is never stored.
pub fn detect(kind: FileKind, bytes: &[u8]) -> Option<FileType> {
    check_size(kind, bytes).ok()?;
    caught(|| match kind {
        FileKind::Photo => picture::stored_type(bytes),
        FileKind::Cv => document::recognise(bytes),
    })
    .ok()
}

fn check_size(kind: FileKind, bytes: &[u8]) -> Result<(), String> {
    if bytes.is_empty() {
        return Err("The submitted file is empty.".to_owned());
    }
    if bytes.len() as u64 > kind.max_bytes() {
        return Err(format!("Ensure this file has no more than {} MB.", kind.max_bytes() >> 20));
    }
    Ok(())
}

fn caught<T>(look: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // Decoders panic on some broken files. Release builds unwind for this reason: otherwise a PNG of 83 bytes could abort the function.
    catch_unwind(AssertUnwindSafe(look)).unwrap_or_else(|_| Err(BROKEN.to_owned()))
}

impl CheckedFile {
    /// Validates a file completely, on a thread of its own. Photos are re-encoded; other files stay unchanged.
    pub async fn new(kind: FileKind, bytes: impl AsRef<[u8]> + Send + 'static) -> Result<Self> {
        let _room = ROOM.acquire().await.map_err(Error::internal)?;
        let check = move || -> Result<Self, String> {
            let bytes = bytes.as_ref();
            check_size(kind, bytes)?;
            let (bytes, file_type) = caught(|| match kind {
                FileKind::Photo => picture::re_encode(bytes),
                // CVs stay unchanged, because they are served as attachments with the detected type and encoding.
                FileKind::Cv => Ok((bytes.to_vec(), document::recognise(bytes)?)),
            })?;
            Ok(Self { bytes, file_type })
        };
        let checked = tokio::task::spawn_blocking(check).await.map_err(Error::internal)?;
        checked.map_err(|message| Error::field(kind.as_str(), message))
    }
}
