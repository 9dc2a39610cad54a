//! Named tokens: credentials of a company as a whole, which do not expire.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Refusal;
use super::id::{CompanyId, CustomerId, TokenId};
use super::secret::{MediaKey, SecretHash};
use super::text::Name;

/// The most named tokens of one company.
pub const MAX_TOKENS: u32 = 100;
/// A company has as many named tokens as it may have.
pub const TOO_MANY_TOKENS: Refusal =
    Refusal { code: "too_many_tokens", detail: "A company may have 100 named tokens. Delete one first." };

/// A named token as it is stored: what it is for, and the hash of its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedToken {
    /// Its identifier.
    pub id: TokenId,
    /// The company that it is of.
    pub company: CompanyId,
    /// What it is for, usually the name of a service.
    pub name: Name,
    /// The hash of its value.
    pub hash: SecretHash,
    /// What the addresses of files that it is shown are signed with.
    pub media_key: MediaKey,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The owner who created it.
    pub created_by: CustomerId,
}
