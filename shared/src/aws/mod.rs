//! The AWS clients. They share one HTTP client; S3 and SES are built on first use.

mod connector;
mod secrets;
mod verifier;

use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_s3::config::{RequestChecksumCalculation, ResponseChecksumValidation};
use aws_smithy_async::rt::sleep::TokioSleep;
use aws_smithy_runtime_api::client::interceptors::SharedInterceptor;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;
use aws_types::region::Region;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

pub(crate) use self::secrets::SecretVersion;
use self::secrets::SecretsClient;
use self::verifier::FallbackVerifier;
use crate::clock::{Clock, SystemClock};
use crate::config::AwsConfig;
use crate::error::{Error, Result};

pub(crate) const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// The timeout of sending a mail.
// Long, because a retry after a timeout may send a mail twice.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout of storing a file, and of the start of fetching one.
const FILE_TIMEOUT: Duration = Duration::from_secs(15);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The AWS clients of one process.
///
/// Lambda's environment has all settings and credentials, so nothing is looked up over the network.
pub struct AwsClients {
    config: AwsConfig,
    has_timeouts: bool,
    /// The retries that the SDK makes for S3 and Secrets Manager.
    retries: RetryConfig,
    interceptor: Option<SharedInterceptor>,
    shared: SdkConfig,
    dynamodb: aws_sdk_dynamodb::Client,
    s3: OnceLock<aws_sdk_s3::Client>,
    ses: OnceLock<aws_sdk_ses::Client>,
}

impl AwsClients {
    /// Creates the clients, of which only DynamoDB's is built at once.
    pub fn new(config: &AwsConfig) -> Self {
        Self::assemble(config, &SystemClock, None)
    }

    /// Creates the clients, of which only DynamoDB's is built at once. If the clock does not run, calls may take as long as
    /// they like; if it has no pauses, retries follow at once. All calls pass the interceptor.
    pub(crate) fn assemble(
        config: &AwsConfig,
        clock: &dyn Clock,
        interceptor: Option<SharedInterceptor>,
    ) -> Self {
        let has_timeouts = clock.is_running();
        let credentials = Credentials::new(
            &config.access_key_id,
            &config.secret_access_key,
            config.session_token.clone(),
            None,
            "environment",
        );
        let shared = SdkConfig::builder()
            .behavior_version(aws_sdk_dynamodb::config::BehaviorVersion::latest())
            .region(Region::new(config.region.clone()))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .http_client(connector::http_client(tls_for(config), CONNECT_TIMEOUT))
            .sleep_impl(aws_smithy_async::rt::sleep::SharedAsyncSleep::new(TokioSleep::new()))
            .time_source(aws_smithy_async::time::SystemTimeSource::new())
            .timeout_config(timeouts(has_timeouts, ATTEMPT_TIMEOUT))
            .build();
        // The store retries, because it knows which failures are worth a retry.
        let mut dynamodb =
            aws_sdk_dynamodb::config::Builder::from(&shared).retry_config(RetryConfig::disabled());
        dynamodb.set_endpoint_url(config.dynamodb_endpoint.clone());
        if let Some(interceptor) = &interceptor {
            dynamodb.push_interceptor(interceptor.clone());
        }
        Self {
            config: config.clone(),
            has_timeouts,
            retries: retries(clock.has_pauses()),
            interceptor,
            dynamodb: aws_sdk_dynamodb::Client::from_conf(dynamodb.build()),
            shared,
            s3: OnceLock::new(),
            ses: OnceLock::new(),
        }
    }

    /// The client never retries.
    pub fn dynamodb(&self) -> &aws_sdk_dynamodb::Client {
        &self.dynamodb
    }

    pub fn s3(&self) -> &aws_sdk_s3::Client {
        self.s3.get_or_init(|| {
            let endpoint = self.config.s3_endpoint.clone();
            // Endpoints other than AWS have no host names for buckets, so use the path.
            let mut config =
                aws_sdk_s3::config::Builder::from(&self.shared).force_path_style(endpoint.is_some());
            config.set_endpoint_url(endpoint);
            config.set_timeout_config(Some(timeouts(self.has_timeouts, FILE_TIMEOUT)));
            config.set_retry_config(Some(self.retries.clone()));
            // Otherwise a signed URL would contain the checksum of an empty body.
            config.set_request_checksum_calculation(Some(RequestChecksumCalculation::WhenRequired));
            config.set_response_checksum_validation(Some(ResponseChecksumValidation::WhenRequired));
            if let Some(interceptor) = &self.interceptor {
                config.push_interceptor(interceptor.clone());
            }
            aws_sdk_s3::Client::from_conf(config.build())
        })
    }

