//! The guard of one candidate.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{Beside, InProject, Request};
use crate::app::App;
use crate::auth::caller::Identity;
use crate::auth::policy::{Action, Grant, Standing};
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::id::{CandidateId, CompanyId};
use crate::error::{Error, Result};
use crate::store::{Batch, Key, Versioned, keys};

/// A caller who may do `G` with the candidate of the path.
pub struct OnCandidate<G> {
    /// The candidate.
    pub candidate: Versioned<Candidate>,
    inner: InProject<G>,
}

impl<G> Deref for OnCandidate<G> {
    type Target = InProject<G>;

    fn deref(&self) -> &InProject<G> {
        &self.inner
    }
}

impl<G: Grant> OnCandidate<G> {
    /// Admits the caller to the candidate of the path and reads what stands under `more` keys as well.
    pub(super) async fn admit(
        request: &Request<'_>,
        more: impl FnOnce(&CompanyId) -> Vec<Key>,
    ) -> Result<(Self, Batch)> {
        let id = request.id::<CandidateId>("candidateId");
        let keys = |company: &CompanyId, project| {
            Ok(more(company).into_iter().chain([keys::candidate(company, project, id?)]).collect())
        };
        let (inner, mut batch) = InProject::enter(request, keys).await?;
        let id = id.map_err(|_| Error::NotFound)?;
        let candidate = match &inner.caller.identity {
            // Read as the caller already.
            Identity::Candidate(own) if own.id == id && own.project == inner.project.id => Some(own.clone()),
            _ => batch.take(&keys::candidate(inner.company(), inner.project.id, id))?,
        };
        // Whoever may not know of the project is not told either whether it has such a candidate.
        let candidate = candidate.ok_or(Error::NotFound)?;
        let guard = Self { candidate, inner };
        guard.inner.allow(Action::ReadCandidate, &guard.standing())?;
        Ok((guard, batch))
    }

    /// What the caller is to the candidate.
    pub fn standing(&self) -> Standing {
        self.inner.caller.towards(&self.candidate, &self.inner.project)
    }
}

impl<G: Grant> FromRequestParts<App> for OnCandidate<G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let (guard, _) = Self::admit(&request, |_| Vec::new()).await?;
        guard.about(guard.candidate.revision())?;
        Ok(guard)
    }
}

impl<G: Grant> FromRequestParts<App> for Beside<OnCandidate<G>, Company> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let (guard, mut batch) = OnCandidate::admit(&request, |company| vec![keys::company(company)]).await?;
        guard.about(guard.candidate.revision())?;
        let company: Versioned<Company> =
            batch.take(&keys::company(guard.company()))?.ok_or(Error::NotFound)?;
        let company = Company::clone(&company);
        Ok(Self(guard, company))
    }
}
