//! Archives of companies: the format of their folder, which `functions/PORTABILITY.md` describes, and their writer.

mod folder;
mod media;
mod observer;
mod offsets;
mod places;
mod recordings;
mod state;
mod unit;
mod writer;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use observer::ExportObserver;
pub use offsets::{MEDIA_OFFSETS, MediaOffsets, MediaRange};
pub use places::MediaPlace;
pub use recordings::NeededRecordings;
pub use writer::{ArchiveWriter, ExportResult, WriterOptions};

use crate::domain::archive::RecordKind;
use crate::domain::id::CompanyId;
use crate::domain::privacy::receipt::ReceiptKey;
use crate::http::view::{ReceiptKeyView, ReceiptView};
use crate::store::ArchiveRecord;

/// The result of reading or writing an archive. The error is meant for people.
pub type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// The format of the archive, as the manifest names it.
pub const FORMAT: &str = "interview-service-export/1";
pub const MANIFEST: &str = "manifest.json";
pub const SIGNATURE: &str = "manifest.jws";
/// The file that lists the files below `media/`.
pub const MEDIA: &str = "media.jsonl";

/// The content of `manifest.json`: the archive's origin and its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub format: String,
    pub company: CompanyId,
    pub base_url: String,
    pub created_at: String,
    /// The number of the last event in the archive.
    pub sequence: u64,
    /// Whether every record shows the state as of the last event.
    pub is_exact: bool,
    /// How many units (the company, projects, candidates) may have records newer than the last event.
    pub newer_records: u64,
    /// All files except the manifest, its signature and those below `media/`.
    pub files: Vec<ArchiveFile>,
    /// The number of records of each kind.
    pub records: BTreeMap<String, u64>,
    pub media: MediaCount,
}

/// A file of an archive, as the manifest names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveFile {
    pub name: String,
    pub lines: u64,
    /// The size in bytes.
    pub size: u64,
    /// The hash in hexadecimal.
    pub sha256: String,
}

/// The number and size of an archive's files below `media/`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaCount {
    pub count: u64,
    pub bytes: u64,
    /// How many photos, CVs and files of recordings the records name that no longer existed when the files were listed.
    pub missing: u64,
}

/// A line of `media.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaLine {
    /// The path of the file below `media/`.
    pub path: String,
    pub owner: MediaOwner,
    /// The content type of the object in S3.
    pub content_type: String,
    /// The size in bytes.
    pub size: u64,
    /// The hash in hexadecimal.
    pub sha256: String,
}

/// The record that a file belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaOwner {
    pub kind: String,
    pub id: String,
}

/// The content type of a file with this name.
pub fn content_type_of(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "jsonl")) => "application/x-ndjson",
        Some((_, "jws")) => "application/jose",
        _ => "application/json",
    }
}

/// Reads the manifest of an archive that this service has written.
pub fn read_manifest(folder: &Path) -> Result<Manifest> {
    Ok(serde_json::from_slice(&std::fs::read(folder.join(MANIFEST))?)?)
}

/// The name of the file of a kind of records.
pub fn name_of(kind: RecordKind) -> String {
    format!("records/{}.jsonl", kind.name())
}

/// The record of a key that verifies receipts.
pub fn receipt_key(key: &ReceiptKey) -> Result<ArchiveRecord> {
    let view = serde_json::to_value(ReceiptKeyView::new(key))?;
    Ok(ArchiveRecord::new(RecordKind::ReceiptKeys, key.thumbprint(), view))
}

/// The record of the receipt of an event. `number` is the event's number in twenty digits.
pub fn receipt(number: &str, receipt: &ReceiptView) -> Result<ArchiveRecord> {
    Ok(ArchiveRecord::new(RecordKind::Receipts, number.to_owned(), serde_json::to_value(receipt)?))
}

/// The signed statement in the record of a receipt.
pub fn jws_in(line: &str) -> Result<String> {
    let record: serde_json::Value = serde_json::from_str(line)?;
    let jws = record["value"]["jws"].as_str().ok_or("a record without a receipt")?;
    Ok(jws.to_owned())
}

/// Writes a value as a line of canonical JSON (RFC 8785).
pub fn write_line(file: &mut impl io::Write, value: &impl Serialize) -> Result<()> {
    serde_json_canonicalizer::to_writer(value, file)?;
    Ok(file.write_all(b"\n")?)
}

/// The manifest's entry for a file: its lines, size and hash. Reads the whole file.
pub fn describe(folder: &Path, name: String) -> io::Result<ArchiveFile> {
    let mut file = BufReader::new(File::open(folder.join(&name))?);
    let mut hash = Sha256::new();
    let mut lines = 0;
    let mut size = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        hash.update(bytes);
        size += bytes.len() as u64;
        lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    }
    Ok(ArchiveFile { name, lines, size, sha256: hexadecimal(&hash.finalize()) })
}

/// The bytes of a SHA-256 in hexadecimal; `None` if the text is not one.
pub fn bytes_of(sha256: &str) -> Option<[u8; 32]> {
    let byte = |place: usize| u8::from_str_radix(sha256.get(2 * place..2 * place + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
    bytes?.try_into().ok().filter(|bytes: &[u8; 32]| hexadecimal(bytes) == sha256)
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
