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
        let path = (request.id::<CompanyId>("companyId"), request.id::<ProjectId>("projectId"));
        let wanted = query.and_then(|query| {
            let status = query.filter("status", CandidateStatus::parse)?;
            Ok((query, status))
        });
        let reading = async {
            match (&path, &wanted) {
                ((Ok(company), Ok(project)), Ok((query, status))) => {
                    request.store.list_candidates(company, *project, *status, query.page()).await.map(Some)
                }
                _ => Ok(None),
            }
        };
        let more = |company: &CompanyId, project| Ok(shards(company, project).collect());
        let (admitted, page) = tokio::join!(InProject::admit(&request, more), reading);
        let (guard, mut batch) = admitted?;
        let (query, status) = wanted?;
        let tally: Tally = batch.take_tally(guard.company(), guard.project.id);
        let count = status.map_or_else(|| tally.candidates(), |status| tally.with_status(status));
        let total = u64::try_from(count).unwrap_or(0);
        let page = page?.ok_or(Error::NotFound)?;
        query.check_range(total)?;
        Ok(Self(guard, CandidatePage { query, page, total }))
    }
}
