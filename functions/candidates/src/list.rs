//! Listing the candidates of a project.

use schemars::JsonSchema;
use serde::Deserialize;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::id::CandidateId;
use shared::domain::parse_enum;
use shared::domain::policy::ReadProject;
use shared::domain::scoring::status::EvaluationStatus;
use shared::domain::text::ExternalId;
use shared::domain::transition::project_counts::ProjectCounts;
use shared::http::QueryParameters;
use shared::http::page::PageView;
use shared::http::view::CandidateView;

/// How far the caller's own evaluation of a candidate is.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum OwnEvaluation {
    /// The candidate waits for it.
    Pending,
    /// It is complete.
    Completed,
}

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
    let own: Option<OwnEvaluation> = query.filter("my_evaluation_status", parse_enum);
    if own.is_some() && status != Some(CandidateStatus::Interviewed) {
        // Only the items of other candidates tell who has evaluated them, so the whole list would be read.
        query.refuse(
            "my_evaluation_status",
            "Send `status=interviewed` too: only interviewed candidates are evaluated.",
        );
    }
    let query = query.finish_list()?;
    let customer = access.caller.customer();
    let is_own = |candidate: &Candidate| {
        let status = candidate.own_evaluation_status(customer, &access.target.project);
        match own {
            None => true,
            Some(OwnEvaluation::Pending) => status == Some(EvaluationStatus::Pending),
            Some(OwnEvaluation::Completed) => status == Some(EvaluationStatus::Completed),
        }
    };
    // No counter knows addresses and keys, so the few candidates with these are read whole.
    let found = match (&external_id, &email) {
        (Some(external_id), _) => {
            Some(store.candidate_by_external_id(company, project, external_id).await?.into_iter().collect())
        }
        (None, Some(email)) => Some(store.candidates_by_email(company, project, email).await?),
        (None, None) => None,
    };
    let (page, total) = match (found, own) {
        (Some(mut found), _) => {
            found.retain(|candidate| {
                status.is_none_or(|status| candidate.status == status)
                    && is_own(candidate)
                    && email.as_ref().is_none_or(|email| candidate.account_address().holds(email))
            });
            query.slice(found, |candidate| candidate.id.to_string())
        }
        (None, Some(own)) => {
            let ids = match (access.target.project.staff.evaluates(customer), own) {
                (None, _) => Vec::new(),
                (Some(by), OwnEvaluation::Pending) => store.awaiting_evaluation(company, project, by).await?,
                (Some(by), OwnEvaluation::Completed) => store.evaluated_by(company, project, by).await?,
            };
            let (page, total) = query.slice(ids, CandidateId::to_string);
            query.check_range(total)?;
            let mut found = store.candidates(company, project, page.rows.iter().copied()).await?;
            // A candidate who has changed between the two reads is left out.
            let is_shown = |one: &Candidate| one.status == CandidateStatus::Interviewed && is_own(one);
            (page.filter_map(|id| found.remove(&id).filter(|one| is_shown(one))), total)
        }
        (None, None) => {
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
