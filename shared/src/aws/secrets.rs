//! A client for the one operation of Secrets Manager that the service needs, because its whole SDK would be large. The crates
//! of the other SDKs sign, send, retry and time out the request.

use std::time::Duration;

use aws_credential_types::provider::SharedCredentialsProvider;
use aws_runtime::auth::sigv4::{SCHEME_ID, SigV4AuthScheme};
use aws_runtime::auth::{SigV4OperationSigningConfig, SigningOptions};
use aws_smithy_async::rt::sleep::{SharedAsyncSleep, TokioSleep};
use aws_smithy_async::time::SystemTimeSource;
use aws_smithy_runtime::client::identity::IdentityCache;
use aws_smithy_runtime::client::orchestrator::operation::Operation;
use aws_smithy_runtime::client::retries::classifiers::{HttpStatusCodeClassifier, TransientErrorClassifier};
use aws_smithy_runtime_api::client::auth::static_resolver::StaticAuthSchemeOptionResolver;
use aws_smithy_runtime_api::client::auth::{
    AuthSchemeOptionResolverParams, SharedAuthScheme, SharedAuthSchemeOptionResolver,
};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_runtime_api::client::identity::SharedIdentityResolver;
use aws_smithy_runtime_api::client::interceptors::SharedInterceptor;
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, OrchestratorError};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponentsBuilder;
use aws_smithy_runtime_api::client::runtime_plugin::StaticRuntimePlugin;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::Layer;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SigningName;
use aws_types::region::{Region, SigningRegion};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::json;

use crate::error::{Error, Result};

const SERVICE: &str = "secretsmanager";
/// The maximum pause before the first retry. Short, because a client's request waits.
const BACKOFF: Duration = Duration::from_millis(50);
/// The code if the secret, or a version with the requested stage, does not exist.
const NOT_FOUND: &str = "ResourceNotFoundException";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct SecretVersion {
    #[serde(rename = "SecretString")]
    pub(crate) text: String,
    /// The time of creation, in seconds since 1970.
    created_date: f64,
}

impl SecretVersion {
    /// The time at which the version became the current one.
    pub(crate) fn created_at(&self) -> DateTime<Utc> {
        // Truncate fractions of a second, which do not matter for a secret that lasts for months.
        DateTime::from_timestamp(self.created_date as i64, 0).unwrap_or_default()
    }
}

/// An error response.
#[derive(Debug)]
struct Refused {
    /// The error code, such as `AccessDeniedException`.
    code: String,
    is_ours: bool,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets Manager answers {}", self.code)
    }
}

impl std::error::Error for Refused {}

/// A client of Secrets Manager, made of parts of the other clients.
pub(super) struct SecretsClient {
    pub(super) http: SharedHttpClient,
    pub(super) credentials: SharedCredentialsProvider,
    pub(super) region: Region,
    pub(super) endpoint: Option<String>,
    pub(super) timeouts: TimeoutConfig,
    pub(super) retries: RetryConfig,
    pub(super) interceptor: Option<SharedInterceptor>,
}

impl SecretsClient {
    /// Fetches the version of a secret with this stage, such as `AWSCURRENT`; `None` if it does not exist. Fails with
    /// [`Error::Busy`] if Secrets Manager does not respond.
    pub(super) async fn version(&self, secret: &str, stage: &str) -> Result<Option<SecretVersion>> {
        let body = json!({ "SecretId": secret, "VersionStage": stage }).to_string();
        let mut operation = Operation::builder()
            .service_name(SERVICE)
            .operation_name("GetSecretValue")
            .http_client(self.http.clone())
            .endpoint_url(&self.endpoint())
            .timeout_config(self.timeouts.clone())
            .standard_retry(&self.retries.clone().with_initial_backoff(BACKOFF))
            .retry_classifier(HttpStatusCodeClassifier::default())
            .retry_classifier(TransientErrorClassifier::<Refused>::new())
            .sleep_impl(SharedAsyncSleep::new(TokioSleep::new()))
            .time_source(SystemTimeSource::new())
            .runtime_plugin(self.signature());
        if let Some(interceptor) = &self.interceptor {
            operation = operation.interceptor(interceptor.clone());
        }
        let operation = operation
            .serializer(|body: String| {
                let mut request = HttpRequest::new(SdkBody::from(body));
                request.set_method("POST")?;
                request.headers_mut().insert("content-type", "application/x-amz-json-1.1");
                request.headers_mut().insert("x-amz-target", "secretsmanager.GetSecretValue");
                Ok(request)
            })
            .deserializer(|response| {
                let body = response.body().bytes().unwrap_or_default();
                match response.status().is_success() {
                    true => Ok(Secret(body.to_vec())),
                    false => Err(OrchestratorError::operation(refused(response.status().as_u16(), body))),
                }
            })
            .build();
        match operation.invoke(body).await {
            // Drop the parser's message, which may contain the secret.
            Ok(Secret(body)) => serde_json::from_slice(&body)
                .map(Some)
                .map_err(|_| Error::internal("the answer of Secrets Manager cannot be read")),
            Err(error) => match error.as_service_error() {
                Some(refused) if refused.code == NOT_FOUND => Ok(None),
                Some(refused) if refused.is_ours => Err(Error::internal(refused.to_string())),
                _ => Err(Error::Busy(error.into())),
            },
        }
    }

    fn endpoint(&self) -> String {
        let domain =
            if self.region.as_ref().starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        self.endpoint.clone().unwrap_or_else(|| format!("https://{SERVICE}.{}.{domain}", self.region))
    }

    fn signature(&self) -> StaticRuntimePlugin {
        let mut config = Layer::new("signature");
        config.store_put(AuthSchemeOptionResolverParams::new(()));
        config.store_put(SigV4OperationSigningConfig {
            region: Some(SigningRegion::from(self.region.clone())),
            region_set: None,
            name: Some(SigningName::from_static(SERVICE)),
            signing_options: SigningOptions::default(),
        });
        let mut components = RuntimeComponentsBuilder::new("signature");
        components.set_auth_scheme_option_resolver(Some(SharedAuthSchemeOptionResolver::new(
            StaticAuthSchemeOptionResolver::new(vec![SCHEME_ID]),
        )));
        components.push_auth_scheme(SharedAuthScheme::new(SigV4AuthScheme::new()));
        components.set_identity_cache(Some(IdentityCache::no_cache()));
        components.set_identity_resolver(SCHEME_ID, SharedIdentityResolver::new(self.credentials.clone()));
        StaticRuntimePlugin::new().with_config(config.freeze()).with_runtime_components(components)
    }
}

/// The body of a response, hidden from `Debug`.
struct Secret(Vec<u8>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

fn refused(status: u16, body: &[u8]) -> Refused {
    #[derive(Deserialize)]
    struct Problem {
        #[serde(rename = "__type")]
        code: String,
    }
    // Some responses prefix the code with the name of the service and `#`.
    let code = serde_json::from_slice::<Problem>(body)
        .map(|Problem { code }| code.rsplit('#').next().unwrap_or_default().to_owned());
    let code = code.unwrap_or_else(|_| status.to_string());
    let is_ours = status < 500 && !code.contains("Throttling");
    Refused { code, is_ours }
}
