//! The service's own machinery, which no credential admits: only IAM lets the schedule, the stream and the bus invoke it.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::app::App;
use crate::auth::credential::new_one_time_key;
use crate::aws::Aws;
use crate::config::Config;
use crate::domain::account::Claim;
use crate::domain::secret::OneTimeKey;
use crate::error::Result;
use crate::media::Objects;
use crate::store::{Store, Usage};

/// How long the storage may be busy before an event is left for another try; functions have a minute.
const PATIENCE: Duration = Duration::from_secs(40);

/// Whatever is invoked by an event.
pub struct System {
    /// The moment of the event.
    pub now: DateTime<Utc>,
    /// The table.
    pub store: Store,
    usage: Arc<Usage>,
    app: App,
}

impl System {
    /// Acts as the service, on the word of who may invoke this function.
    pub fn of(app: &App) -> Self {
        let usage = Arc::<Usage>::default();
        let store = Store::new(app.clone(), usage.clone()).with_patience(PATIENCE);
        Self { now: app.now(), store, usage, app: app.clone() }
    }

    /// A new key for an account to choose a password with: the key itself, for its owner alone, and what is stored of it.
    pub fn new_one_time_key(&self, claim: &Claim, lifetime: TimeDelta) -> (String, OneTimeKey) {
        new_one_time_key(claim, (self.now, lifetime), self.app.entropy())
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// The AWS clients.
    pub fn aws(&self) -> &Aws {
        self.app.aws()
    }

    /// The bucket.
    ///
    /// # Errors
    /// [`Error::Internal`](crate::Error::Internal) when no setting names it.
    pub fn objects(&self) -> Result<Objects<'_>> {
        Objects::of(&self.app)
    }

    /// What has been used of DynamoDB so far, and the time since the beginning.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }
}
