//! GET /companies/{companyId}/shares/.

use std::collections::HashMap;

use shared::Result;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::company::Company;
use shared::domain::id::CandidateId;
use shared::domain::policy::{Action, ReadCompany};
use shared::http::QueryParameters;
use shared::http::page::PageView;
use shared::http::view::{CandidateView, ShareView};
use shared::store::{CandidateWithProject, SharedCandidate};

/// The name for `?expand=`: shows candidates instead of references to them.
pub(crate) const CANDIDATE: &str = "candidate";

/// Lists the candidates that are shared with the caller.
pub(crate) async fn list(
    access: Admitted<Company, ReadCompany>,
    mut query: QueryParameters,
) -> Result<PageView<ShareView>> {
    let expand = query.expand(&[CANDIDATE]);
    let query = query.finish_list()?;
    let company = access.company_id();
    let references = access.references();
    let shares = match access.caller.customer() {
        Some(customer) => access.store.shared_with(company, customer).await?,
        // A named token has no shares.
        None => Vec::new(),
    };
    let (page, total) = query.slice(shares, |shared| shared.share.to_string());
    let mut candidates =
        if expand.has(CANDIDATE) { read_candidates(&access, &page.rows).await? } else { HashMap::new() };
    let page = page.map(|shared| {
        let view = ShareView::new(company, &shared, references);
        view.with_candidate(candidates.remove(&shared.candidate))
    });
    query.answer(page, total)
}

/// The views of those shared candidates that the caller may still read.
async fn read_candidates(
    access: &AdmittedRequest,
    shares: &[SharedCandidate],
) -> Result<HashMap<CandidateId, CandidateView>> {
    let ids: Vec<_> = shares.iter().map(|shared| (shared.project, shared.candidate)).collect();
    let found = access.store.candidates_with_projects(access.company_id(), &ids).await?;
    let mut views = HashMap::new();
    for CandidateWithProject { candidate, project } in found {
        let relation = access.caller.towards(&candidate, &project);
        // A reference to a candidate whom the caller may not read is not expanded.
        if Action::ReadCandidate.is_allowed(&relation) {
            let viewer = access.candidate_viewer(&relation, &project, [&*candidate]).await?;
            views.insert(candidate.id, CandidateView::new(&candidate, &viewer));
        }
    }
    Ok(views)
}
