//! The link of a customer to an identity at their company's provider.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::issuer::IssuerUrl;
use crate::staff::trust::ClaimText;

/// The identity at the provider that a customer signs in as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInLink {
    pub issuer: IssuerUrl,
    /// The client for which the provider named the identity: some providers name a person differently for each client.
    pub client_id: ClaimText,
    /// The claim `sub`.
    pub subject: ClaimText,
    pub linked_at: DateTime<Utc>,
}
