//! The keys that sign receipts of erasures and archives of companies. Their secret is only in Secrets Manager, not in the
//! settings of functions, of which Lambda keeps old versions.
//!
//! An environment fetches the secret when it first needs it, and again when the secret's copy is [`KEPT`] old. So a
//! replaced secret is in use everywhere after this time.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::Mutex;

use crate::app::App;
use crate::domain::privacy::receipt::ReceiptKeys;
use crate::error::{Error, Result};

/// How long an environment keeps the secret before it fetches it again.
// Caches keep the public keys for the same time, so verifiers learn of a new key as late as functions do.
const KEPT: TimeDelta = TimeDelta::minutes(5);

/// The keys that one environment has fetched.
#[derive(Default)]
pub(crate) struct KnownReceiptKeys {
    known: RwLock<Option<(Arc<ReceiptKeys>, DateTime<Utc>)>>,
    /// Held by the request that fetches the secret. Other requests wait for it.
    fetching: Mutex<()>,
}

impl KnownReceiptKeys {
    fn known(&self) -> Option<(Arc<ReceiptKeys>, DateTime<Utc>)> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn learn(&self, keys: Arc<ReceiptKeys>, now: DateTime<Utc>) -> Arc<ReceiptKeys> {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some((keys.clone(), now));
        keys
    }
}

impl fmt::Debug for KnownReceiptKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownReceiptKeys(…)")
    }
}

impl App {
    /// The current signing key and the public keys of former ones. Fails if there is no secret, and with [`Error::Busy`] if
    /// Secrets Manager does not respond.
    pub async fn receipt_keys(&self) -> Result<Arc<ReceiptKeys>> {
        let now = self.now();
        let store = self.known_receipt_keys();
        let fresh = || store.known().filter(|(_, at)| now - *at < KEPT).map(|(keys, _)| keys);
        if let Some(keys) = fresh() {
            return Ok(keys);
        }
        let _turn = store.fetching.lock().await;
        if let Some(keys) = fresh() {
            return Ok(keys);
        }
        match (self.fetch_receipt_keys().await, store.known()) {
            (Ok(keys), _) => Ok(store.learn(Arc::new(keys), now)),
            // Keep using the known key: after a rotation, its public key is still published.
            (Err(Error::Busy(error)), Some((keys, _))) => {
                tracing::warn!(target: "receipts", error, "the secret of receipts could not be fetched again");
                Ok(store.learn(keys, now))
            }
            (Err(error), _) => Err(error),
        }
    }

    async fn fetch_receipt_keys(&self) -> Result<ReceiptKeys> {
        let id = self.config().receipt_secret.as_deref();
        let id = id.ok_or_else(|| Error::internal("environment variable RECEIPT_SECRET_ID: is missing"))?;
        let secret = self.aws().secret(id, "AWSCURRENT").await?;
        let secret =
            secret.ok_or_else(|| Error::internal("the secret of RECEIPT_SECRET_ID does not exist"))?;
        ReceiptKeys::new(&secret.text, &self.config().former_receipt_keys).map_err(Error::internal)
    }
}
