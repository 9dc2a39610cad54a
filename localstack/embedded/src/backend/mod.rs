//! The AWS services behind the functions (DynamoDB, S3, SES and Secrets Manager), as servers on the loopback interface.

mod dynamodb;
mod external;
mod folder;
mod queue;
mod s3;
mod secrets;
mod server;
mod ses;
mod stream;
mod tables;

use std::collections::BTreeMap;
use std::path::PathBuf;

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use shared::clock::Clock as _;
use tokio::net::TcpListener;

pub(crate) use external::ExternalServices;
pub(crate) use folder::Folder;
pub(crate) use queue::EventQueue;
pub(crate) use server::GRACE;
pub use stream::StreamReader;

use crate::{Error, Mailbox, OffsetClock, Template};
use dynamodb::Dynamodb;
pub(crate) use s3::CreatedObjects;
use s3::S3;
use secrets::Secrets;
use ses::Ses;

/// The only access key that the back end accepts.
pub const ACCESS_KEY_ID: &str = "local";
/// Not a secret: the back end is reachable only on the loopback interface.
pub const SECRET_ACCESS_KEY: &str = "local-secret";
/// The region that clients must use.
pub const REGION: &str = "eu-central-1";
/// The bucket that exists from the start.
pub const BUCKET: &str = "interviews-local-media";

/// The domain of the default sender address.
const MAIL_DOMAIN: &str = "localhost.example";
/// The access key and secret of LocalStack's first account.
const EXTERNAL_KEY: &str = "test";

/// Where a back end stores its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// In memory. Objects are in a temporary folder.
    Memory,
    /// In a folder, which is created if needed. One process at a time can use it.
    Folder(PathBuf),
    /// In external services such as LocalStack, all at one URL such as `http://localhost:4566`. Requests to S3 and SES
    /// pass through the back end, which records objects and mails.
    External(String),
}

/// The running services. Dropping this value stops them after the requests in progress.
///
/// The services do not depend on the caller's runtime: one back end can serve all tests of a process, each with its own
/// table.
pub struct Backend {
    dynamodb: Dynamodb,
    s3: S3,
    ses: Ses,
    secrets: Secrets,
    mailbox: Mailbox,
    clock: OffsetClock,
    template: &'static Template,
    /// `None` unless the services are external.
    external: Option<ExternalServices>,
    // The last field, so that it is dropped after the servers that use it.
    folder: Folder,
}

impl Backend {
    /// Starts the services on free ports, or connects to external ones. The servers accept connections when this
    /// returns.
    ///
    /// # Errors
    /// If the folder cannot be used or is locked, nothing answers at the URL, or the template defines no table.
    pub fn start(storage: &Storage) -> Result<Self, Error> {
        let template = Template::of_workspace()?;
        let (folder, database, mailbox, clock, secrets) = match storage {
            Storage::External(url) => return Self::external(url, template),
            Storage::Memory => (
                Folder::temporary()?,
                None,
                Mailbox::default(),
                OffsetClock::default(),
                Secrets::start(None)?,
            ),
            Storage::Folder(path) => {
                let folder = Folder::open(path)?;
                let database = folder.path().join("dynamodb.sqlite");
                let mailbox = Mailbox::open(&folder.path().join("mails.jsonl"))?;
                let clock = OffsetClock::open(&folder.path().join("clock.json"))?;
                let secrets = Secrets::start(Some(&folder.path().join("secrets.json")))?;
                (folder, Some(database), mailbox, clock, secrets)
            }
        };
        let backend = Self {
            dynamodb: Dynamodb::start(database.as_deref(), folder.path(), template)?,
            s3: S3::start(folder.path())?,
            ses: Ses::start(mailbox.clone(), clock.clone())?,
            secrets,
            mailbox,
            clock,
            template,
            external: None,
            folder,
        };
        backend.create_bucket(BUCKET)?;
        backend.create_secret(RECEIPT_SECRET, RECEIPT_SECRET)?;
        Ok(backend)
    }

