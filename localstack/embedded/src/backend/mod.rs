//! The AWS services behind the functions, as servers on the loopback interface: DynamoDB, S3 and SES.

mod dynamodb;
mod elsewhere;
mod folder;
mod queue;
mod s3;
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
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) use elsewhere::Elsewhere;
pub(crate) use folder::Folder;
pub(crate) use queue::EventQueue;
pub(crate) use server::GRACE;
pub use stream::StreamReader;

use crate::{Error, Mailbox, OffsetClock, Template};
use dynamodb::Dynamodb;
pub(crate) use s3::CreatedObjects;
use s3::S3;
use ses::Ses;

/// The one access key that the back end knows.
pub const ACCESS_KEY_ID: &str = "local";
/// The secret of [`ACCESS_KEY_ID`]. Nothing but the loopback interface is served, so it need not be one.
pub const SECRET_ACCESS_KEY: &str = "local-secret";
/// The region that clients are told.
pub const REGION: &str = "eu-central-1";
/// The bucket that exists from the start.
pub const BUCKET: &str = "interviews-local-media";

/// Where mails come from.
const MAIL_DOMAIN: &str = "localhost.example";
/// What LocalStack takes for an access key of its first account, and for its secret.
const ELSEWHERES_KEY: &str = "test";

/// Where a back end keeps its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// Nowhere: it ends with the back end. (Objects lie in a temporary folder until then.)
    Memory,
    /// In a folder, created if needed and used by one process at a time.
    Folder(PathBuf),
    /// In services that somebody else runs, LocalStack for one, all at a URL such as `http://localhost:4566`. What goes to
    /// S3 and to SES passes through here, so that objects and mails are noted.
    Elsewhere(String),
}

/// The running services. They stop when this value is dropped, which waits for requests under way.
///
/// They do not depend on the caller's runtime: one back end can serve all the tests of a process, each with a table of
/// its own.
pub struct Backend {
    dynamodb: Dynamodb,
    s3: S3,
    ses: Ses,
    mailbox: Mailbox,
    clock: OffsetClock,
    template: Template,
    /// None when the services are run here.
    elsewhere: Option<Elsewhere>,
    // Last, so that it outlives the servers that use it.
    folder: Folder,
}

impl Backend {
    /// Starts the services on free ports, or finds those that somebody else runs. Returns at once: they take connections
    /// from then on.
    ///
    /// # Errors
    /// When the folder cannot be used, another process uses it, nothing answers at the URL, or the template defines no
    /// table.
    pub fn start(storage: &Storage) -> Result<Self, Error> {
        let template = Template::of_workspace()?;
        let (folder, database, mailbox, clock) = match storage {
            Storage::Elsewhere(url) => return Self::elsewhere(url, template),
            Storage::Memory => (Folder::temporary()?, None, Mailbox::default(), OffsetClock::default()),
            Storage::Folder(path) => {
                let folder = Folder::open(path)?;
                let database = folder.path().join("dynamodb.sqlite");
                let mailbox = Mailbox::open(&folder.path().join("mails.jsonl"))?;
                let clock = OffsetClock::open(&folder.path().join("clock.json"))?;
                (folder, Some(database), mailbox, clock)
            }
        };
        let backend = Self {
            dynamodb: Dynamodb::start(database.as_deref(), folder.path(), &template)?,
            s3: S3::start(&folder.path().join("s3"))?,
            ses: Ses::start(mailbox.clone(), clock.clone())?,
            mailbox,
            clock,
            template,
            elsewhere: None,
            folder,
        };
        backend.create_bucket(BUCKET)?;
        Ok(backend)
    }

    /// Of what is needed for mails, only SES has no part in the data stack: the sender must be verified there.
    fn elsewhere(url: &str, template: Template) -> Result<Self, Error> {
        let services = Elsewhere::at(url)?;
        services
            .verify_sender(MAIL_DOMAIN)
            .map_err(Error::because(format!("SES at {url} does not answer")))?;
        let (mailbox, clock) = (Mailbox::default(), OffsetClock::default());
        Ok(Self {
            dynamodb: Dynamodb::elsewhere(&services, &template)?,
            s3: S3::elsewhere(&services)?,
            ses: Ses::elsewhere(&services, mailbox.clone(), clock.clone())?,
            mailbox,
            clock,
            template,
            elsewhere: Some(services),
            folder: Folder::temporary()?,
        })
    }

    /// Creates a table as the template defines it. An existing table of the same definition is left as it is.
    /// Names shorter than 11 characters break the emulator's stream identifiers.
    ///
    /// # Errors
    /// When the definition is unusable, or a table of that name has another one.
    pub fn create_table(&self, name: &str) -> Result<(), Error> {
        self.dynamodb.create_table(name)
    }

