//! Combines back end, functions, gateway and the pages under `/_local/` on one port.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::Path;
use std::slice;
use std::sync::Arc;

use admin::import::{ArchiveImport, ImportOptions, ImportResult, TrustedKey};
use axum::extract::Request;
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::RouteReader;
use shared::app::App;
use shared::clock::SystemEntropy;
use shared::config::Config;
use shared::http::MakeService;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::events::Background;
use crate::pages::Pages;
use crate::receivers::Receivers;
use crate::{
    BUCKET, Backend, Demo, Error, Events, Function, Gateway, Storage, Template, backend, in_process,
    in_process_event, pages,
};

const TABLE: &str = "interviews-local";

/// Options of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Where to listen: the loopback address, or all addresses of a container.
    pub address: IpAddr,
    /// 0 picks a free port.
    pub port: u16,
    /// Where the data is kept.
    pub storage: Storage,
    /// Origins whose pages may use the API, such as `http://localhost:3000`.
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
    /// Starts everything, and creates the table and the demo company if they are missing. The service answers as soon
    /// as this returns.
    ///
    /// # Errors
    /// If the port is in use or the storage cannot be used.
    pub async fn start(options: &Options) -> Result<Self, Error> {
        // The port first: an earlier run usually holds both the port and the data, and the port's message is clearer.
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
            // LocalStack's own rules announce objects.
            environment.insert("AWS_ENDPOINT_URL_S3", services.url());
            environment.insert("MAIL_CONFIGURATION_SET", format!("{TABLE}-mails"));
        } else {
            environment.insert("WEBHOOK_TARGETS", "any".to_owned());
            backend.create_table(TABLE).map_err(Error::because(format!(
                "the data in {} does not fit (deleting the folder starts anew)",
                backend.folder().display()
            )))?;
        }
        let config = Config::from_variables(|name| environment.get(name).cloned())
            .map_err(Error::because("the functions' settings are unusable"))?;
        // The page calls the API at its own origin, but sends recordings to the bucket.
        let origins = [config.allowed_origins.as_slice(), slice::from_ref(&origin)].concat();
        backend.allow_origins(BUCKET, &origins);
        let clock = backend.clock().clone();
        let app = App::new(config, Arc::new(clock.clone()), Arc::new(SystemEntropy));
        let (template, functions) = (Template::of_workspace()?, functions(|_| app.clone()));
        let gateway = Gateway::new(&template, &functions, &app.config().allowed_origins)?;
        let mut events = Events::new(&template, &functions, &backend, &app)?;
        if backend.services().is_some() {
            events = events.with_queues(&backend)?;
        }
        let demo = Demo::of(backend.folder(), &app).await?;
        let background = events.in_background();

        // A function in another process has its own URL and path.
        environment.retain(|name, _| !["BASE_URL", "PATH"].contains(name));
        let (mailbox, environment) = (backend.mailbox().clone(), Arc::new(environment));
        let receivers = Receivers::default();
        let pages =
            Pages { mailbox, receivers, events, clock, app: app.clone(), demo: demo.clone(), environment };
        let router = pages::router(pages).fallback(async move |request: Request| gateway.call(request).await);
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(backend::serve(listener, router, async {
            // An error means that the handle was dropped, which is also a stop.
            let _ = stopped.await;
        }));
        Ok(Self { origin, app, demo, backend, background, stop, server })
    }

    /// Imports the company of the archive in `folder`, whichever key has signed it, under its own or another identifier.
    ///
    /// # Errors
    /// If the archive is wrong, or if there is another company of this name.
    pub async fn import(&self, folder: &Path, name: Option<&str>) -> Result<ImportResult, Error> {
        let name = name
            .map(str::parse)
            .transpose()
            .map_err(|_| Error::new("--as: use 2 to 63 letters a to z, digits and hyphens"))?;
        // On their own computer, users decide themselves which archives they trust.
        let options = ImportOptions { trusted: TrustedKey::OfArchive, name, keeps_grants: true };
        let report = |line: &str| tracing::info!(target: "import", "{line}");
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
            Error::new(format!("cannot import {}: {error}", folder.display()))
        };
        ArchiveImport::new(&self.app, folder, options, report).map_err(failed)?.run().await.map_err(failed)
    }

    /// The API's base URL, such as `http://localhost:8080/api/v3`.
    pub fn base_url(&self) -> String {
        format!("{}/api/v3", self.origin)
    }

    /// The inbox.
    pub fn inbox_url(&self) -> String {
        format!("{}/_local/inbox/", self.origin)
    }

    /// The mails as a JSON list, newest first.
    pub fn mails_url(&self) -> String {
        format!("{}/_local/mails", self.origin)
    }

    /// The URL of the clock.
    pub fn clock_url(&self) -> String {
        format!("{}/_local/clock", self.origin)
    }

    /// The login of the demo company's owner.
    pub fn demo(&self) -> &Demo {
        &self.demo
    }

    /// The application state that the functions share.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// The AWS services behind the functions.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Accepts no more requests and starts no more functions, waits at most two seconds for those in progress, then
    /// stops the back end.
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

