//! The requests of a sign-in, as browsers send them.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::header;
use axum::http::request::Parts;
use url::form_urlencoded;

use crate::app::App;
use crate::auth::admission::{AdmissionRule, HasAdmission};
use crate::auth::login::PublicAccess;
use crate::config::Config;
use crate::domain::id::CompanyId;

/// The most bytes of the address to go on to: browsers keep cookies of 4 KB.
pub const MAX_RETURN: usize = 1000;

/// The authorization response (RFC 6749 §4.1.2): the parameters with which the provider has sent a browser back.
#[derive(Debug, Default)]
pub struct AuthorizationResponse {
    pub state: String,
    /// `None` if the provider has refused, or has repeated a parameter.
    pub code: Option<String>,
    /// The issuer that has answered (RFC 9207).
    pub issuer: Option<String>,
}

impl FromRequestParts<App> for AuthorizationResponse {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let sent = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let sent: Vec<_> = sent.into_owned().collect();
        let values = |name| sent.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.clone());
        let state = values("state").next().unwrap_or_default();
        // RFC 6749 forbids it, and two readers may take two values. Other parameters are the provider's own.
        if ["state", "code", "iss"].iter().any(|name| values(name).count() > 1) {
            return Ok(Self { state, ..Self::default() });
        }
        Ok(Self { state, code: values("code").next(), issuer: values("iss").next() })
    }
}

/// Any request of a sign-in to the company in the path.
pub struct SignInRequest {
    pub access: PublicAccess,
    /// `None` if the path holds no well-formed identifier; the company may not exist.
    pub company: Option<CompanyId>,
}

impl HasAdmission for SignInRequest {
    const ADMISSION: AdmissionRule = AdmissionRule::Anyone;
}

impl FromRequestParts<App> for SignInRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let path = RawPathParams::from_request_parts(parts, app).await.ok();
        let named = path.iter().flatten().find(|(name, _)| *name == "companyId");
        let company = named.and_then(|(_, text)| text.parse().ok());
        let access = PublicAccess::from_request_parts(parts, app).await?;
        Ok(Self { access, company })
    }
}

impl PublicAccess {
    /// Whether the caller is a program that reads errors, not a browser that shows pages.
    pub fn accepts_json_alone(&self) -> bool {
        let accepts = self.parts.headers.get_all(header::ACCEPT).into_iter();
        let accepts: Vec<&str> = accepts.filter_map(|value| value.to_str().ok()).collect();
        let names = |media_type: &str| accepts.iter().any(|accept| accept.contains(media_type));
        names("application/json") && !names("text/html")
    }

    /// Parses the address to go on to after a sign-in: a path of the pages, or a URL of their, of the API's or of a configured origin.
    /// Fails with what is wrong.
    pub fn parse_return_address(&self, text: &str) -> Result<String, String> {
        let Config { base_url, suite_url, allowed_origins, .. } = self.app.config();
        // The parser takes `//host` and `/\host` for other origins, as browsers do.
        let url = suite_url.join(text).map_err(|_| "Enter a path or a URL.")?;
        let origin = url.origin().ascii_serialization();
        let own = [base_url, suite_url].map(|url| url.origin().ascii_serialization());
        let is_known = own.contains(&origin) || allowed_origins.contains(&origin);
        // A URL of another scheme may have the origin of one within it.
        let is_page = matches!(url.scheme(), "http" | "https");
        // Such an address would begin another sign-in, perhaps to another company.
        let begins_sign_in =
            own.contains(&origin) && url.path().split('/').any(|segment| segment == "sign-in");
        // JSON makes two bytes of each in the cookie, and four cookies must leave room for the other headers of the browser.
        let has_backslash = url.as_str().contains('\\');
        let has_user = !url.username().is_empty() || url.password().is_some();
        if !is_known || !is_page || begins_sign_in || has_backslash || has_user {
            return Err("Use a path that begins with a slash, or a URL of an allowed origin.".to_owned());
        }
        if url.as_str().len() > MAX_RETURN {
            return Err(format!("Ensure this has no more than {MAX_RETURN} characters."));
        }
        Ok(url.into())
    }
}