    /// Whether there is a table of this name.
    pub(crate) fn has_table(&self, name: &str) -> Result<bool, Error> {
        self.dynamodb.has_table(name)
    }

    /// Every item of a table, in DynamoDB's JSON. Blocks the caller's thread, but needs none of its runtime.
    ///
    /// # Errors
    /// When there is no such table.
    pub fn items(&self, table: &str) -> Result<Vec<Value>, Error> {
        self.dynamodb.items(table)
    }

    /// Creates an S3 bucket; an existing one is left as it is.
    ///
    /// # Errors
    /// When its folder cannot be created.
    pub fn create_bucket(&self, name: &str) -> Result<(), Error> {
        self.s3.create_bucket(name)
    }

    /// Lets pages of these origins send and fetch objects of a bucket, as the template's rules have it; until then, none may.
    pub fn allow_origins(&self, bucket: &str, origins: &[String]) {
        self.s3.share(bucket, self.template.cors_of_bucket(origins));
    }

    /// The keys of all objects in an S3 bucket, in order.
    ///
    /// # Errors
    /// When somebody else keeps them and does not tell.
    pub fn object_keys(&self, bucket: &str) -> Result<Vec<String>, Error> {
        self.s3.keys(bucket)
    }

    /// What S3 tells EventBridge of the objects that are put into a bucket.
    pub(crate) fn created_objects(&self, bucket: &str) -> CreatedObjects {
        self.s3.created_objects(bucket)
    }

    /// The mails sent through SES.
    pub fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }

    /// A reader of a table's stream that starts with its oldest record.
    ///
    /// # Errors
    /// When there is no such table, or it has no stream.
    pub fn stream(&self, table: &str) -> Result<StreamReader, Error> {
        self.dynamodb.stream(table)
    }

    /// The clock that mails are dated by; whoever runs functions here chooses whether they go by it, too. It is kept with
    /// the data.
    pub fn clock(&self) -> &OffsetClock {
        &self.clock
    }

    /// The environment variables of a function that uses `table` here and is reached at `base_url`, which ends in
    /// `/api/v3`: for [`shared::config::Config::from_variables`], or for a process of its own.
    pub fn environment(&self, base_url: &str, table: &str) -> BTreeMap<&'static str, String> {
        let (key, secret) = match &self.elsewhere {
            None => (ACCESS_KEY_ID, SECRET_ACCESS_KEY),
            Some(_) => (ELSEWHERES_KEY, ELSEWHERES_KEY),
        };
        BTreeMap::from([
            ("BASE_URL", base_url.to_owned()),
            ("TABLE_NAME", table.to_owned()),
            ("BUCKET_NAME", BUCKET.to_owned()),
            ("PATH", program_path()),
            ("MAIL_SENDER", format!("interviews@{MAIL_DOMAIN}")),
            // What `Ref` gives here is the logical id, in patterns of events as well.
            ("MAIL_CONFIGURATION_SET", "MailConfiguration".to_owned()),
            ("AWS_REGION", REGION.to_owned()),
            ("AWS_ACCESS_KEY_ID", key.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", secret.to_owned()),
            ("AWS_ENDPOINT_URL_DYNAMODB", self.dynamodb.url()),
            ("AWS_ENDPOINT_URL_S3", self.s3.url()),
            ("AWS_ENDPOINT_URL_SES", self.ses.url()),
        ])
    }

    /// Whether the services are run here, in memory or in a folder.
    pub fn is_here(&self) -> bool {
        self.elsewhere.is_none()
    }

    /// The services that somebody else runs.
    pub(crate) fn services(&self) -> Option<&Elsewhere> {
        self.elsewhere.as_ref()
    }

    /// Where a file of this name is kept with the data; nowhere unless the storage is [`Storage::Folder`].
    pub(crate) fn kept(&self, name: &str) -> Option<PathBuf> {
        (!self.folder.is_temporary()).then(|| self.folder.path().join(name))
    }

    /// The folder with the data; it is temporary unless the storage is [`Storage::Folder`].
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}

/// Where this computer keeps its programs, ffmpeg among them.
fn program_path() -> String {
    std::env::var_os("PATH").and_then(|path| path.into_string().ok()).unwrap_or_default()
}

/// Serves a router until `stop` resolves and the requests under way are answered. A request for any other host than this
/// computer is refused: a page of another site can have its own name lead here, and would then count as a page of ours.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    // Without it, small answers wait for the client's delayed acknowledgement.
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

/// Whether a host, with or without port, is one that leads nowhere but to this computer.
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
