//! How a test issuer signs people in: the authorisation endpoint redirects the browser back with a code, which the
//! token endpoint redeems once.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

/// The service's client identifier at the issuer.
pub const CLIENT: &str = "interviews";
/// The client secret, with characters that forms escape.
pub const CLIENT_SECRET: &str = "a+secret/of=the:client";

/// How the token endpoint responds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenMode {
    Works,
    /// Accepts the connection and never responds.
    Hangs,
    /// Responds with ten megabytes.
    Floods,
    /// Responds with a server error.
    Fails,
    /// Responds with an HTML page instead of JSON.
    Page,
    /// Redirects to this URL.
    RedirectsTo(String),
    /// Refuses every request without a reason.
    Forbids,
    /// Responds with only an access token, whatever the code is.
    SendsNoIdToken,
    /// Responds with this ID token, whatever the code is.
    Sends(String),
}

/// A code that is not redeemed yet.
#[derive(Debug, Clone)]
pub(super) struct IssuedCode {
    pub(super) challenge: String,
    pub(super) redirect_uri: String,
    /// The ID token that the code is redeemed for.
    pub(super) id_token: String,
}

/// The request that brings a browser to the authorisation endpoint.
#[derive(Debug, Clone)]
pub struct AuthorizationRequest {
    pub state: String,
    pub nonce: String,
    pub redirect_uri: String,
    pub challenge: String,
    pub parameters: HashMap<String, String>,
}

impl AuthorizationRequest {
    /// Reads the authorisation URL that the service redirects a browser to.
    pub fn read(location: &str) -> Self {
        let url = Url::parse(location).expect("an address");
        let parameters: HashMap<String, String> = url.query_pairs().into_owned().collect();
        let of =
            |name: &str| parameters.get(name).cloned().unwrap_or_else(|| panic!("no {name}: {location}"));
        Self {
            state: of("state"),
            nonce: of("nonce"),
            redirect_uri: of("redirect_uri"),
            challenge: of("code_challenge"),
            parameters: parameters.clone(),
        }
    }
}

/// Whether a request authenticates as the client, by header or form.
pub(super) fn is_client(authorization: Option<&str>, form: &HashMap<String, String>) -> bool {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let basic = STANDARD.encode(format!("{}:{}", encoded(CLIENT), encoded(CLIENT_SECRET)));
    let by_form = form.get("client_id").is_some_and(|id| id == CLIENT)
        && form.get("client_secret").is_some_and(|secret| secret == CLIENT_SECRET);
    authorization == Some(&format!("Basic {basic}")) || by_form
}

/// The ID token for a code, or an error of RFC 6749.
pub(super) fn redeem(
    codes: &mut HashMap<String, IssuedCode>,
    form: &HashMap<String, String>,
) -> Result<Value, Value> {
    let of = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let issued = codes.remove(of("code"));
    let fits = |issued: &IssuedCode| {
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, of("code_verifier").as_bytes()));
        challenge == issued.challenge && issued.redirect_uri == of("redirect_uri")
    };
    match issued.filter(fits).filter(|_| of("grant_type") == "authorization_code") {
        Some(issued) => Ok(json!({
            "access_token": "unused", "token_type": "Bearer", "expires_in": 300, "id_token": issued.id_token,
        })),
        None => Err(json!({ "error": "invalid_grant" })),
    }
}
