//! The link of a customer to an identity at their company's provider.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::issuer::IssuerUrl;
use crate::staff::trust::ClaimText;

/// The identity at the provider that a customer signs in as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInLink {
    pub issuer: IssuerUrl,
    /// The client that the provider has named the identity to: some name a person differently to each.
    pub client_id: ClaimText,
    /// The claim `sub`.
    pub subject: ClaimText,
    pub linked_at: DateTime<Utc>,
}
