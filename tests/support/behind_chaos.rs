//! The service behind proxies that fail on demand.

use std::sync::Arc;

use embedded::Backend;
use shared::clock::SystemEntropy;
use shared::domain::random::RandomSource;

use crate::app::{BASE_URL, TestApp, next_backend};
use crate::chaos::Chaos;
use crate::clock::{Hasty, ManualClock};

impl TestApp {
    /// Starts the service with a proxy before DynamoDB. The service retries without pauses and has no timeouts, because
    /// tests hold calls while they do something else.
    pub async fn start_with_chaos() -> (Self, Chaos) {
        let clock = ManualClock::without_timeouts();
        Self::behind_chaos("AWS_ENDPOINT_URL_DYNAMODB", Arc::new(Hasty), clock).await
    }

    /// Starts the service with a proxy before DynamoDB. Pace, pauses before retries and timeouts are as in production.
    pub async fn start_with_patient_chaos() -> (Self, Chaos) {
        Self::behind_chaos("AWS_ENDPOINT_URL_DYNAMODB", Arc::new(SystemEntropy), ManualClock::with_pauses())
            .await
    }

    /// Starts the service with a proxy before SES. The service has no timeouts.
    pub async fn start_with_ses_chaos() -> (Self, Chaos) {
        let clock = ManualClock::without_timeouts();
        Self::behind_chaos("AWS_ENDPOINT_URL_SES", Arc::new(SystemEntropy), clock).await
    }

    /// Starts the service with a proxy before Secrets Manager. The service has no timeouts.
    pub async fn start_with_secrets_chaos() -> (Self, Chaos) {
        let clock = ManualClock::without_timeouts();
        Self::behind_chaos("AWS_ENDPOINT_URL_SECRETS_MANAGER", Arc::new(SystemEntropy), clock).await
    }

    /// Starts the service with proxies before DynamoDB and S3. The service retries without pauses and has no timeouts.
    pub async fn start_with_storage_chaos() -> (Self, [Chaos; 2]) {
        Self::behind_storage_chaos(ManualClock::without_timeouts()).await
    }

    /// Starts the service for benchmarks, with proxies that count the calls of DynamoDB and S3. The log lines contain
    /// the durations of calls.
    pub async fn start_with_counted_storage() -> (Self, [Chaos; 2]) {
        Self::behind_storage_chaos(ManualClock::new()).await
    }

    async fn behind_storage_chaos(clock: ManualClock) -> (Self, [Chaos; 2]) {
        let backend = next_backend();
        let endpoints = ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_S3"];
        let [dynamodb, s3] = endpoints.map(|endpoint| Self::chaos_before(backend, endpoint));
        let (dynamodb, s3) = (dynamodb.await, s3.await);
        let urls = [(endpoints[0], dynamodb.url()), (endpoints[1], s3.url())];
        (Self::assemble(backend, &urls, Arc::new(Hasty), clock), [dynamodb, s3])
    }

    async fn behind_chaos(
        endpoint: &'static str,
        entropy: Arc<dyn RandomSource>,
        clock: ManualClock,
    ) -> (Self, Chaos) {
        let backend = next_backend();
        let chaos = Self::chaos_before(backend, endpoint).await;
        (Self::assemble(backend, &[(endpoint, chaos.url())], entropy, clock), chaos)
    }

    async fn chaos_before(backend: &Backend, endpoint: &'static str) -> Chaos {
        let upstream = backend.environment(BASE_URL, "").remove(endpoint);
        Chaos::start(&upstream.expect("an endpoint")).await
    }
}
