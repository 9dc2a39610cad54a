//! The logo of a company, which mails show to readers without a credential.

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

/// How long anyone may keep a logo without asking again.
// The URL stays when the picture is replaced, so pages show the former one for an hour at most.
const CACHE: &str = "public, max-age=3600";

/// Any request for the logo with the URL in the path. Gives no access to anything else.
// Signed URLs end with a session, and a mail is read for years. This one names no reader, and ends when the company takes its
// logo away or is erased. It has 80 bits of chance, so no company can be found by its logo.
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
