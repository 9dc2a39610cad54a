//! GET /companies/{companyId}/search/.

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::search_words::SearchTerms;
use shared::domain::company::Company;
use shared::domain::policy::{Action, Search};
use shared::http::QueryParameters;

use crate::view::SearchResultView;

/// GET …/search/?q=…. Returns an array without the envelope of lists.
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
        // Leave out candidates that are shared with the caller: results show the project, which a share does not let
        // them read.
        Some(projects) => store.search_projects(company, &projects, &terms).await?,
    };
    let mut found = store.matches(company, hits, &terms).await?;
    // The index may lag behind the roles, so authorise each hit with the project's current roles.
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
