//! The configuration of a deployment, read once from environment variables.

use std::fmt;
use std::ops::RangeInclusive;

use chrono::TimeDelta;
use sha2::{Digest, Sha256};
use url::Url;

use crate::domain::history::erasure::CopyRetention;
use crate::domain::outgoing::AllowedTargets;
use crate::domain::privacy::receipt::ReceiptKey;
use crate::domain::text::{Email, is_loopback};

/// The prefix of all routes of the API.
pub const VERSION_PATH: &str = "/api/v3";

/// The configuration of a process.
#[derive(Clone)]
pub struct Config {
    /// `BASE_URL`, required: an origin followed by [`VERSION_PATH`], without a trailing slash. All URLs of resources in
    /// responses begin with it; the Host header is never used.
    pub base_url: Url,
    /// `SUITE_URL`, by default the origin of `BASE_URL`: the web application to which links in mails and `interview_suite_url` lead.
    pub suite_url: Url,
    /// Whether `SUITE_URL` is set. Then candidates take interviews in that application, whose pages have the paths of the API.
    pub has_suite: bool,
    /// `APP_URL`, optional: the application where staff work, unless their company has its own.
    pub app_url: Option<Url>,
    /// `TABLE_NAME`, required: the DynamoDB table.
    pub table: String,
    /// `SECURITY_CONTACT`, optional: a `mailto:` or `https:` URL for reports of vulnerabilities, which
    /// `/.well-known/security.txt` shows.
    pub security_contact: Option<Url>,
    /// `SESSION_IDLE_MINUTES`, default 120: sessions expire after this time without use.
    pub session_idle_minutes: i64,
    /// `ALLOWED_ORIGINS`, default empty: comma-separated origins of web front ends that may read responses and use
    /// session cookies.
    pub allowed_origins: Vec<String>,
    /// `ORIGIN_SECRETS`, optional: comma-separated secrets of the distribution in front of the API, of which each
    /// request must have one. There are two, so that one can be replaced while the distribution sends the other.
    pub origin_secrets: OriginSecrets,
    /// `MAIL_SENDER`, required where mails are sent: the default sender.
    pub mail_sender: Option<Email>,
    /// `MAIL_CONFIGURATION_SET`, optional: the SES configuration set that reports on mails.
    pub mail_configuration_set: Option<String>,
    /// `METRICS_NAMESPACE`, optional: the CloudWatch namespace for metrics in log lines. Without it, there are no metrics.
    pub metrics_namespace: Option<String>,
    /// `RELEASE`, required with `METRICS_NAMESPACE`: the name of the release in each log line.
    pub release: Option<String>,
    /// `BUCKET_NAME`, required where files are stored or fetched: the S3 bucket.
    pub bucket: Option<String>,
    /// Whether DynamoDB's endpoint is on this computer, as it never is in production.
    pub is_local: bool,
    /// `WEAK_PASSWORD_HASHES`, optional: `1` hashes passwords with the lowest cost, for tests. Only allowed in a local deployment.
    pub weak_password_hashes: bool,
    /// `EVENT_RETENTION_DAYS`, default 400: how long the history keeps changes.
    pub event_retention: TimeDelta,
    /// `RECEIPT_SECRET_ID`, required where receipts of erasures and archives are signed: the ARN or name of the secret in Secrets
    /// Manager from which the signing key is derived.
    pub receipt_secret: Option<String>,
    /// `FORMER_RECEIPT_KEYS`, default empty: comma-separated public keys that verify older receipts, each as the `x` of its JWK.
    pub former_receipt_keys: Vec<ReceiptKey>,
    /// `SEAL_SECRET_ID`, required where values are sealed: the ARN or name of the secret in Secrets Manager from which the
    /// sealing key is derived.
    pub seal_secret: Option<String>,
    /// `RECOVERY_DAYS`, default 28, and `LOG_RETENTION_DAYS`, default 90: how long copies of erased data are kept. Receipts state it.
    pub copies_kept: CopyRetention,
    /// `OUTGOING_TARGETS`: by default, requests go only to public addresses over https; `loopback` also allows the loopback
    /// interface, also over http. Only allowed in a local deployment.
    pub outgoing_targets: AllowedTargets,
    /// `PATH`: the folders where ffmpeg and ffprobe are searched.
    pub program_path: String,
    /// Access to the AWS APIs.
    pub aws: AwsConfig,
}

/// The hashes of secrets, of which each request must have one.
#[derive(Clone, Default)]
pub struct OriginSecrets(Vec<[u8; 32]>);

impl OriginSecrets {
    fn parse(text: &str) -> Self {
        Self(
            text.split(',')
                .filter(|secret| !secret.is_empty())
                // Hashed, so that the time of a comparison does not reveal where two secrets differ.
                .map(|secret| Sha256::digest(secret).into())
                .collect(),
        )
    }