/// The template's functions by their logical ids, run in this process, each on the application that `app_of` gives for its id.
pub fn functions(app_of: impl Fn(&str) -> App) -> HashMap<String, Function> {
    let over_http = services().map(|(name, make_service)| {
        let id = logical_id(name);
        let service = make_service(app_of(&id));
        (id, in_process(service))
    });
    let started_by_events = [
        started_by_event("OutboxFunction", &app_of, async |app: App, event| {
            outbox::handle(&app, event).await
        }),
        started_by_event("WebhookSenderFunction", &app_of, async |app: App, event| {
            webhook_sender::handle(&app, event).await
        }),
        started_by_event("DeadlineExpiryFunction", &app_of, async |app: App, event| {
            deadline_expiry::handle(&app, event).await
        }),
        started_by_event("RetentionFunction", &app_of, async |app: App, event| {
            retention::handle(&app, event).await
        }),
        started_by_event("ExportWriterFunction", &app_of, async |app: App, event| {
            export_writer::handle(&app, event).await
        }),
        started_by_event("PlatformEventsFunction", &app_of, async |app: App, event| {
            platform_events::process(&app, event).await
        }),
        started_by_event("UploadsFunction", &app_of, async |app: App, event| {
            uploads::process(&app, event).await
        }),
        started_by_event("VideoConversionFunction", &app_of, async |app: App, event| {
            video_conversion::process(&app, event).await
        }),
    ];
    over_http.into_iter().chain(started_by_events).collect()
}

fn started_by_event<E, A, F>(
    id: &str,
    app_of: &impl Fn(&str) -> App,
    handle: impl Fn(App, E) -> F + Clone + Send + Sync + 'static,
) -> (String, Function)
where
    E: DeserializeOwned + Send,
    A: Serialize,
    F: Future<Output = shared::Result<A>> + Send + 'static,
{
    (id.to_owned(), in_process_event(&app_of(id), handle))
}