    /// Fetches the version of a secret with this stage, such as `AWSCURRENT`, from Secrets Manager; `None` if it does not
    /// exist. Fails with [`Error::Busy`] if Secrets Manager does not respond.
    pub(crate) async fn secret(&self, id: &str, stage: &str) -> Result<Option<SecretVersion>> {
        let missing = || Error::internal("the AWS clients lack a part of their configuration");
        let client = SecretsClient {
            http: self.shared.http_client().ok_or_else(missing)?,
            credentials: self.shared.credentials_provider().ok_or_else(missing)?,
            region: Region::new(self.config.region.clone()),
            endpoint: self.config.secrets_endpoint.clone(),
            timeouts: timeouts(self.has_timeouts, ATTEMPT_TIMEOUT),
            retries: self.retries.clone(),
            interceptor: self.interceptor.clone(),
        };
        client.version(id, stage).await
    }

    /// The client never retries.
    pub fn ses(&self) -> &aws_sdk_ses::Client {
        self.ses.get_or_init(|| {
            let mut config = aws_sdk_ses::config::Builder::from(&self.shared)
                // No retries, because sending is not idempotent.
                .retry_config(RetryConfig::disabled())
                .timeout_config(timeouts(self.has_timeouts, SEND_TIMEOUT));
            config.set_endpoint_url(self.config.ses_endpoint.clone());
            if let Some(interceptor) = &self.interceptor {
                config.push_interceptor(interceptor.clone());
            }
            aws_sdk_ses::Client::from_conf(config.build())
        })
    }
}

fn timeouts(has_timeouts: bool, attempt: Duration) -> TimeoutConfig {
    if !has_timeouts {
        return TimeoutConfig::disabled();
    }
    TimeoutConfig::builder().operation_attempt_timeout(attempt).build()
}

/// The SDK's standard retries; without pauses for a clock that has none.
fn retries(has_pauses: bool) -> RetryConfig {
    let retries = RetryConfig::standard();
    if has_pauses { retries } else { retries.with_max_backoff(Duration::ZERO) }
}

/// The TLS settings of the clients. If an endpoint is configured, they trust the system's authorities (or those in
/// `SSL_CERT_FILE`), else AWS's.
fn tls_for(config: &AwsConfig) -> fn() -> ClientConfig {
    let AwsConfig { dynamodb_endpoint, s3_endpoint, ses_endpoint, secrets_endpoint, .. } = config;
    let endpoints = [dynamodb_endpoint, s3_endpoint, ses_endpoint, secrets_endpoint];
    if endpoints.into_iter().any(Option::is_some) { system_tls } else { aws_tls }
}

fn system_tls() -> ClientConfig {
    ClientConfig::builder().with_root_certificates(system_roots()).with_no_client_auth()
}

/// Trusts AWS's own authorities, because parsing all of the system's takes most of a cold start. For other certificates, falls back
/// to the system's authorities: AWS may use a new authority before the next release of this service.
fn aws_tls() -> ClientConfig {
    let Some(verifier) = FallbackVerifier::new(amazon_roots(), system_roots) else { return system_tls() };
    let tls = ClientConfig::builder().dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    tls.with_no_client_auth()
}

// Read once, because tests and the local back end create many clients.
static SYSTEM_ROOTS: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        tracing::error!(target: "aws", errors = ?found.errors, "no authority is trusted, so no connection will be");
    }
    roots.into()
});

/// The authorities that the system trusts, or those in `SSL_CERT_FILE`.
pub fn system_roots() -> Arc<RootCertStore> {
    SYSTEM_ROOTS.clone()
}

fn amazon_roots() -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(AMAZON_ROOTS.map(CertificateDer::from));
    roots.into()
}

/// The root certificates of Amazon Trust Services (<https://www.amazontrust.com/repository/>), which issues the
/// certificates of all AWS endpoints.
const AMAZON_ROOTS: [&[u8]; 5] = [
    include_bytes!("roots/AmazonRootCA1.cer"),
    include_bytes!("roots/AmazonRootCA2.cer"),
    include_bytes!("roots/AmazonRootCA3.cer"),
    include_bytes!("roots/AmazonRootCA4.cer"),
    include_bytes!("roots/SFSRootCAG2.cer"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn config(dynamodb_endpoint: Option<&str>) -> AwsConfig {
        AwsConfig {
            region: "eu-central-1".to_owned(),
            access_key_id: "id".to_owned(),
            secret_access_key: "secret".to_owned(),
            session_token: None,
            dynamodb_endpoint: dynamodb_endpoint.map(str::to_owned),
            s3_endpoint: None,
            ses_endpoint: None,
            secrets_endpoint: None,
        }
    }

    #[test]
    fn every_compiled_in_authority_is_readable() {
        assert_eq!(amazon_roots().len(), AMAZON_ROOTS.len());
    }

    #[test]
    fn a_configured_endpoint_is_trusted_by_the_system_alone() {
        let is_system =
            |endpoint| std::ptr::fn_addr_eq(tls_for(&config(endpoint)), system_tls as fn() -> ClientConfig);
        assert!(is_system(Some("https://localhost:4566")));
        assert!(!is_system(None));
    }
}
