//! Listing the candidates of a project.

use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::parse_enum;
use shared::domain::policy::ReadProject;
use shared::domain::text::ExternalId;
use shared::domain::transition::project_counts::ProjectCounts;
use shared::http::QueryParameters;
use shared::http::page::PageView;
use shared::http::view::CandidateView;

/// GET …/candidates/
pub(crate) async fn list(
    access: Admitted<ProjectCounts, ReadProject>,
    mut query: QueryParameters,
) -> Result<PageView<CandidateView>> {
    let store = &access.store;
    let company = access.company_id();
    let project = access.target.project.id;
    let status = query.filter("status", parse_enum);
    let email = query.filter("email", |email| Ok(email.to_owned()));
    let external_id = query.unique_filter("external_id", ExternalId::parse);
    let query = query.finish_list()?;
    // No counter knows addresses and keys, so the few candidates with these are read whole.
    let found = match (&external_id, &email) {
        (Some(external_id), _) => {
            Some(store.candidate_by_external_id(company, project, external_id).await?.into_iter().collect())
        }
        (None, Some(email)) => Some(store.candidates_by_email(company, project, email).await?),
        (None, None) => None,
    };
    let (page, total) = match found {
        Some(mut found) => {
            found.retain(|candidate| {
                status.is_none_or(|status| candidate.status == status)
                    && email.as_ref().is_none_or(|email| candidate.account_address().holds(email))
            });
            query.slice(found, |candidate| candidate.id.to_string())
        }
        None => {
            let count = status.map_or_else(
                || access.target.counts.candidates(),
                |one| access.target.counts.with_status(one),
            );
            let total = u64::try_from(count).unwrap_or(0);
            // Before the read: a page past the end would skip all rows, which DynamoDB charges for.
            query.check_range(total)?;
            // Partitions without candidates need not be queried.
            let statuses: Vec<_> = access.target.counts.statuses().collect();
            (store.list_candidates(company, project, status, &statuses, query.page()).await?, total)
        }
    };
    let shown = page.rows.iter().map(|candidate| &**candidate);
    let viewer = access.candidate_viewer(&access.target.relation, &access.target.project, shown).await?;
    let page = page.map(|candidate| CandidateView::new(&candidate, &viewer));
    query.answer(page, total)
}
