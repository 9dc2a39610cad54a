//! What every request of one process shares: settings, clock, chance and AWS clients.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::aws::Aws;
use crate::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use crate::config::{Config, ConfigError};
use crate::domain::id::Ids;

/// A handle on the running application; clones are cheap and share everything.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    config: Config,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    ids: Ids,
    aws: Aws,
}

impl App {
    /// The application for these settings, with the given sources of time and chance.
    pub fn new(config: Config, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        let aws = Aws::new(&config.aws);
        let ids = Ids::new(entropy.clone());
        Self(Arc::new(Inner { config, clock, entropy, ids, aws }))
    }

    /// The application as this process's environment describes it.
    ///
    /// # Errors
    /// The first environment variable that is missing or unusable.
    pub fn from_environment() -> Result<Self, ConfigError> {
        Ok(Self::new(Config::from_environment()?, Arc::new(SystemClock), Arc::new(SystemEntropy)))
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// The present moment.
    pub fn now(&self) -> DateTime<Utc> {
        self.0.clock.now()
    }

    /// The source of identifiers.
    pub fn ids(&self) -> &Ids {
        &self.0.ids
    }

    /// The source of secrets.
    pub fn entropy(&self) -> &dyn Entropy {
        &*self.0.entropy
    }

    /// The AWS clients.
    pub fn aws(&self) -> &Aws {
        &self.0.aws
    }
}
