//! Access to a company's legal texts, which candidates read before they have a credential.

use std::collections::HashMap;

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Serialize;

use crate::app::App;
use crate::auth::access::{AdmissionRejection, UnauthenticatedRequest};
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::company::Company;
use crate::domain::id::CompanyId;
use crate::domain::privacy::legal::{LegalRegister, LegalText, LegalTextId};
use crate::error::{Error, Result};
use crate::http::RequestConditions;
use crate::http::exchange::respond::CommittedResponse;
use crate::http::exchange::state::RequestState;
use crate::http::reference::ReferenceUris;
use crate::store::{Store, keys};

/// How long clients and caches may keep a text.
// A text never changes, except after a restore of the table: then a new version may get the number of a lost one, and
// clients may show the lost text for an hour.
const CACHE: &str = "public, max-age=3600";

/// Admits every request for the legal texts of the company in the path. Gives no access to anything else.
// A company that does not exist must look like one that has published nothing.
pub struct PublishedTexts {
    /// `None` if the path contains no valid identifier of a company.
    company: Option<CompanyId>,
    /// The text that the path names; `None` for a list.
    named: Option<LegalTextId>,
    /// The company's register of texts, for a list; `None` unless the caller belongs to the company.
    register: Option<LegalRegister>,
    conditions: RequestConditions,
    store: Store,
    app: App,
}

impl HasAdmission for PublishedTexts {
    const ADMISSION: AdmissionRule = AdmissionRule::Anyone;
}

impl FromRequestParts<App> for PublishedTexts {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let conditions = RequestConditions::of(parts).unwrap_or_default();
        let store = RequestState::of(&parts.extensions).store(app);
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let company = request.path.company_id().ok();
        let named = request.path.id("documentId").ok();
        // Only the list depends on the caller: a text is the same for everyone.
        let is_list = request.path.text("documentId").is_none();
        let register = if is_list { register_of_member(request).await? } else { None };
        Ok(Self { company, named, register, conditions, store, app: app.clone() })
    }
}

/// Reads the register of the company in the path; `None` unless the request has a valid credential of that company.
async fn register_of_member(request: UnauthenticatedRequest<'_>) -> Result<Option<LegalRegister>> {
    let Ok(company) = request.path.company_id() else { return Ok(None) };
    let key = keys::company(&company);
    match request.authenticate(vec![key.clone()], PublishedTexts::ADMISSION).await {
        Ok(mut member) => {
            let company = member.batch.take::<Company>(&key)?;
            Ok(company.map(|company| Company::clone(&company).legal))
        }
        // A wrong credential counts as none, because everyone may read these texts.
        Err(Error::Unauthenticated(_) | Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

impl PublishedTexts {
    /// Makes the URLs of the texts.
    pub fn references(&self) -> ReferenceUris<'_> {
        ReferenceUris::new(self.app.config())
    }

    /// The versions that the caller may list: all, or with `only_current` the current ones. Callers outside the company
    /// always get only the current ones.
    // Texts are long and versions many, so a caller without a credential must not make the service read them all.
    pub async fn listed(&self, only_current: bool) -> Result<Vec<LegalTextId>> {
        match (&self.register, &self.company) {
            (Some(register), _) => Ok(register.texts(only_current)),
            (None, Some(company)) => Ok(self.store.legal_register(company).await?.texts(true)),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// Reads the company's texts with these identifiers. Omits those that do not exist.
    pub async fn texts(&self, ids: &[LegalTextId]) -> Result<HashMap<LegalTextId, LegalText>> {
        match &self.company {
            Some(company) => self.store.legal_texts(company, ids).await,
            None => Ok(HashMap::new()),
        }
    }

    /// Reads the text that the path names. Fails with [`Error::NotFound`] if it does not exist.
    pub async fn text(&self) -> Result<LegalText> {
        let id = self.named.ok_or(Error::NotFound)?;
        self.texts(&[id]).await?.remove(&id).ok_or(Error::NotFound)
    }

    /// Responds with the `view` of a text, or with 304 if the client has it. Anyone may cache the response.
    pub fn show<V: Serialize>(&self, view: &V) -> Result<CommittedResponse<Json<V>>> {
        self.conditions.show_to_all(view, CACHE)
    }
}
