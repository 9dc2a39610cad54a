//! The guard of a search, and what the caller finds.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use url::form_urlencoded;

use super::{Beside, InCompany, Request};
use crate::app::App;
use crate::auth::policy::{Action, Search};
use crate::domain::id::CompanyId;
use crate::domain::search::Terms;
use crate::error::{Error, Result};
use crate::store::{Hit, Placed};

/// The candidates that a search finds in projects that its caller may read, best first.
pub struct Matches(pub Vec<Placed>);

impl FromRequestParts<App> for Beside<InCompany<Search>, Matches> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let terms = read_terms(parts.uri.query());
        let request = Request::new(parts, app).await?;
        let admit = InCompany::<Search>::admit(&request);
        let (guard, early) = match (request.promising_company(), &terms) {
            (Some(company), Ok(Some(terms))) => {
                // The read ends with the admission when that fails, and its own failure waits for it.
                let read = request.store.search_company(&company, terms);
                let (guard, found) = tokio::try_join!(admit, async { Ok(read.await) })?;
                (guard, Some(found))
            }
            _ => (admit.await?, None),
        };
        let Some(terms) = terms? else { return Ok(Self(guard, Matches(Vec::new()))) };
        let hits = find(&guard, &terms, early).await?;
        let mut matches = guard.store.matches(guard.company(), hits, &terms).await?;
        matches.retain(|found| Action::ReadProject.is_allowed(&guard.caller.in_project(&found.project)));
        Ok(Self(guard, Matches(matches)))
    }
}

/// What `terms` find where the caller may read; `early` is what they find in the whole company.
async fn find(guard: &InCompany<Search>, terms: &Terms, early: Option<Result<Vec<Hit>>>) -> Result<Vec<Hit>> {
    let (store, company): (_, &CompanyId) = (&guard.store, guard.company());
    let sees_all = Action::SeeAllProjects.is_allowed(&guard.caller.in_company());
    match (guard.caller.customer().filter(|_| !sees_all), early) {
        (None, Some(found)) => found,
        (None, None) => store.search_company(company, terms).await,
        (Some(customer), _) => {
            let projects = store.project_ids_of(company, customer).await?;
            store.search_projects(company, &projects, terms).await
        }
    }
}

fn read_terms(query: Option<&str>) -> Result<Option<Terms>> {
    let mut parameters = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let (_, text) = parameters
        .find(|(name, _)| name == "q")
        .ok_or_else(|| Error::field("q", "This field is required."))?;
    Terms::parse(&text).map_err(|message| Error::field("q", message))
}