/// The functions that answer HTTP requests.
fn services() -> [(&'static str, MakeService); 12] {
    [
        ("auth", auth::service),
        ("companies", companies::service),
        ("customers", customers::service),
        ("projects", projects::service),
        ("candidates", candidates::service),
        ("videos", videos::service),
        ("evaluations", evaluations::service),
        ("interviews", interviews::service),
        ("events", events::service),
        ("search", search::service),
        ("docs", docs::service),
        ("page", page::service),
    ]
}

/// The route table of a group, for a reader `R` of it.
pub(crate) type RouteTable<R> = fn(R) -> R;

/// The function of each group of the API's routes, and the group's route table.
pub fn groups<R: RouteReader>() -> [(&'static str, RouteTable<R>); 11] {
    [
        ("auth", auth::routes),
        ("companies", companies::routes),
        ("customers", customers::routes),
        ("projects", projects::routes),
        ("candidates", candidates::routes),
        ("videos", videos::routes),
        ("evaluations", evaluations::routes),
        ("interviews", interviews::routes),
        ("events", events::routes),
        ("search", search::routes),
        ("docs", docs::routes),
    ]
}

/// The function's logical id in the template: `AuthFunction` for `auth`.
fn logical_id(function: &str) -> String {
    let (initial, rest) = function.split_at(1);
    format!("{}{rest}Function", initial.to_uppercase())
}

async fn listen(address: IpAddr, port: u16) -> Result<TcpListener, Error> {
    TcpListener::bind((address, port)).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Error::new(format!("port {port} is taken; choose another with --port")),
        _ => Error::because(format!("cannot listen on {address}, port {port}"))(error),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;
    use shared::http::serve::mounts::{LINK_ROOTS, MOUNTS, PAGE_ROOTS, ROOT_FUNCTION, WELL_KNOWN_FILES};

    use super::*;
    use crate::RouteKey;
    use crate::template::{RouteTarget, RuleTrigger};

    #[test]
    fn the_template_routes_every_mount_to_its_function_and_nothing_else() {
        let mounted = MOUNTS.iter().flat_map(|(group, roots)| {
            let function = logical_id(group);
            roots.iter().flat_map(move |root| {
                let key = format!("ANY /api/v3{root}");
                ["", "/", "/{proxy+}"].map(|end| (format!("{key}{end}"), function.clone()))
            })
        });
        let pages = PAGE_ROOTS.iter().map(|root| (format!("ANY {root}/{{proxy+}}"), logical_id("page")));
        let links = LINK_ROOTS
            .iter()
            .flat_map(|root| ["", "/"].map(|end| (format!("ANY {root}{end}"), logical_id("page"))));
        let files = WELL_KNOWN_FILES.iter().map(|path| (format!("ANY {path}"), logical_id("page")));
        let root = ["", "/"].map(|end| (format!("ANY /api/v3{end}"), logical_id(ROOT_FUNCTION)));
        let default = [("$default".to_owned(), "AuthFunction".to_owned())];
        let expected: BTreeSet<_> =
            mounted.chain(pages).chain(links).chain(files).chain(root).chain(default).collect();
        let template = Template::of_workspace().unwrap();
        let routes = [template.routes().unwrap(), template.slash_routes().unwrap()].concat();
        let routes: BTreeSet<_> = routes.into_iter().map(|route| (route.route_key, route.function)).collect();
        assert_eq!(routes, expected);
    }

    /// AWS does not say whether `/x/{proxy+}` takes `/x/`. Where it does not, the request goes to a function that redirects it
    /// (308), unless the parameter `SlashRoutes` adds a route.
    #[test]
    fn a_gateway_whose_greedy_routes_do_not_take_the_final_slash_needs_the_slash_routes() {
        let function_of = |routes: &[RouteTarget], path: &str| {
            let matching = routes.iter().filter_map(|route| {
                let key = RouteKey::parse(&route.route_key).unwrap();
                let parameters = key.parameters("GET", path)?;
                parameters.values().all(|value| *value != "").then_some((key.rank(), route))
            });
            matching.max_by(|one, other| one.0.cmp(&other.0)).unwrap().1.function.clone()
        };
        let template = Template::of_workspace().unwrap();
        let routes = template.routes().unwrap();
        let with_slash = [routes.clone(), template.slash_routes().unwrap()].concat();
        for (group, roots) in MOUNTS {
            for root in *roots {
                let path = format!("/api/v3{root}/");
                assert_eq!(function_of(&with_slash, &path), logical_id(group), "{path}");
                // `auth` has the $default route, and so serves its own.
                let is_lost = function_of(&routes, &path) != logical_id(group);
                assert_eq!(is_lost, *group != "auth", "{path}");
            }
        }
    }

    #[test]
    fn links_reach_the_page_with_and_without_a_final_slash() {
        let routes = Template::of_workspace().unwrap().routes().unwrap();
        let keys: Vec<_> = routes.iter().map(|route| RouteKey::parse(&route.route_key).unwrap()).collect();
        for path in [
            "/register/k",
            "/interview/acme/k",
            "/interview/acme",
            "/reset-password/k",
            "/activate/k",
            "/review/k",
        ] {
            for path in [path.to_owned(), format!("{path}/")] {
                let matching =
                    keys.iter().filter_map(|key| Some((key.rank(), key.parameters("GET", &path)?)));
                let (_, parameters) = matching.max_by_key(|(rank, _)| rank.clone()).unwrap();
                // Every gateway lets a greedy parameter match this: it does not begin with the final slash.
                assert_eq!(parameters["proxy"], path.splitn(3, '/').last().unwrap(), "{path}");
            }
        }
    }

    #[test]
    fn the_template_starts_functions_by_stream_schedule_and_rule() {
        let triggers = Template::of_workspace().unwrap().triggers().unwrap();
        let streams: Vec<_> = triggers.streams.iter().map(|stream| stream.function.as_str()).collect();
        let schedules: Vec<_> =
            triggers.schedules.iter().map(|schedule| schedule.function.as_str()).collect();
        let rules: Vec<_> = triggers.rules.iter().map(|rule| rule.function.as_str()).collect();
        assert_eq!(streams, ["OutboxFunction", "WebhookSenderFunction"]);
        assert_eq!(
            schedules,
            [
                "DeadlineExpiryFunction",
                "ExportWriterFunction",
                "OutboxFunction",
                "RetentionFunction",
                "WebhookSenderFunction"
            ]
        );
        assert_eq!(
            rules,
            [
                "PlatformEventsFunction",
                "PlatformEventsFunction",
                "UploadsFunction",
                "VideoConversionFunction"
            ]
        );

        let inserted = |pk: &str| json!({ "eventName": "INSERT", "dynamodb": { "Keys": { "pk": { "S": pk }, "sk": { "S": "EFFECT" } } } });
        let filter = &triggers.streams[0].filters[0];
        assert!(filter.matches(&inserted("EFFECT#1")) && !filter.matches(&inserted("COMPANY#a")));
        let written = |sk: &str| json!({ "dynamodb": { "Keys": { "pk": { "S": "x" }, "sk": { "S": sk } } } });
        let wakes = |sk: &str| triggers.streams[1].filters.iter().any(|filter| filter.matches(&written(sk)));
        assert_eq!(["SEQUENCE", "CURSOR", "EFFECT", "TALLY"].map(wakes), [true, true, false, false]);
        for kind in ["interview.completed", "interview.aborted", "evaluation.recorded"] {
            let event = json!({ "source": "interview.platform", "detail-type": kind });
            assert!(triggers.rules.iter().any(|rule| rule.pattern.matches(&event)), "{kind}");
        }
        let put = |bucket: &str, key: &str| {
            let detail = json!({ "bucket": { "name": bucket }, "object": { "key": key } });
            json!({ "source": "aws.s3", "detail-type": "Object Created", "detail": detail })
        };
        let uploads = |rule: &&RuleTrigger| rule.function == "UploadsFunction";
        let pattern = &triggers.rules.iter().find(uploads).unwrap().pattern;
        assert!(pattern.matches(&put("MediaBucket", "uploads/files/1")));
        assert!(!pattern.matches(&put("Other", "uploads/files/1")));
        assert!(!pattern.matches(&put("MediaBucket", "media/acme/1")));
    }
}
