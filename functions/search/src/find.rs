//! GET /companies/{companyId}/search/.

use axum::Json;
use axum::extract::RawQuery;
use shared::auth::access::{CompanyAccess, GuardRejection, NotYetAdmitted, ReadAheadInputs};
use shared::domain::policy::{Action, Search};
use shared::domain::search::SearchTerms;
use shared::store::SearchHit;
use shared::{Error, Result};
use url::form_urlencoded;

use crate::view::SearchResultView;

/// GET …/search/?q=…: an array without the envelope of lists. The whole company is searched while the caller is being
/// admitted; callers who may not see all projects then search theirs.
pub(crate) async fn list(
    pending: NotYetAdmitted<CompanyAccess<Search>>,
    RawQuery(query): RawQuery,
) -> Result<Json<Vec<SearchResultView>>, GuardRejection> {
    let terms = read_terms(query.as_deref());
    let (access, early) = match &terms {
        Ok(Some(terms)) => {
            let search =
                async |ahead: ReadAheadInputs| ahead.store.search_company(&ahead.company, terms).await;
            pending.admit_while(search).await?
        }
        _ => (pending.admit().await?, None),
    };
    let Some(terms) = terms? else { return Ok(Json(Vec::new())) };
    let hits = find(&access, &terms, early).await?;
    let mut found = access.store.matches(access.company_id(), hits, &terms).await?;
    found.retain(|one| Action::ReadProject.is_allowed(&access.caller.in_project(&one.project.staff)));
    let view = |one| SearchResultView::new(access.company_id(), one, access.references());
    Ok(Json(found.iter().map(view).collect()))
}

/// What `terms` find where the caller may read; `early` is what they find in the whole company.
async fn find(
    access: &CompanyAccess<Search>,
    terms: &SearchTerms,
    early: Option<Result<Vec<SearchHit>>>,
) -> Result<Vec<SearchHit>> {
    let (store, company) = (&access.store, access.company_id());
    let sees_all = Action::SeeAllProjects.is_allowed(&access.caller.in_company());
    match (access.caller.customer().filter(|_| !sees_all), early) {
        (None, Some(found)) => found,
        (None, None) => store.search_company(company, terms).await,
        (Some(customer), _) => {
            // Not the candidates shared with the caller: results show the project, which a share does not let them
            // read.
            let projects = store.project_ids_of(company, customer).await?;
            store.search_projects(company, &projects, terms).await
        }
    }
}

fn read_terms(query: Option<&str>) -> Result<Option<SearchTerms>> {
    let mut parameters = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let (_, text) = parameters
        .find(|(name, _)| name == "q")
        .ok_or_else(|| Error::field("q", "This field is required."))?;
    SearchTerms::parse(&text).map_err(|message| Error::field("q", message))
}
