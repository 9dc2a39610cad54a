//! Access to what a company's login page shows to people who have not logged in.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Serialize;

use crate::app::App;
use crate::auth::access::{AdmissionRejection, UnauthenticatedRequest};
use crate::auth::{AdmissionRule, HasAdmission};
use crate::config::Config;
use crate::domain::company::Company;
use crate::domain::staff::sign_in::SignInSettings;
use crate::error::{Error, Result};
use crate::http::RequestConditions;
use crate::http::exchange::respond::CommittedResponse;
use crate::http::exchange::state::RequestState;
use crate::http::reference::ReferenceUris;
use crate::store::VersionedItem;

/// How long clients and caches may keep the response: changes appear after at most a minute.
const CACHE: &str = "public, max-age=60";

/// Admits every request for the company in the path, as its login page shows it, and for its sign-in settings. Gives no access to
/// anything else.
pub struct CompanyLogin {
    pub company: VersionedItem<Company>,
    /// How the company's staff sign in by their provider.
    pub sign_in_settings: VersionedItem<SignInSettings>,
    conditions: RequestConditions,
    app: App,
}

impl HasAdmission for CompanyLogin {
    const ADMISSION: AdmissionRule = AdmissionRule::Anyone;
}

impl FromRequestParts<App> for CompanyLogin {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let conditions = RequestConditions::of(parts).unwrap_or_default();
        let store = RequestState::of(&parts.extensions).store(app);
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let id = request.path.company_id().map_err(|_| Error::NotFound)?;
        let (company, sign_in_settings) = store.company_login(&id).await?.ok_or(Error::NotFound)?;
        Ok(Self { company, sign_in_settings, conditions, app: app.clone() })
    }
}

impl CompanyLogin {
    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// Makes the URLs of resources.
    pub fn references(&self) -> ReferenceUris<'_> {
        ReferenceUris::new(self.app.config())
    }

    /// Responds with the `view`, or with 304 if the client has it. Anyone may cache the response.
    pub fn show<V: Serialize>(&self, view: &V) -> Result<CommittedResponse<Json<V>>> {
        self.conditions.show_to_all(view, CACHE)
    }
}