    /// Connects to external services. Verifies the sender, because the data stack does not cover SES.
    fn external(url: &str, template: &'static Template) -> Result<Self, Error> {
        let services = ExternalServices::at(url)?;
        services
            .verify_sender(MAIL_DOMAIN)
            .map_err(Error::because(format!("SES at {url} does not answer")))?;
        let (mailbox, clock) = (Mailbox::default(), OffsetClock::default());
        let backend = Self {
            dynamodb: Dynamodb::external(&services, template)?,
            s3: S3::external(&services)?,
            ses: Ses::external(&services, mailbox.clone(), clock.clone())?,
            secrets: Secrets::external(&services),
            mailbox,
            clock,
            template,
            external: Some(services),
            folder: Folder::temporary()?,
        };
        backend.create_secret(RECEIPT_SECRET, RECEIPT_SECRET)?;
        Ok(backend)
    }

    /// Creates a table by the template's definition, and the secret of its encryption key, unless they exist. The name
    /// needs at least 11 characters: the emulator's stream identifiers are broken otherwise.
    ///
    /// # Errors
    /// If the definition is unusable, or a table with this name has another definition.
    pub fn create_table(&self, name: &str) -> Result<(), Error> {
        self.create_secret(&seal_secret(name), &secrets::random_text())?;
        self.dynamodb.create_table(name)
    }

    /// Creates a secret unless it exists.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub fn create_secret(&self, name: &str, text: &str) -> Result<(), Error> {
        self.secrets.create(name, text, self.clock.now())
    }

    /// Replaces the text of a secret at `now`, like `aws secretsmanager put-secret-value`.
    ///
    /// # Errors
    /// If there is no such secret.
    pub fn put_secret(&self, name: &str, text: &str, now: DateTime<Utc>) -> Result<(), Error> {
        self.secrets.put(name, text, now)
    }

    pub(crate) fn has_table(&self, name: &str) -> Result<bool, Error> {
        self.dynamodb.has_table(name)
    }

    /// Every item of a table, in DynamoDB's JSON. Blocks the thread, but does not need the caller's runtime.
    ///
    /// # Errors
    /// If the table does not exist.
    pub fn items(&self, table: &str) -> Result<Vec<Value>, Error> {
        self.dynamodb.items(table)
    }

    /// Creates an S3 bucket unless it exists.
    ///
    /// # Errors
    /// If its folder cannot be created.
    pub fn create_bucket(&self, name: &str) -> Result<(), Error> {
        self.s3.create_bucket(name)
    }

    /// Applies the template's CORS rules to the bucket for these origins; before, no origin is allowed.
    pub fn allow_origins(&self, bucket: &str, origins: &[String]) {
        self.s3.share(bucket, self.template.cors_of_bucket(origins));
    }

    /// The keys of all objects in an S3 bucket, sorted.
    ///
    /// # Errors
    /// If the external service fails.
    pub fn object_keys(&self, bucket: &str) -> Result<Vec<String>, Error> {
        self.s3.keys(bucket)
    }

    /// The EventBridge events that S3 sends for new objects in a bucket.
    pub(crate) fn created_objects(&self, bucket: &str) -> CreatedObjects {
        self.s3.created_objects(bucket)
    }

    pub fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }

    /// Reads a table's stream from its oldest record.
    ///
    /// # Errors
    /// If there is no such table, or it has no stream.
    pub fn stream(&self, table: &str) -> Result<StreamReader, Error> {
        self.dynamodb.stream(table)
    }

    /// The clock that dates mails, whose offset is stored with the data. Functions may use it too.
    pub fn clock(&self) -> &OffsetClock {
        &self.clock
    }

    /// The environment variables of a function that uses `table` and is reached at `base_url`, which ends in `/api/v3`.
    /// They are for [`shared::config::Config::from_variables`], or for a separate process.
    pub fn environment(&self, base_url: &str, table: &str) -> BTreeMap<&'static str, String> {
        let (key, secret) = match &self.external {
            None => (ACCESS_KEY_ID, SECRET_ACCESS_KEY),
            Some(_) => (EXTERNAL_KEY, EXTERNAL_KEY),
        };
        BTreeMap::from([
            ("BASE_URL", base_url.to_owned()),
            ("TABLE_NAME", table.to_owned()),
            ("BUCKET_NAME", BUCKET.to_owned()),
            ("PATH", program_path()),
            ("RECEIPT_SECRET_ID", RECEIPT_SECRET.to_owned()),
            ("SEAL_SECRET_ID", seal_secret(table)),
            ("MAIL_SENDER", format!("interviews@{MAIL_DOMAIN}")),
            // `Ref` resolves to the logical id here, as in event patterns.
            ("MAIL_CONFIGURATION_SET", "MailConfiguration".to_owned()),
            ("AWS_REGION", REGION.to_owned()),
            ("AWS_ACCESS_KEY_ID", key.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", secret.to_owned()),
            ("AWS_ENDPOINT_URL_DYNAMODB", self.dynamodb.url()),
            ("AWS_ENDPOINT_URL_S3", self.s3.url()),
            ("AWS_ENDPOINT_URL_SES", self.ses.url()),
            ("AWS_ENDPOINT_URL_SECRETS_MANAGER", self.secrets.url()),
        ])
    }

    /// Whether this process runs the services, in memory or in a folder.
    pub fn is_embedded(&self) -> bool {
        self.external.is_none()
    }

    pub(crate) fn services(&self) -> Option<&ExternalServices> {
        self.external.as_ref()
    }

    /// The path of a file in the data folder; `None` unless the storage is [`Storage::Folder`].
    pub(crate) fn kept(&self, name: &str) -> Option<PathBuf> {
        (!self.folder.is_temporary()).then(|| self.folder.path().join(name))
    }

    /// The data folder; temporary unless the storage is [`Storage::Folder`].
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}

