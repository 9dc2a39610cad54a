//! A company's logo, shown on the page for candidates and in mails to them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::digest::digest_of;
use crate::id::{CompanyId, LogoId};

/// The company's current logo, without its picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogoRef {
    /// The last segment of the logo's URL. It stays when the picture is replaced, because sent mails contain the URL.
    pub id: LogoId,
    /// A digest of the picture.
    pub digest: String,
}

/// The picture of a company's logo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logo {
    pub company: CompanyId,
    /// The last segment of the logo's URL.
    pub id: LogoId,
    /// PNG, in base64.
    png: String,
}

impl Logo {
    /// A logo with this picture.
    pub fn new(company: CompanyId, id: LogoId, png: &[u8]) -> Self {
        Self { company, id, png: STANDARD.encode(png) }
    }

    /// The picture; `None` if it cannot be decoded.
    pub fn to_png(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.png).ok()
    }

    /// The reference that the company's item holds.
    pub fn to_ref(&self) -> LogoRef {
        LogoRef { id: self.id, digest: digest_of(&self.png) }
    }
}
