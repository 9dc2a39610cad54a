//! Serves the gateway and the pages under `/_local/` on one port, in front of the functions and the back end.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::Path;
use std::slice;
use std::sync::Arc;

use admin::import::{ArchiveImport, ImportOptions, ImportResult, TrustedKeys, start_company};
use axum::extract::Request;
use shared::app::App;
use shared::clock::SystemEntropy;
use shared::config::Config;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::events::Background;
use crate::issuer::LocalIssuer;
use crate::pages::Pages;
use crate::provider::LocalProvider;
use crate::receivers::Receivers;
use crate::{BUCKET, Backend, Demo, Error, Events, Gateway, Storage, Template, backend, functions, pages};

const TABLE: &str = "interviews-local";

/// Options of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The address to listen on: loopback, or all addresses in a container.
    pub address: IpAddr,
    /// The port; 0 for a free one.
    pub port: u16,
    /// Where the data is stored.
    pub storage: Storage,
    /// The origins whose pages may use the API, such as `http://localhost:3000`.
    pub allowed_origins: Vec<String>,
}

/// The running service. It ends with [`stop`](Self::stop), or with the runtime that started it.
pub struct Local {
    origin: String,
    app: App,
    demo: Demo,
    backend: Backend,
    background: Background,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

impl Local {
    /// Starts everything, and creates the table and the demo company if they are missing. The service accepts requests
    /// when this returns.
    ///
    /// # Errors
    /// If the port is in use or the storage cannot be used.
    pub async fn start(options: &Options) -> Result<Self, Error> {
        // Listen first: an earlier run usually holds both port and data, and the error about the port is clearer.
        let listener = listen(options.address, options.port).await?;
        let port = listener.local_addr().map_err(Error::because("cannot listen"))?.port();
        let origin = format!("http://localhost:{port}");
        let backend = Backend::start(&options.storage)?;
        let mut environment = backend.environment(&format!("{origin}/api/v3"), TABLE);
        environment.insert("ALLOWED_ORIGINS", options.allowed_origins.join(","));
        if let Some(services) = backend.services() {
            if !backend.has_table(TABLE)? {
                let url = services.url();
                return Err(Error::new(format!(
                    "the data stack is not at {url}: localstack/data-stack {url}"
                )));
            }
            // LocalStack has its own rules that report new objects.
            environment.insert("AWS_ENDPOINT_URL_S3", services.url());
            environment.insert("MAIL_CONFIGURATION_SET", format!("{TABLE}-mails"));
        } else {
            backend.create_table(TABLE).map_err(Error::because(format!(
                "the data in {} does not fit (deleting the folder starts anew)",
                backend.folder().display()
            )))?;
        }
        // Only for services on this computer: the settings refuse it elsewhere, because others may use that service.
        if backend.services().is_none_or(|services| services.is_on_this_computer()) {
            environment.insert("OUTGOING_TARGETS", "loopback".to_owned());
        }
        let config = Config::from_variables(|name| environment.get(name).cloned())
            .map_err(Error::because("the functions' settings are unusable"))?;
        // The page calls the API at its own origin, but uploads recordings to the bucket.
        let origins = [config.allowed_origins.as_slice(), slice::from_ref(&origin)].concat();
        backend.allow_origins(BUCKET, &origins);
        let clock = backend.clock().clone();
        let app = App::new(config, Arc::new(clock.clone()), Arc::new(SystemEntropy));
        let (template, functions) = (Template::of_workspace()?, functions(|_| app.clone()));
        let gateway = Gateway::new(template, &functions, &app.config().allowed_origins)?;
        let mut events = Events::new(template, &functions, &backend, &app)?;
        if backend.services().is_some() {
            events = events.with_queues(&backend)?;
        }
        let demo = Demo::of(backend.folder(), &app).await?;
        let background = events.in_background();

        // A function in another process gets its own URL and PATH.
        environment.retain(|name, _| !["BASE_URL", "PATH"].contains(name));
        let (mailbox, environment) = (backend.mailbox().clone(), Arc::new(environment));
        let issuer = LocalIssuer::new(format!("{origin}/_local/issuer"))?;
        let provider = LocalProvider::new(&origin, Arc::new(clock.clone()))?;
        let (shown_app, shown_demo) = (app.clone(), demo.clone());
        let pages = Pages {
            mailbox,
            receivers: Receivers::default(),
            issuer,
            provider,
            events,
            clock,
            app: shown_app,
            demo: shown_demo,
            environment,
        };
        let router = pages::router(pages).fallback(async move |request: Request| gateway.call(request).await);
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(backend::serve(listener, router, async {
            // An error means that the handle was dropped, which also stops the server.
            let _ = stopped.await;
        }));
        Ok(Self { origin, app, demo, backend, background, stop, server })
    }

    /// Imports a company from the archive in `folder`, whoever has signed it. `name` replaces the company's identifier.
    ///
    /// # Errors
    /// If the archive is invalid, or if another company has this identifier.
    pub async fn import(&self, folder: &Path, name: Option<&str>) -> Result<ImportResult, Error> {
        let name = name
            .map(str::parse)
            .transpose()
            .map_err(|_| Error::new("--as: use 2 to 63 letters a to z, digits and hyphens"))?;
        // Users decide themselves which archives to trust on their own computer.
        let trusted = TrustedKeys::OfArchive;
        let (keeps_grants, allows_missing) = (true, true);
        let options = ImportOptions { trusted, name, keeps_grants, allows_missing, erased: Vec::new() };
        let report = |line: &str| tracing::info!(target: "import", "{line}");
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
            Error::new(format!("cannot import {}: {error}", folder.display()))
        };
        let import = ArchiveImport::new(&self.app, folder, options, report).map_err(failed)?;
        let imported = import.run().await.map_err(failed)?;
        // Start the company at once: mails only reach the local inbox, so there is nothing to check first.
        start_company(&self.app, imported.company.clone()).await.map_err(failed)?;
        Ok(imported)
    }

    /// The API's base URL, such as `http://localhost:8080/api/v3`.
    pub fn base_url(&self) -> String {
        format!("{}/api/v3", self.origin)
    }

    pub fn inbox_url(&self) -> String {
        format!("{}/_local/inbox/", self.origin)
    }

    /// The URL of the mails as a JSON list, newest first.
    pub fn mails_url(&self) -> String {
        format!("{}/_local/mails", self.origin)
    }

    /// The URL that shows and advances the clock.
    pub fn clock_url(&self) -> String {
        format!("{}/_local/clock", self.origin)
    }

    /// The login of the demo company's owner.
    pub fn demo(&self) -> &Demo {
        &self.demo
    }

    /// The application that all functions share.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// The AWS services behind the functions.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Stops accepting requests and starting functions, waits at most two seconds for those in progress, and stops the
    /// back end.
    pub async fn stop(self) {
        let _ = self.stop.send(());
        let served = async {
            if tokio::time::timeout(backend::GRACE, self.server).await.is_err() {
                tracing::warn!("requests were still under way at the stop");
            }
        };
        tokio::join!(served, self.background.stop());
    }
}

async fn listen(address: IpAddr, port: u16) -> Result<TcpListener, Error> {
    TcpListener::bind((address, port)).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Error::new(format!("port {port} is taken; choose another with --port")),
        _ => Error::because(format!("cannot listen on {address}, port {port}"))(error),
    })
}
