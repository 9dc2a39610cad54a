//! The candidates of all projects with an email address: the candidacies of one person.

use shared::auth::access::Admitted;
use shared::domain::company::Company;
use shared::domain::policy::SeeAllProjects;
use shared::http::page::{ListQuery, PageView};
use shared::http::view::CandidateView;
use shared::store::CandidateWithProject;
use shared::store::page::Page;
use shared::{Error, Result};

use crate::view::viewer;

/// GET /companies/{companyId}/candidates/?email=
pub(crate) async fn list(
    access: Admitted<Company, SeeAllProjects>,
    query: ListQuery,
) -> Result<PageView<CandidateView>> {
    let store = &access.store;
    let company = access.company_id();
    // Required: answers to a person's request must not depend on whether a client has forgotten the filter.
    let email = query.filter("email", |email| Ok(email.to_owned()))?;
    let email = email.ok_or_else(|| Error::field("email", "This field is required."))?;
    let ids = store.candidate_ids_by_email(company, &email).await?;
    let (page, total) = query.slice(ids, |(_, candidate)| candidate.to_string());
    query.check_range(total)?;
    let found = store.candidates_with_projects(company, &page.rows).await?;
    let rows = found.into_iter().filter_map(|CandidateWithProject { candidate, project }| {
        let relation = access.caller.in_project(&project.staff);
        // The address may have changed between the two reads.
        let is_theirs = candidate.profile.has_email(&email);
        is_theirs.then(|| CandidateView::new(&candidate, &viewer(&access, &relation, &project)))
    });
    query.answer(Page { rows: rows.collect(), next: page.next, previous: page.previous }, total)
}
