//! The state that all requests of a process share: configuration, clock, randomness and AWS clients.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_smithy_runtime_api::client::interceptors::SharedInterceptor;
use chrono::{DateTime, Utc};
use tokio::task::JoinSet;

use crate::aws::AwsClients;
use crate::clock::{Clock, Pace, Stopwatch, SystemClock, SystemEntropy};
use crate::config::{Config, ConfigError};
use crate::domain::id::IdGenerator;
use crate::domain::random::RandomSource;
use crate::issuers::KnownIssuers;
use crate::receipt_keys::KnownReceiptKeys;
use crate::seals::Seals;

/// A handle on the application's state. Clones share the state.
#[derive(Clone)]
pub struct App(Arc<AppState>);

struct AppState {
    config: Config,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn RandomSource>,
    ids: Arc<IdGenerator>,
    aws: AwsClients,
    seals: Seals,
    receipt_keys: KnownReceiptKeys,
    issuers: KnownIssuers,
    has_answered: AtomicBool,
    background: Arc<Mutex<JoinSet<()>>>,
}

impl App {
    /// The application with these settings and these sources of time and randomness.
    pub fn new(config: Config, clock: Arc<dyn Clock>, entropy: Arc<dyn RandomSource>) -> Self {
        let ids = Arc::new(IdGenerator::new(entropy.clone()));
        let aws = AwsClients::assemble(&config.aws, &*clock, None);
        let has_answered = AtomicBool::new(false);
        Self(Arc::new(AppState {
            config,
            clock,
            entropy,
            ids,
            aws,
            seals: Seals::default(),
            receipt_keys: KnownReceiptKeys::default(),
            issuers: KnownIssuers::default(),
            has_answered,
            background: Arc::default(),
        }))
    }

    /// An application that shares clock, sequence of identifiers and background work with this one. Its AWS calls pass
    /// through `interceptor`.
    pub fn with_interceptor(&self, interceptor: SharedInterceptor) -> Self {
        let AppState { config, clock, entropy, ids, background, .. } = &*self.0;
        Self(Arc::new(AppState {
            aws: AwsClients::assemble(&config.aws, &**clock, Some(interceptor)),
            config: config.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
            ids: ids.clone(),
            seals: Seals::default(),
            receipt_keys: KnownReceiptKeys::default(),
            issuers: KnownIssuers::default(),
            has_answered: AtomicBool::new(false),
            background: background.clone(),
        }))
    }

    /// Reads the configuration from the environment. Fails with the first missing or invalid variable.
    pub fn from_environment() -> Result<Self, ConfigError> {
        Ok(Self::new(Config::from_environment()?, Arc::new(SystemClock), Arc::new(SystemEntropy)))
    }

    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// The current time.
    pub fn now(&self) -> DateTime<Utc> {
        self.0.clock.now()
    }

    /// Starts a stopwatch for an invocation. It stays at zero if the service's clock does not run.
    pub fn start_stopwatch(&self) -> Stopwatch {
        Stopwatch::by(&*self.0.clock)
    }

    /// Waits until the clock shows `moment`.
    pub async fn wait_until(&self, moment: DateTime<Utc>) {
        // No wait if `moment` has passed.
        if let Ok(time) = (moment - self.now()).to_std() {
            self.0.clock.wait(time).await;
        }
    }

    /// Pauses for `time` between two steps: see [`Clock::pause`].
    pub async fn pause(&self, time: Duration) {
        self.0.clock.pause(time).await;
    }

    /// Starts a [`Pace`] with the interval `between` steps.
    pub fn start_pace(&self, between: Duration) -> Pace {
        Pace::start(self.0.clock.clone(), between)
    }

    /// The generator of identifiers.
    pub fn ids(&self) -> &IdGenerator {
        &self.0.ids
    }

    /// The source of random bytes for secrets.
    pub fn entropy(&self) -> &dyn RandomSource {
        &*self.0.entropy
    }

    /// Runs `work` without waiting for it. The work may be lost: a Lambda function is frozen soon after it has responded, and may
    /// never continue.
    pub(crate) fn run_in_background(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut running = self.0.background.lock().unwrap_or_else(PoisonError::into_inner);
        // Remove finished work, which would otherwise stay in the set for the life of the process.
        while running.try_join_next().is_some() {}
        running.spawn(work);
    }

    /// Waits for all background work.
    pub async fn finish_background(&self) {
        let running = std::mem::take(&mut *self.0.background.lock().unwrap_or_else(PoisonError::into_inner));
        running.join_all().await;
    }

    /// Whether this is the process's first request (a cold start). Call it once per request.
    pub(crate) fn is_cold(&self) -> bool {
        !self.0.has_answered.swap(true, Ordering::Relaxed)
    }

    pub fn aws(&self) -> &AwsClients {
        &self.0.aws
    }

    pub(crate) fn seals(&self) -> &Seals {
        &self.0.seals
    }

    pub(crate) fn known_receipt_keys(&self) -> &KnownReceiptKeys {
        &self.0.receipt_keys
    }

    pub(crate) fn known_issuers(&self) -> &KnownIssuers {
        &self.0.issuers
    }
}
