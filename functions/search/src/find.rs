//! GET /companies/{companyId}/search/.

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::search_words::SearchTerms;
use shared::domain::company::Company;
use shared::domain::policy::{Action, Search};
use shared::http::QueryParameters;

use crate::view::SearchResultView;

/// GET …/search/?q=…: an array without the envelope of lists.
pub(crate) async fn list(
    access: Admitted<Company, Search>,
    mut query: QueryParameters,
) -> Result<Json<Vec<SearchResultView>>> {
    let terms = query.required("q", SearchTerms::parse);
    query.finish()?;
    let Some(terms) = terms.flatten() else { return Ok(Json(Vec::new())) };
    let store = &access.store;
    let company = access.company_id();
    let hits = match access.visible_projects().await? {
        None => store.search_company(company, &terms).await?,
        // Candidates shared with the caller are left out: results show the project, which a share does not let them read.
        Some(projects) => store.search_projects(company, &projects, &terms).await?,
    };
    let mut found = store.matches(company, hits, &terms).await?;
    // The index lags behind the roles, so what it has found is authorised by the projects as they are now.
    found.retain(|candidate| {
        Action::ReadProject
            .is_allowed(&access.caller.in_project(candidate.project_id, &candidate.project.staff))
    });
    Ok(Json(
        found
            .iter()
            .map(|candidate| SearchResultView::new(company, candidate, access.references()))
            .collect(),
    ))
}