/// The name and the text of the secret that the receipt key is derived from.
// The text is public and equal in all runs: receipts of the local service prove nothing.
const RECEIPT_SECRET: &str = "development-receipts";

/// The name of the secret that a table's encryption key is derived from, as in the template for a stack with the
/// table's name.
fn seal_secret(table: &str) -> String {
    format!("{table}-seals")
}

/// The folders that are searched for ffmpeg.
fn program_path() -> String {
    std::env::var_os("PATH").and_then(|path| path.into_string().ok()).unwrap_or_default()
}

/// Serves a router until `stop` resolves and the requests in progress are answered. Refuses requests for hosts other
/// than this computer: another site could resolve its own name to this computer, and its pages would count as
/// same-origin.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    // Disable Nagle's algorithm: otherwise small responses wait for the client's delayed acknowledgement.
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    let router = router.layer(middleware::from_fn(only_for_this_computer));
    if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stop).await {
        tracing::error!(%error, "a server failed");
    }
}

async fn only_for_this_computer(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if host.is_some_and(is_this_computer) && request.uri().host().is_none_or(is_this_computer) {
        return next.run(request).await;
    }
    let refusal = json!({
        "code": "misdirected_request",
        "detail": "This service answers only at localhost, 127.0.0.1 and [::1]. Use one of these in the address.",
    });
    (StatusCode::MISDIRECTED_REQUEST, Json(refusal)).into_response()
}

/// Whether a host, with or without port, always resolves to this computer.
fn is_this_computer(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port),
        _ => (host, ""),
    };
    port.bytes().all(|byte| byte.is_ascii_digit())
        && ["localhost", "127.0.0.1", "[::1]"].iter().any(|own| name.eq_ignore_ascii_case(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_computer_count() {
        for host in ["localhost", "localhost:8080", "LocalHost:1", "127.0.0.1:80", "[::1]", "[::1]:8080"] {
            assert!(is_this_computer(host), "{host}");
        }
        for host in [
            "",
            ":8080",
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "evil.localhost",
            "localhost:80@evil.example",
            "user@localhost",
            "127.0.0.1.nip.io:8080",
            "0.0.0.0:8080",
            "192.168.0.1",
            "::1",
            "[::1].example",
            "localhost, evil.example",
        ] {
            assert!(!is_this_computer(host), "{host}");
        }
    }
}
