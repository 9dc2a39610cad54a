//! The legal texts of a company, which candidates read before they have a credential.

use std::collections::HashMap;
use std::convert::Infallible;

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Serialize;

use super::request::PathIds;
use crate::app::App;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::company::Company;
use crate::domain::id::CompanyId;
use crate::domain::privacy::legal::{LegalRegister, LegalText, LegalTextId};
use crate::error::{Error, Result};
use crate::http::RequestConditions;
use crate::http::reference::ReferenceUris;
use crate::http::respond::CommittedResponse;
use crate::http::state::RequestState;
use crate::store::Store;

/// How long anyone may keep a text without asking again.
// A text never changes, but a restore of the table may take back a version, whose number another text then gets.
const CACHE_SHORTLY: &str = "public, max-age=60";

/// Any request about the legal texts of the company in the path. Gives no access to anything else.
// A company that does not exist looks like one that has published nothing.
pub struct PublishedTexts {
    /// `None` if no company can have the identifier in the path.
    company: Option<CompanyId>,
    /// The text in the path, if it names one.
    named: Option<LegalTextId>,
    conditions: RequestConditions,
    store: Store,
    app: App,
}

impl HasAdmission for PublishedTexts {
    const ADMISSION: AdmissionRule = AdmissionRule::Anyone;
}

impl FromRequestParts<App> for PublishedTexts {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let path = PathIds::of(parts, app).await.unwrap_or_default();
        Ok(Self {
            company: path.company_id().ok(),
            named: path.id("documentId").ok(),
            conditions: RequestConditions::of(parts).unwrap_or_default(),
            store: RequestState::of(&parts.extensions).store(app),
            app: app.clone(),
        })
    }
}

impl PublishedTexts {
    /// Makes the URLs of the texts.
    pub fn references(&self) -> ReferenceUris<'_> {
        ReferenceUris::new(self.app.config())
    }

    /// The versions that the company has published.
    pub async fn register(&self) -> Result<LegalRegister> {
        let Some(company) = &self.company else { return Ok(LegalRegister::default()) };
        let company = self.store.company(company).await?;
        Ok(company.map(|company| Company::clone(&company).legal).unwrap_or_default())
    }

    /// These texts of the company.
    pub async fn texts(&self, ids: &[LegalTextId]) -> Result<HashMap<LegalTextId, LegalText>> {
        match &self.company {
            Some(company) => self.store.legal_texts(company, ids).await,
            None => Ok(HashMap::new()),
        }
    }

    /// The text in the path.
    pub async fn text(&self) -> Result<LegalText> {
        let id = self.named.ok_or(Error::NotFound)?;
        self.texts(&[id]).await?.remove(&id).ok_or(Error::NotFound)
    }

    /// Responds with the `view` of a text, or with 304 if the client has it. Anyone may cache the response.
    pub fn show<V: Serialize>(&self, view: &V) -> Result<CommittedResponse<Json<V>>> {
        self.conditions.show_to_all(view, CACHE_SHORTLY)
    }
}
