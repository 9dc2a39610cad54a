//! Access to a company's logo, which mails show to readers without a credential.

use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

use crate::app::App;
use crate::auth::access::{AdmissionRejection, UnauthenticatedRequest};
use crate::auth::{AdmissionRule, HasAdmission};
use crate::error::{Error, Result};
use crate::http::exchange::state::RequestState;
use crate::http::{EntityTag, RequestConditions};

/// How long clients and caches may keep a logo.
// The URL does not change with the picture, so pages show the old picture for at most an hour.
const CACHE: &str = "public, max-age=3600";

/// Admits every request for the logo in the path. Gives no access to anything else.
// Mails are read for years, so the URL is not signed for a session. It identifies no reader and works until the company
// removes its logo or is erased. Its 80 random bits keep strangers from finding companies by guessing.
pub struct PublishedLogo {
    png: Vec<u8>,
    conditions: RequestConditions,
}

impl HasAdmission for PublishedLogo {
    const ADMISSION: AdmissionRule = AdmissionRule::Anyone;
}

impl FromRequestParts<App> for PublishedLogo {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let conditions = RequestConditions::of(parts).unwrap_or_default();
        let store = RequestState::of(&parts.extensions).store(app);
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let company = request.path.company_id().map_err(|_| Error::NotFound)?;
        let id = request.path.id("logoId").map_err(|_| Error::NotFound)?;
        let logo = store.logo(&company, id).await?.ok_or(Error::NotFound)?;
        let png = logo.to_png().ok_or_else(|| Error::internal("a logo that is not base64"))?;
        Ok(Self { png, conditions })
    }
}

impl PublishedLogo {
    /// Responds with the picture, or with 304 if the client has it.
    pub fn show(self) -> Result<Response> {
        let headers = [(CONTENT_TYPE, "image/png"), (CACHE_CONTROL, CACHE)];
        let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
        let tag = EntityTag::of(&self.png);
        self.conditions.answer(HeaderMap::from_iter(headers), self.png.into(), &tag)
    }
}
