//! The candidates of all projects visible to the caller with an email address or a client's key, i.e. one person's
//! candidacies.

use shared::auth::access::Admitted;
use shared::domain::company::Company;
use shared::domain::policy::Search;
use shared::domain::text::ExternalId;
use shared::http::QueryParameters;
use shared::http::page::PageView;
use shared::http::view::CandidateView;
use shared::store::CandidateWithProject;
use shared::store::page::Page;
use shared::{Error, Result};

/// GET /companies/{companyId}/candidates/?email=&external_id=
pub(crate) async fn list(
    access: Admitted<Company, Search>,
    mut query: QueryParameters,
) -> Result<PageView<CandidateView>> {
    let store = &access.store;
    let company = access.company_id();
    // One filter is required: answers to a person's request must not depend on a forgotten filter.
    let email = query.filter("email", |email| Ok(email.to_owned()));
    let external_id = query.unique_filter("external_id", ExternalId::parse);
    let query = query.finish_list()?;
    let mut ids = match (&email, &external_id) {
        (None, None) => return Err(Error::field("email", "This field is required.")),
        (Some(email), None) => store.candidate_ids_by_email(company, email).await?,
        (None, Some(external_id)) => store.candidate_ids_by_external_id(company, external_id).await?,
        (Some(email), Some(external_id)) => {
            let (mut ids, by_external_id) = tokio::try_join!(
                store.candidate_ids_by_email(company, email),
                store.candidate_ids_by_external_id(company, external_id)
            )?;
            ids.retain(|id| by_external_id.contains(id));
            ids
        }
    };
    if let Some(visible) = access.visible_projects().await? {
        ids.retain(|(project, _)| visible.contains(project));
    }
    let (page, total) = query.slice(ids, |(_, candidate)| candidate.to_string());
    query.check_range(total)?;
    let found = store.candidates_with_projects(company, &page.rows).await?;
    let mut rows = Vec::new();
    for CandidateWithProject { candidate, project } in found {
        let relation = access.caller.in_project(project.id, &project.staff);
        // Filter again: address and key may have changed between the two reads.
        let is_theirs = email.as_ref().is_none_or(|email| candidate.account_email().holds(email))
            && external_id.as_ref().is_none_or(|key| candidate.profile.external_id.as_ref() == Some(key));
        if is_theirs {
            let viewer = access.candidate_viewer(&relation, &project, [&*candidate]).await?;
            rows.push(CandidateView::new(&candidate, &viewer));
        }
    }
    query.answer(Page { rows, next: page.next, previous: page.previous }, total)
}
