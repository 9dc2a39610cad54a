//! What the folder of an archive holds beside its records: `functions/PORTABILITY.md` describes it.

mod places;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use shared::domain::archive::RecordKind;
use shared::domain::id::CompanyId;
use shared::domain::privacy::receipt::ReceiptKey;
use shared::http::view::{ReceiptKeyView, ReceiptView};
use shared::store::ArchiveRecord;

pub(crate) use places::MediaPlace;

/// The result of a program, with an error for its operator.
pub(crate) type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// The time limit of all calls together.
// Exports and imports of large companies take hours. Without a limit, a program would hang unnoticed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// The format, which the manifest names.
pub(crate) const FORMAT: &str = "interview-service-export/1";
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const SIGNATURE: &str = "manifest.jws";
/// The list of the files below `media/`.
pub(crate) const MEDIA: &str = "media.jsonl";

/// What the archive is and holds: `manifest.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(crate) format: String,
    pub(crate) company: CompanyId,
    pub(crate) base_url: String,
    pub(crate) created_at: String,
    /// The number of the last event in it.
    pub(crate) sequence: u64,
    /// Whether every record is as of that event.
    pub(crate) is_exact: bool,
    /// Companies, projects and candidates whose records may be newer.
    pub(crate) newer_records: u64,
    /// All files but the manifest, its signature and those below `media/`.
    pub(crate) files: Vec<ArchiveFile>,
    /// The records of each kind.
    pub(crate) records: BTreeMap<String, u64>,
    pub(crate) media: MediaCount,
}

/// A file of an archive, as the manifest names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArchiveFile {
    pub(crate) name: String,
    pub(crate) lines: u64,
    /// In bytes.
    pub(crate) size: u64,
    /// In hexadecimal.
    pub(crate) sha256: String,
}

/// The files of an archive.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MediaCount {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
    /// Photos and CVs that records name, but that were deleted before they could be copied.
    pub(crate) missing: u64,
}

/// A line of `media.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MediaLine {
    /// Below `media/`.
    pub(crate) path: String,
    pub(crate) owner: MediaOwner,
    /// As S3 has it; empty for none.
    pub(crate) content_type: String,
    /// In bytes.
    pub(crate) size: u64,
    /// In hexadecimal.
    pub(crate) sha256: String,
}

/// The record whose file it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MediaOwner {
    pub(crate) kind: String,
    pub(crate) id: String,
}

/// The name of the file of a kind of records.
pub(crate) fn name_of(kind: RecordKind) -> String {
    format!("records/{}.jsonl", kind.name())
}

/// The record of a key that verifies receipts.
pub(crate) fn receipt_key(key: &ReceiptKey) -> Result<ArchiveRecord> {
    let view = serde_json::to_value(ReceiptKeyView::new(key))?;
    Ok(ArchiveRecord::new(RecordKind::ReceiptKeys, key.thumbprint(), view))
}

/// The record of the receipt of the event with this number, in twenty digits.
pub(crate) fn receipt(number: &str, receipt: &ReceiptView) -> Result<ArchiveRecord> {
    Ok(ArchiveRecord::new(RecordKind::Receipts, number.to_owned(), serde_json::to_value(receipt)?))
}

/// The signed statement in the record of a receipt.
pub(crate) fn jws_in(line: &str) -> Result<String> {
    let record: serde_json::Value = serde_json::from_str(line)?;
    let jws = record["value"]["jws"].as_str().ok_or("a record without a receipt")?;
    Ok(jws.to_owned())
}

/// Writes a value as canonical JSON (RFC 8785) in a line.
pub(crate) fn write_line(file: &mut impl io::Write, value: &impl Serialize) -> Result<()> {
    serde_json_canonicalizer::to_writer(value, file)?;
    Ok(file.write_all(b"\n")?)
}

/// What the manifest says of a file.
pub(crate) fn describe(folder: &Path, name: String) -> io::Result<ArchiveFile> {
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

/// The bytes of a hash in hexadecimal; `None` if it is none.
pub(crate) fn bytes_of(sha256: &str) -> Option<[u8; 32]> {
    let byte = |place: usize| u8::from_str_radix(sha256.get(2 * place..2 * place + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
    bytes?.try_into().ok().filter(|bytes: &[u8; 32]| hexadecimal(bytes) == sha256)
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
