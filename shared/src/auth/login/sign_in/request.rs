//! The parameters of a sign-in's requests, as browsers send them.

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

/// The maximum length in bytes of `return_to`: it is in a cookie, which browsers limit to 4 KB.
pub const MAX_RETURN: usize = 1000;

/// The authorization response (RFC 6749 §4.1.2): the parameters with which the provider has redirected the browser back.
#[derive(Debug, Default)]
pub struct AuthorizationResponse {
    pub state: String,
    /// `None` if the provider has refused or has repeated a parameter.
    pub code: Option<String>,
    /// The issuer of the response (RFC 9207).
    pub issuer: Option<String>,
}

impl FromRequestParts<App> for AuthorizationResponse {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let sent = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let sent: Vec<_> = sent.into_owned().collect();
        let values = |name| sent.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.clone());
        let state = values("state").next().unwrap_or_default();
        // RFC 6749 forbids repeated parameters, of which two programs might take different values. Other parameters are
        // the provider's own.
        if ["state", "code", "iss"].iter().any(|name| values(name).count() > 1) {
            return Ok(Self { state, ..Self::default() });
        }
        Ok(Self { state, code: values("code").next(), issuer: values("iss").next() })
    }
}

/// Admits every request of a sign-in to the company in the path.
pub struct SignInRequest {
    pub access: PublicAccess,
    /// `None` if the path contains no valid identifier. The company need not exist.
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
    /// Whether the caller accepts JSON but not HTML: a program instead of a browser.
    pub fn accepts_json_alone(&self) -> bool {
        let accepts = self.parts.headers.get_all(header::ACCEPT).into_iter();
        let accepts: Vec<&str> = accepts.filter_map(|value| value.to_str().ok()).collect();
        let names = |media_type: &str| accepts.iter().any(|accept| accept.contains(media_type));
        names("application/json") && !names("text/html")
    }

    /// Parses `return_to`: a path of the pages, or a URL whose origin is that of the pages, that of the API or a configured one.
    /// The error is the message for the client.
    pub fn parse_return_address(&self, text: &str) -> Result<String, String> {
        let Config { base_url, suite_url, allowed_origins, .. } = self.app.config();
        // Like browsers, the parser reads `//host` and `/\host` as URLs of other origins.
        let url = suite_url.join(text).map_err(|_| "Enter a path or a URL.")?;
        let origin = url.origin().ascii_serialization();
        let own = [base_url, suite_url].map(|url| url.origin().ascii_serialization());
        let is_known = own.contains(&origin) || allowed_origins.contains(&origin);
        // Other schemes may have the origin of a URL within them, such as `blob:`.
        let is_page = matches!(url.scheme(), "http" | "https");
        // Such a URL would begin another sign-in, perhaps to another company.
        let begins_sign_in =
            own.contains(&origin) && url.path().split('/').any(|segment| segment == "sign-in");
        // In the cookie, JSON escapes each backslash with a second byte, and four cookies must leave room for the browser's
        // other headers.
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