    /// Whether requests need a secret, so that all come through the distribution.
    pub fn are_required(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether a request with the secret `sent` may pass.
    pub fn admit(&self, sent: Option<&[u8]>) -> bool {
        let sent = sent.map(|secret| <[u8; 32]>::from(Sha256::digest(secret)));
        !self.are_required() || sent.is_some_and(|secret| self.0.contains(&secret))
    }
}

/// Access to the AWS APIs. Lambda sets everything except the endpoints.
#[derive(Clone)]
pub struct AwsConfig {
    /// `AWS_REGION`, required.
    pub region: String,
    /// `AWS_ACCESS_KEY_ID`, required.
    pub access_key_id: String,
    /// `AWS_SECRET_ACCESS_KEY`, required.
    pub secret_access_key: String,
    /// `AWS_SESSION_TOKEN`, absent for long-lived keys.
    pub session_token: Option<String>,
    /// `AWS_ENDPOINT_URL_DYNAMODB`, else `AWS_ENDPOINT_URL`, else AWS.
    pub dynamodb_endpoint: Option<String>,
    /// `AWS_ENDPOINT_URL_S3`, else `AWS_ENDPOINT_URL`, else AWS.
    pub s3_endpoint: Option<String>,
    /// `AWS_ENDPOINT_URL_SES`, else `AWS_ENDPOINT_URL`, else AWS.
    pub ses_endpoint: Option<String>,
    /// `AWS_ENDPOINT_URL_SECRETS_MANAGER`, else `AWS_ENDPOINT_URL`, else AWS.
    pub secrets_endpoint: Option<String>,
}

/// An environment variable is missing or invalid.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The variable's name.
    pub variable: &'static str,
    /// The problem with its value.
    pub problem: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "environment variable {}: {}", self.variable, self.problem)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads the environment. Fails with the first missing or invalid variable.
    #[expect(clippy::disallowed_methods, reason = "the one place where the environment is read")]
    pub fn from_environment() -> Result<Self, ConfigError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Reads variables by name with `variable`. Empty values count as missing. Fails with the first missing or invalid variable.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let read = ConfigVariables(variable);
        let mut base_url = read.url("BASE_URL")?.ok_or_else(|| missing("BASE_URL"))?;
        // URLs are the base followed by a path that begins with a slash.
        base_url.set_path(base_url.path().trim_end_matches('/').to_owned().as_str());
        if base_url.path() != VERSION_PATH || base_url.query().is_some() || base_url.fragment().is_some() {
            return Err(unusable("BASE_URL", format!("must be an origin followed by {VERSION_PATH}")));
        }
        let given_suite = read.url("SUITE_URL")?;
        let has_suite = given_suite.is_some();
        let suite_url = match given_suite {
            Some(url) => url,
            None => base_url.join("/").map_err(|error| unusable("BASE_URL", error))?,
        };
        let mail_sender = read.get("MAIL_SENDER").map(|text| Email::parse(&text)).transpose();
        let dynamodb_endpoint = read.endpoint("AWS_ENDPOINT_URL_DYNAMODB");
        let endpoint = dynamodb_endpoint.and_then(|url| Url::parse(&url).ok());
        // Settings for tests require a local endpoint, so that by mistake they can neither weaken real passwords nor let webhooks
        // reach the cloud's metadata or the service's own network.
        let is_local = endpoint.is_some_and(|url| is_loopback(&url));
        Ok(Self {
            base_url,
            suite_url,
            has_suite,
            app_url: read.url("APP_URL")?,
            table: read.required("TABLE_NAME")?,
            security_contact: read.security_contact()?,
            session_idle_minutes: read.number("SESSION_IDLE_MINUTES", 1..=43_200)?.unwrap_or(120),
            allowed_origins: read.origins("ALLOWED_ORIGINS")?,
            origin_secrets: OriginSecrets::parse(&read.get("ORIGIN_SECRETS").unwrap_or_default()),
            mail_sender: mail_sender.map_err(|problem| unusable("MAIL_SENDER", problem))?,
            mail_configuration_set: read.get("MAIL_CONFIGURATION_SET"),
            release: match (read.get("METRICS_NAMESPACE"), read.get("RELEASE")) {
                // Without the release, metrics by release would not exist, and no alarm would roll back a release.
                (Some(_), None) => return Err(missing("RELEASE")),
                (_, release) => release,
            },
            metrics_namespace: read.get("METRICS_NAMESPACE"),
            bucket: read.get("BUCKET_NAME"),
            is_local,
            weak_password_hashes: read.local_flag("WEAK_PASSWORD_HASHES", "1", is_local)?,
            event_retention: TimeDelta::days(read.number("EVENT_RETENTION_DAYS", 1..=3_650)?.unwrap_or(400)),
            receipt_secret: read.get("RECEIPT_SECRET_ID"),
            former_receipt_keys: read.former_receipt_keys()?,
            seal_secret: read.get("SEAL_SECRET_ID"),
            copies_kept: CopyRetention {
                recovery_days: read.number("RECOVERY_DAYS", 1..=35)?.unwrap_or(28),
                log_days: read.number("LOG_RETENTION_DAYS", 1..=3_653)?.unwrap_or(90),
            },
            outgoing_targets: match read.local_flag("OUTGOING_TARGETS", "loopback", is_local)? {
                true => AllowedTargets::Loopback,
                false => AllowedTargets::Public,
            },
            program_path: read.get("PATH").unwrap_or_default(),
            aws: AwsConfig::read(&read)?,
        })
    }
}

