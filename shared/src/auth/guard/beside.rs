//! A guard together with the page of a list, read at the same time so that the list costs one round trip.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{InProject, Request};
use crate::app::App;
use crate::auth::policy::Grant;
use crate::domain::candidate::{Candidate, CandidateStatus};
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::tally::Tally;
use crate::error::{Error, Result};
use crate::http::page::ListQuery;
use crate::store::page::Page;
use crate::store::{Versioned, shards};

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
        let query = ListQuery::parse(parts.uri.query());
        let request = Request::new(parts, app).await?;
        let wanted = query.and_then(|query| {
            let status = query.filter("status", CandidateStatus::parse)?;
            Ok((query, status))
        });
        let more = |company: &CompanyId, project| Ok(shards(company, project).collect());
        let admit = InProject::<G>::admit(&request, more);
        let ((guard, mut batch), early) = match (promising_project(&request), &wanted) {
            (Some((company, project)), Ok((query, status))) if !query.is_by_number() => {
                // The read ends with the admission when that fails, and its own failure waits for it.
                let read = request.store.list_candidates(&company, project, *status, query.page());
                let (admitted, page) = tokio::try_join!(admit, async { Ok(read.await) })?;
                (admitted, Some(page))
            }
            _ => (admit.await?, None),
        };
        let (query, status) = wanted?;
        let tally: Tally = batch.take_tally(guard.company(), guard.project.id);
        let count = status.map_or_else(|| tally.candidates(), |status| tally.with_status(status));
        let total = u64::try_from(count).unwrap_or(0);
        query.check_range(total)?;
        let page = match early {
            Some(page) => page?,
            None => {
                guard.store.list_candidates(guard.company(), guard.project.id, status, query.page()).await?
            }
        };
        Ok(Self(guard, CandidatePage { query, page, total }))
    }
}

/// What the path names, if the credential claims to belong there.
fn promising_project(request: &Request<'_>) -> Option<(CompanyId, ProjectId)> {
    Some((request.promising_company()?, request.id("projectId").ok()?))
}
