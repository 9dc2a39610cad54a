//! A local issuer of identities, with a mode for each failure of a platform's issuer.

mod key;
mod provider;
mod shape;

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use url::form_urlencoded;

pub use key::{SigningAlgorithm, SigningKey};
pub use provider::{AuthorizationRequest, CLIENT, CLIENT_SECRET, TokenMode};
pub use shape::Platform;

use provider::IssuedCode;

/// The path of the discovery document.
const CONFIGURATION: &str = "/.well-known/openid-configuration";
/// The path of the token endpoint.
const TOKEN: &str = "/token";

/// How an issuer responds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IssuerMode {
    Works,
    /// Responds with a server error.
    Fails,
    /// Accepts connections and never responds.
    Hangs,
    /// Sends the head of a response, then the body byte by byte without end.
    Drips,
    /// The discovery document names another issuer.
    CallsItself(String),
    /// Responds with ten megabytes.
    Floods,
    /// Redirects to this URL.
    RedirectsTo(String),
    /// The discovery document names this URL for the keys.
    KeysAt(String),
    /// Responds with an HTML page instead of JSON.
    Page,
    /// Responds that the paths do not exist.
    Missing,
}

struct IssuerState {
    url: String,
    keys: Vec<Value>,
    mode: IssuerMode,
    token_mode: TokenMode,
    /// Members that are added to or replaced in the discovery document; null removes a member.
    configured: Value,
    codes: HashMap<String, IssuedCode>,
    requests: usize,
    token_requests: usize,
}

/// An issuer, which ends with the test.
pub struct TestIssuer {
    /// The `iss` of its tokens.
    pub url: String,
    state: Arc<Mutex<IssuerState>>,
    _server: JoinSet<()>,
}

impl TestIssuer {
    /// Starts an issuer that publishes these keys.
    pub async fn start(keys: &[&SigningKey]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = IssuerState {
            url: url.clone(),
            keys: Vec::new(),
            mode: IssuerMode::Works,
            token_mode: TokenMode::Works,
            configured: json!({}),
            codes: HashMap::new(),
            requests: 0,
            token_requests: 0,
        };
        let state = Arc::new(Mutex::new(state));
        let mut server = JoinSet::new();
        let router = Router::new().fallback(answer).with_state(state.clone());
        server.spawn(async { axum::serve(listener, router).await.expect("the issuer serves") });
        let issuer = Self { url, state, _server: server };
        issuer.publish(keys);
        issuer
    }

    /// Publishes only these keys from now on.
    pub fn publish(&self, keys: &[&SigningKey]) {
        self.publish_set(keys.iter().map(|key| key.jwk()).collect());
    }

    /// Publishes only these JWKs from now on.
    pub fn publish_set(&self, keys: Vec<Value>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).keys = keys;
    }

    /// Sets how the issuer responds from now on.
    pub fn set_mode(&self, mode: IssuerMode) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).mode = mode;
    }

    /// Sets how the token endpoint responds from now on.
    pub fn set_token_mode(&self, mode: TokenMode) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).token_mode = mode;
    }

    /// Sets members that are added to or replaced in the discovery document; null removes a member.
    pub fn configure(&self, members: Value) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).configured = members;
    }

    /// Issues a code that can be redeemed once for `id_token`, with the code verifier of `request`.
    pub fn issue_code(&self, request: &AuthorizationRequest, id_token: String) -> String {
        let AuthorizationRequest { challenge, redirect_uri, .. } = request.clone();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let code = format!("code-{}-{}", state.codes.len(), request.nonce);
        state.codes.insert(code.clone(), IssuedCode { challenge, redirect_uri, id_token });
        code
    }

    /// The number of requests to the token endpoint so far.
    pub fn token_requests(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).token_requests
    }

    /// The number of requests so far.
    pub fn requests(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).requests
    }
}

async fn answer(State(state): State<Arc<Mutex<IssuerState>>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let (url, keys, mode, configured) = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests += usize::from(path != TOKEN);
        state.token_requests += usize::from(path == TOKEN);
        (state.url.clone(), state.keys.clone(), state.mode.clone(), state.configured.clone())
    };
    if path == TOKEN {
        return redeem(&state, request).await;
    }
    let is_configuration = path == CONFIGURATION;
    let configuration = |issuer: &str, keys: &str| {
        let mut members = json!({
            "issuer": issuer, "jwks_uri": keys,
            "authorization_endpoint": format!("{url}/authorize?tenant=acme"), "token_endpoint": format!("{url}{TOKEN}"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["plain", "S256"],
        });
        for (name, value) in configured.as_object().into_iter().flatten() {
            match value {
                Value::Null => drop(members.as_object_mut().map(|all| all.remove(name))),
                value => members[name] = value.clone(),
            }
        }
        members.to_string()
    };
    match mode {
        IssuerMode::Fails => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        IssuerMode::Hangs => std::future::pending().await,
        IssuerMode::Drips => {
            let drops = futures_util::stream::unfold((), |()| async {
                tokio::task::yield_now().await;
                #[expect(clippy::disallowed_methods, reason = "an issuer that sends slowly")]
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                Some((Ok::<_, std::convert::Infallible>(" "), ()))
            });
            Body::from_stream(drops).into_response()
        }
        IssuerMode::Floods => " ".repeat(10 * 1024 * 1024).into_response(),
        IssuerMode::RedirectsTo(place) => (StatusCode::FOUND, [(header::LOCATION, place)]).into_response(),
        IssuerMode::Page => "<html></html>".into_response(),
        IssuerMode::Missing => StatusCode::NOT_FOUND.into_response(),
        IssuerMode::CallsItself(other) if is_configuration => {
            configuration(&other, &format!("{url}/keys")).into_response()
        }
        IssuerMode::KeysAt(place) if is_configuration => configuration(&url, &place).into_response(),
        _ if is_configuration => configuration(&url, &format!("{url}/keys")).into_response(),
        _ => json!({ "keys": keys }).to_string().into_response(),
    }
}

/// Handles a request to redeem a code.
async fn redeem(state: &Mutex<IssuerState>, request: Request) -> Response {
    let mode = state.lock().unwrap_or_else(PoisonError::into_inner).token_mode.clone();
    let authorization = request.headers().get(header::AUTHORIZATION);
    let authorization = authorization.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let body = axum::body::to_bytes(request.into_body(), 64 * 1024).await.expect("a form");
    let form: HashMap<String, String> = form_urlencoded::parse(&body).into_owned().collect();
    match mode {
        TokenMode::Hangs => std::future::pending().await,
        TokenMode::Floods => " ".repeat(10 * 1024 * 1024).into_response(),
        TokenMode::Fails => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        TokenMode::Page => "<html></html>".into_response(),
        TokenMode::RedirectsTo(place) => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, place)]).into_response()
        }
        TokenMode::Forbids => StatusCode::UNAUTHORIZED.into_response(),
        TokenMode::SendsNoIdToken => {
            json!({ "access_token": "unused", "token_type": "Bearer" }).to_string().into_response()
        }
        TokenMode::Sends(id_token) => json!({ "id_token": id_token }).to_string().into_response(),
        TokenMode::Works if !provider::is_client(authorization.as_deref(), &form) => {
            (StatusCode::UNAUTHORIZED, json!({ "error": "invalid_client" }).to_string()).into_response()
        }
        TokenMode::Works => {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            match provider::redeem(&mut state.codes, &form) {
                Ok(tokens) => tokens.to_string().into_response(),
                Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
            }
        }
    }
}
