//! Resources whose events an endpoint refuses.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::id::WebhookId;

/// A resource one of whose events an endpoint has refused while it accepted others. Its later events wait here, so that they
/// keep their order and nothing else waits for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// The endpoint.
    pub webhook: WebhookId,
    /// The epoch of the position in which the lane was made.
    pub epoch: u32,
    /// The identifier of the resource's history.
    pub history: String,
    /// The version whose event is to be sent next. Items have a `version` of their own.
    pub next_version: u64,
    /// How often that was tried.
    pub attempts: u32,
    /// When that was tried last.
    pub tried_at: DateTime<Utc>,
    /// When it is tried again.
    pub next_try_at: DateTime<Utc>,
    /// The restarts of the position when that was set. After another one, the lane is tried at once.
    pub restarts: u32,
}
