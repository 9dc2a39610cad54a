//! A guard together with the page of a list, read at the same time so that the list costs one round trip.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{InProject, Request};
use crate::app::App;
use crate::auth::policy::Grant;
use crate::domain::candidate::{Candidate, CandidateStatus};
use crate::domain::choice;
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::tally::Tally;
use crate::error::{Error, Result};
use crate::http::page::ListQuery;
use crate::store::page::Page;
use crate::store::{Store, Versioned, shards};

/// A guard, and what was read beside it; nobody sees it whom the guard has not admitted.
pub struct Beside<G, P>(pub G, pub P);

/// A page of a project's candidates.
pub struct CandidatePage {
    /// What was asked for.
    pub query: ListQuery,
    /// The page.
    pub page: Page<Versioned<Candidate>>,
    /// How many rows the whole list has.
    pub total: u64,
}

impl<G: Grant> FromRequestParts<App> for Beside<InProject<G>, CandidatePage> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let wanted = Wanted::parse(parts.uri.query());
        let request = Request::new(parts, app).await?;
        let more = |company: &CompanyId, project| Ok(shards(company, project).collect());
        let admit = InProject::<G>::admit(&request, more);
        let ((guard, mut batch), early) = match (promising_project(&request), &wanted) {
            (Some((company, project)), Ok(wanted)) if !wanted.query.is_by_number() => {
                // The read ends with the admission when that fails, and its own failure waits for it.
                let read = wanted.read(&request.store, &company, project, &CandidateStatus::ALL);
                let (admitted, found) = tokio::try_join!(admit, async { Ok(read.await) })?;
                (admitted, Some(found))
            }
            _ => (admit.await?, None),
        };
        let wanted = wanted?;
        let tally: Tally = batch.take_tally(guard.company(), guard.project.id);
        let counted = wanted.count(&tally);
        if let Some(total) = counted {
            wanted.query.check_range(total)?;
        }
        let (page, total) = match early {
            Some(found) => found?,
            None => {
                let there: Vec<_> = tally.statuses().collect();
                wanted.read(&guard.store, guard.company(), guard.project.id, &there).await?
            }
        };
        let total = counted.or(total).unwrap_or(0);
        wanted.query.check_range(total)?;
        Ok(Self(guard, CandidatePage { query: wanted.query, page, total }))
    }
}

/// A page as a request names it.
struct Wanted {
    query: ListQuery,
    status: Option<CandidateStatus>,
    email: Option<String>,
}

impl Wanted {
    fn parse(query: Option<&str>) -> Result<Self> {
        let query = ListQuery::parse(query)?;
        let status = query.filter("status", choice)?;
        let email = query.filter("email", |email| Ok(email.to_owned()))?;
        Ok(Self { query, status, email })
    }

    /// How many rows the list has, if that is counted.
    fn count(&self, tally: &Tally) -> Option<u64> {
        let count = self.status.map_or_else(|| tally.candidates(), |status| tally.with_status(status));
        self.email.is_none().then(|| u64::try_from(count).unwrap_or(0))
    }

    /// The page, and how many rows the list has if it was read whole; its candidates are `among` these statuses.
    async fn read(
        &self,
        store: &Store,
        company: &CompanyId,
        project: ProjectId,
        among: &[CandidateStatus],
    ) -> Result<(Page<Versioned<Candidate>>, Option<u64>)> {
        let Some(email) = &self.email else {
            let page = store.list_candidates(company, project, self.status, among, self.query.page()).await?;
            return Ok((page, None));
        };
        let mut found = store.candidates_by_email(company, project, email).await?;
        found.retain(|candidate| self.status.is_none_or(|status| candidate.status == status));
        let (page, total) = self.query.slice(found, |candidate| candidate.id.to_string());
        Ok((page, Some(total)))
    }
}

/// What the path names, if the credential claims to belong there.
fn promising_project(request: &Request<'_>) -> Option<(CompanyId, ProjectId)> {
    Some((request.promising_company()?, request.id("projectId").ok()?))
}
