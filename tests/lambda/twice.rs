//! The service twice on one table: as the real binaries behind the gateway, and in this process behind the gateway.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Method, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use embedded::{Backend, Gateway, Storage, Template};
use serde_json::{Value, json};
use shared::app::App;
use shared::clock::{SystemClock, SystemEntropy};
use shared::config::Config;
use tests::binaries;
use tests::function::{Function, http_event};
use tests::runtime_api::FunctionError;
use tokio::process::Command;
use tokio::sync::Mutex;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, service_fn};

const BASE_URL: &str = "https://hr.example/api/v3";
const TABLE: &str = "lambda-suite-table";
/// Headers that differ between any two answers.
const OF_ONE_ANSWER: [&str; 2] = ["apigw-requestid", "x-request-id"];

type Process = Arc<Mutex<Function>>;

/// The service, with a company `acme` that has an owner.
pub(crate) struct Twice {
    real: Gateway,
    in_process: Gateway,
    processes: BTreeMap<&'static str, Process>,
    _backend: Backend,
}

/// The functions behind the gateway, by their names in the template and their binaries.
pub(crate) const OVER_HTTP: [(&str, &str); 12] = [
    ("AuthFunction", "auth"),
    ("CompaniesFunction", "companies"),
    ("CustomersFunction", "customers"),
    ("ProjectsFunction", "projects"),
    ("CandidatesFunction", "candidates"),
    ("EvaluationsFunction", "evaluations"),
    ("InterviewsFunction", "interviews"),
    ("EventsFunction", "events"),
    ("SearchFunction", "search"),
    ("DocsFunction", "docs"),
    ("PageFunction", "page"),
    ("VideosFunction", "videos"),
];
/// The functions that events start.
pub(crate) const BY_EVENTS: [&str; 8] = [
    "admin",
    "outbox",
    "webhook-sender",
    "deadline-expiry",
    "retention",
    "platform-events",
    "uploads",
    "video-conversion",
];

impl Twice {
    pub(crate) const PASSWORD: &str = "correct horse battery";

    pub(crate) async fn start() -> Self {
        let backend = Backend::start(&Storage::Memory).unwrap();
        backend.create_table(TABLE).unwrap();
        let variables = backend.environment(BASE_URL, TABLE);
        let binaries = binaries::of_workspace();
        let mut processes = BTreeMap::new();
        for name in OVER_HTTP.map(|(_, name)| name).into_iter().chain(BY_EVENTS) {
            let mut function = Function::start(Command::new(&binaries[name]), &variables).await.unwrap();
            function.ready().await.unwrap();
            processes.insert(name, Arc::new(Mutex::new(function)));
        }
        let create = json!({
            "command": "create-company",
            "company": "acme",
            "name": "Acme",
            "owner": {
                "first_name": "Olive",
                "last_name": "Owner",
                "email": "owner@acme.example",
                "username": "owner",
                "password": Self::PASSWORD,
            },
        });
        processes["admin"].lock().await.invoke(&create).await.unwrap();

        let real = OVER_HTTP.map(|(function, name)| (function.to_owned(), lambda(&processes[name])));
        let real = HashMap::from(real);
        let config = Config::from_variables(|name| variables.get(name).cloned()).unwrap();
        let app = App::new(config, Arc::new(SystemClock), Arc::new(SystemEntropy));
        let template = Template::of_workspace().unwrap();
        Self {
            real: Gateway::new(template, &real, &[]).unwrap(),
            in_process: Gateway::new(template, &embedded::functions(|_| app.clone()), &[]).unwrap(),
            processes,
            _backend: backend,
        }
    }

    pub(crate) fn login() -> Value {
        json!({ "username": "owner", "password": Self::PASSWORD, "company": "acme" })
    }

    /// A token of the owner.
    pub(crate) async fn token(&self) -> String {
        let answer = self.real(Request::new(Method::POST, "/api-token-auth/").json(&Self::login())).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        answer.json()["token"].as_str().unwrap().to_owned()
    }

    /// The real binaries' answer.
    pub(crate) async fn real(&self, request: Request) -> Answer {
        call(&self.real, request).await
    }

    /// The answer that both give.
    pub(crate) async fn same(&self, request: Request) -> Answer {
        let in_process = call(&self.in_process, request.clone()).await;
        let real = call(&self.real, request.clone()).await;
        assert_eq!(real, in_process, "{request:?}");
        real
    }

    /// The answer of the real `auth` to a whole event.
    pub(crate) async fn auth(&self, event: &Value) -> Value {
        self.invoke("auth", event).await.unwrap()
    }

    /// Invokes the real function with a whole event.
    pub(crate) async fn invoke(&self, name: &str, event: &Value) -> Result<Value, FunctionError> {
        self.processes[name].lock().await.invoke(event).await
    }

    /// The most memory that a real function has had at once, in megabytes.
    pub(crate) async fn peak_megabytes(&self, name: &str) -> u64 {
        self.processes[name].lock().await.peak_kilobytes() / 1024
    }

    /// A reference as a path below the base URL.
    pub(crate) fn path_of(&self, reference: &Value) -> String {
        let path = reference.as_str().and_then(|reference| reference.strip_prefix(BASE_URL));
        path.unwrap_or_else(|| panic!("not a reference of this API: {reference}")).to_owned()
    }
}

fn lambda(process: &Process) -> embedded::Function {
    let process = process.clone();
    BoxCloneSyncService::new(service_fn(move |event: String| {
        let process = process.clone();
        async move {
            let event = serde_json::from_str(&event)?;
            let answer = process.lock().await.invoke(&event).await?;
            Ok::<_, BoxError>(answer.to_string())
        }
    }))
}

async fn call(gateway: &Gateway, request: Request) -> Answer {
    let mut http = axum::http::Request::builder().method(request.method).uri(request.uri);
    for (name, value) in &request.headers {
        http = http.header(name, value);
    }
    let (head, body) = gateway.call(http.body(Body::from(request.body)).unwrap()).await.into_parts();
    let headers = head.headers.iter().filter(|(name, _)| !OF_ONE_ANSWER.contains(&name.as_str()));
    Answer {
        status: head.status,
        headers: headers
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect(),
        body: String::from_utf8_lossy(&to_bytes(body, usize::MAX).await.unwrap()).into_owned(),
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    method: Method,
    uri: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(method: Method, path: &str) -> Self {
        Self::beside_the_api(method, &format!("/api/v3{path}"))
    }

    pub(crate) fn beside_the_api(method: Method, path: &str) -> Self {
        let headers = vec![("host".to_owned(), "hr.example".to_owned())];
        Self { method, uri: path.to_owned(), headers, body: Vec::new() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Token {token}"))
    }

    pub(crate) fn body(mut self, content_type: &str, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.header("content-type", content_type)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string().as_bytes())
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// An event of the `$default` route, as no gateway here would make it.
pub(crate) fn event(method: &str, path: &str, body: &str, base64: bool) -> Value {
    let mut event =
        http_event(method, path, json!({ "content-type": "application/json", "host": "hr.example" }));
    event["body"] = if base64 { STANDARD.encode(body) } else { body.to_owned() }.into();
    event["isBase64Encoded"] = base64.into();
    event
}
