//! The import of a company from an archive.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::CompanyId;

/// The import of a company. The company has no item until it opens, so logins fail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanyImport {
    pub company: CompanyId,
    /// The SHA-256 of the manifest of its archive, in hexadecimal: no other archive is imported into the company.
    pub archive: String,
    pub begun_at: DateTime<Utc>,
    /// When all its records and files were stored; `None` before. They are not written again then.
    pub stored_at: Option<DateTime<Utc>>,
    /// The number of missing files that records name.
    pub media_missing: u64,
    /// When the company opened for reading; `None` before.
    pub opened_at: Option<DateTime<Utc>>,
    /// The number of people that the import has erased, because they were erased after the export.
    pub erased: u64,
    /// When the operator started the company; `None` before. Until then, requests change nothing, and nothing of it is due.
    pub started_at: Option<DateTime<Utc>>,
    /// When all due items were in their index; `None` before.
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

    /// Whether the operator has not started the company: nothing of it moves, and nothing leaves.
    pub fn awaits_start(&self) -> bool {
        self.started_at.is_none()
    }

    /// The import once everything is stored at `now`, without so many files.
    pub fn finish_storing(self, media_missing: u64, now: DateTime<Utc>) -> Self {
        Self { stored_at: Some(now), media_missing, ..self }
    }

    /// The import of a company that opens at `now`.
    pub fn open(self, now: DateTime<Utc>) -> Self {
        Self { opened_at: Some(now), ..self }
    }

    /// The import once the operator has started the company at `now`.
    pub fn start(self, now: DateTime<Utc>) -> Self {
        Self { started_at: Some(now), ..self }
    }

    /// The import after its end at `now`.
    pub fn end(self, now: DateTime<Utc>) -> Self {
        Self { ended_at: Some(now), ..self }
    }
}