impl Config {
    /// Whether browsers may send cookies only over encrypted connections.
    // Unencrypted connections are allowed only to a server on the same machine.
    pub fn is_cookie_secure(&self) -> bool {
        self.base_url.scheme() != "http" || !is_loopback(&self.base_url)
    }
}

impl AwsConfig {
    /// Reads the environment of a program that needs only these settings. Fails with the first missing variable.
    #[expect(clippy::disallowed_methods, reason = "the place where the environment is read")]
    pub fn from_environment() -> Result<Self, ConfigError> {
        Self::read(&ConfigVariables(|name: &str| std::env::var(name).ok()))
    }

    fn read<F: Fn(&str) -> Option<String>>(read: &ConfigVariables<F>) -> Result<Self, ConfigError> {
        Ok(Self {
            region: read.required("AWS_REGION")?,
            access_key_id: read.required("AWS_ACCESS_KEY_ID")?,
            secret_access_key: read.required("AWS_SECRET_ACCESS_KEY")?,
            session_token: read.get("AWS_SESSION_TOKEN"),
            dynamodb_endpoint: read.endpoint("AWS_ENDPOINT_URL_DYNAMODB"),
            s3_endpoint: read.endpoint("AWS_ENDPOINT_URL_S3"),
            ses_endpoint: read.endpoint("AWS_ENDPOINT_URL_SES"),
            secrets_endpoint: read.endpoint("AWS_ENDPOINT_URL_SECRETS_MANAGER"),
        })
    }
}

struct ConfigVariables<F>(F);

impl<F: Fn(&str) -> Option<String>> ConfigVariables<F> {
    fn get(&self, name: &'static str) -> Option<String> {
        // CloudFormation sets a variable even if its parameter is empty.
        self.0(name).filter(|value| !value.is_empty())
    }

    fn number(&self, name: &'static str, range: RangeInclusive<i64>) -> Result<Option<i64>, ConfigError> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match text.parse() {
            Ok(number) if range.contains(&number) => Ok(Some(number)),
            _ => {
                let (from, to) = range.into_inner();
                Err(unusable(name, format!("must be a whole number from {from} to {to}")))
            }
        }
    }

    /// Whether the variable has the value `on`. Fails if it is set although the deployment is not local.
    fn local_flag(&self, name: &'static str, on: &str, is_local: bool) -> Result<bool, ConfigError> {
        match self.get(name) {
            None => Ok(false),
            Some(value) if value == on && is_local => Ok(true),
            Some(_) => Err(unusable(
                name,
                format!(
                    "must be `{on}` or absent, and absent unless DynamoDB's endpoint is on this computer"
                ),
            )),
        }
    }

    /// Parses a list of origins, in the form in which browsers send them.
    fn origins(&self, name: &'static str) -> Result<Vec<String>, ConfigError> {
        let text = self.get(name).unwrap_or_default();
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        // Refuses `*`, which would let any page act with a visitor's session.
        let origins = entries.map(|entry| match Url::parse(entry) {
            Ok(url) if url.origin().is_tuple() && url.origin().ascii_serialization() == entry => {
                Ok(entry.to_owned())
            }
            _ => Err(unusable(name, format!("\"{entry}\" is no origin such as https://app.example.com"))),
        });
        origins.collect()
    }

    fn former_receipt_keys(&self) -> Result<Vec<ReceiptKey>, ConfigError> {
        const NAME: &str = "FORMER_RECEIPT_KEYS";
        let list = self.get(NAME).unwrap_or_default();
        ReceiptKey::parse_list(&list).map_err(|problem| unusable(NAME, problem))
    }

    fn required(&self, name: &'static str) -> Result<String, ConfigError> {
        self.get(name).ok_or_else(|| missing(name))
    }

    fn url(&self, name: &'static str) -> Result<Option<Url>, ConfigError> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match Url::parse(&text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(Some(url)),
            Ok(_) => Err(unusable(name, "must be an http or https URL")),
            Err(error) => Err(unusable(name, error)),
        }
    }

    fn security_contact(&self) -> Result<Option<Url>, ConfigError> {
        const NAME: &str = "SECURITY_CONTACT";
        let Some(text) = self.get(NAME) else { return Ok(None) };
        match Url::parse(&text) {
            Ok(url) if matches!(url.scheme(), "mailto" | "https") => Ok(Some(url)),
            Ok(_) => Err(unusable(NAME, "must be a mailto: or https: address")),
            Err(error) => Err(unusable(NAME, error)),
        }
    }

    fn endpoint(&self, name: &'static str) -> Option<String> {
        self.get(name).or_else(|| self.get("AWS_ENDPOINT_URL"))
    }
}

fn missing(variable: &'static str) -> ConfigError {
    ConfigError { variable, problem: "is missing".to_owned() }
}

fn unusable(variable: &'static str, problem: impl fmt::Display) -> ConfigError {
    ConfigError { variable, problem: problem.to_string() }
}

#[cfg(test)]
pub(crate) mod tests;
