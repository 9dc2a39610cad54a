//! The import of a company from an archive.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::CompanyId;

/// The progress of a company's import: stored, opened (readable), started (writable). The company's item is written at the
/// opening, so nobody can log in before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanyImport {
    pub company: CompanyId,
    /// The SHA-256 of the archive's manifest, in hexadecimal: the import continues only with the same archive.
    pub archive: String,
    pub begun_at: DateTime<Utc>,
    /// When all records and files were stored; `None` before. Afterwards they are not written again.
    pub stored_at: Option<DateTime<Utc>>,
    /// The number of files that records name and the archive lacks.
    pub media_missing: u64,
    /// When the company opened for reading; `None` before.
    pub opened_at: Option<DateTime<Utc>>,
    /// The number of people that the import erased because they had been erased after the export.
    pub erased: u64,
    /// When the operator started the company; `None` before. Until then, requests cannot change anything, and no scheduled work
    /// of the company is due.
    pub started_at: Option<DateTime<Utc>>,
    /// When all due items were in the index by due date; `None` before.
    pub ended_at: Option<DateTime<Utc>>,
}

impl CompanyImport {
    /// An import that begins at `now`.
    pub fn begin(company: CompanyId, archive: String, now: DateTime<Utc>) -> Self {
        Self {
            company,
            archive,
            begun_at: now,
            stored_at: None,
            media_missing: 0,
            opened_at: None,
            erased: 0,
            started_at: None,
            ended_at: None,
        }
    }

    /// Whether the operator has not started the company yet. Until then, no scheduled work runs and nothing is sent.
    pub fn awaits_start(&self) -> bool {
        self.started_at.is_none()
    }

    /// The import after everything was stored at `now` except `media_missing` files.
    pub fn finish_storing(self, media_missing: u64, now: DateTime<Utc>) -> Self {
        Self { stored_at: Some(now), media_missing, ..self }
    }

    /// The import after the company opened at `now`.
    pub fn open(self, now: DateTime<Utc>) -> Self {
        Self { opened_at: Some(now), ..self }
    }

    /// The import after the operator started the company at `now`.
    pub fn start(self, now: DateTime<Utc>) -> Self {
        Self { started_at: Some(now), ..self }
    }

    /// The import after it ended at `now`.
    pub fn end(self, now: DateTime<Utc>) -> Self {
        Self { ended_at: Some(now), ..self }
    }
}
