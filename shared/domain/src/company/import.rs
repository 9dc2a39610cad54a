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
    /// When the company opened; `None` before. Its records are not written any more then.
    pub opened_at: Option<DateTime<Utc>>,
    /// When all due items were in their index; `None` before.
    pub ended_at: Option<DateTime<Utc>>,
}

impl CompanyImport {
    /// An import that begins at `now`.
    pub fn begun(company: CompanyId, archive: String, now: DateTime<Utc>) -> Self {
        Self { company, archive, begun_at: now, opened_at: None, ended_at: None }
    }

    /// The import of a company that opens at `now`.
    pub fn opened(self, now: DateTime<Utc>) -> Self {
        Self { opened_at: Some(now), ..self }
    }

    /// The import after its end at `now`.
    pub fn ended(self, now: DateTime<Utc>) -> Self {
        Self { ended_at: Some(now), ..self }
    }
}
