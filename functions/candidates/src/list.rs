//! Listing the candidates of a project.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Deserialize;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::id::{CandidateId, CustomerId};
use shared::domain::parse_enum;
use shared::domain::policy::ReadProject;
use shared::domain::project::Project;
use shared::domain::scoring::status::EvaluationStatus;
use shared::domain::text::ExternalId;
use shared::domain::transition::project_counts::ProjectCounts;
use shared::http::QueryParameters;
use shared::http::page::PageView;
use shared::http::view::CandidateView;
use shared::store::Store;

/// How far the caller's own evaluation of a candidate is.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum OwnEvaluation {
    /// The candidate waits for it.
    Pending,
    /// The evaluation is complete.
    Completed,
}

/// The evaluations that the list is limited to. Only interviewed candidates have any.
struct EvaluationFilter {
    /// The evaluation by the project's evaluators.
    status: Option<EvaluationStatus>,
    /// The evaluation by the caller.
    own: Option<OwnEvaluation>,
}

impl EvaluationFilter {
    fn read(query: &mut QueryParameters, status: Option<CandidateStatus>) -> Self {
        let filter = Self {
            status: query.filter("evaluation_status", parse_enum),
            own: query.filter("my_evaluation_status", parse_enum),
        };
        let asked =
            [("evaluation_status", filter.status.is_some()), ("my_evaluation_status", filter.own.is_some())];
        for (name, _) in asked.into_iter().filter(|(_, is_sent)| *is_sent) {
            if status != Some(CandidateStatus::Interviewed) {
                // Only the items of other candidates tell who has evaluated them, so the whole list would be read.
                query.refuse(
                    name,
                    "Send `status=interviewed` too: only interviewed candidates are evaluated.",
                );
            }
        }
        filter
    }

    fn is_sent(&self) -> bool {
        self.status.is_some() || self.own.is_some()
    }

    fn holds(&self, candidate: &Candidate, customer: Option<CustomerId>, project: &Project) -> bool {
        let own = candidate.own_evaluation_status(customer, project);
        let has_own = match self.own {
            None => true,
            Some(OwnEvaluation::Pending) => own == Some(EvaluationStatus::Pending),
            Some(OwnEvaluation::Completed) => own == Some(EvaluationStatus::Completed),
        };
        has_own && self.status.is_none_or(|status| candidate.evaluation_status(project) == status)
    }

    /// The candidates of the list, the oldest first. Some may have changed since.
    async fn find(
        &self,
        store: &Store,
        customer: Option<CustomerId>,
        project: &Project,
    ) -> Result<Vec<CandidateId>> {
        let of_all = async {
            match self.status {
                Some(status) => store.with_evaluation_status(project, status).await.map(Some),
                None => Ok(None),
            }
        };
        let of_own = self.find_own(store, project.staff.evaluates(customer), project);
        Ok(match tokio::try_join!(of_own, of_all)? {
            (Some(mut own), Some(all)) => {
                let all: HashSet<CandidateId> = all.into_iter().collect();
                own.retain(|id| all.contains(id));
                own
            }
            (own, all) => own.or(all).unwrap_or_default(),
        })
    }

    /// The candidates whose evaluation by `evaluator` has the status of the filter; `None` if the filter has none.
    async fn find_own(
        &self,
        store: &Store,
        evaluator: Option<CustomerId>,
        project: &Project,
    ) -> Result<Option<Vec<CandidateId>>> {
        let Project { company, id, .. } = project;
        Ok(match (self.own, evaluator) {
            (None, _) => None,
            (Some(_), None) => Some(Vec::new()),
            (Some(OwnEvaluation::Pending), Some(by)) => {
                Some(store.awaiting_evaluation(company, *id, by).await?)
            }
            (Some(OwnEvaluation::Completed), Some(by)) => Some(store.evaluated_by(company, *id, by).await?),
        })
    }
}

/// GET …/candidates/
pub(crate) async fn list(
    access: Admitted<ProjectCounts, ReadProject>,
    mut query: QueryParameters,
) -> Result<PageView<CandidateView>> {
    let store = &access.store;
    let company = access.company_id();
    let project = &access.target.project;
    let status = query.filter("status", parse_enum);
    let email = query.filter("email", |email| Ok(email.to_owned()));
    let external_id = query.unique_filter("external_id", ExternalId::parse);
    let evaluation = EvaluationFilter::read(&mut query, status);
    let query = query.finish_list()?;
    let customer = access.caller.customer();
    // No counter knows addresses and keys, so the few candidates with these are read whole.
    let found = match (&external_id, &email) {
        (Some(external_id), _) => {
            let found = store.candidate_by_external_id(company, project.id, external_id).await?;
            Some(found.into_iter().collect())
        }
        (None, Some(email)) => Some(store.candidates_by_email(company, project.id, email).await?),
        (None, None) => None,
    };
    let (page, total) = match found {
        Some(mut found) => {
            found.retain(|candidate| {
                status.is_none_or(|status| candidate.status == status)
                    && evaluation.holds(candidate, customer, project)
                    && email.as_ref().is_none_or(|email| candidate.account_address().holds(email))
            });
            query.slice(found, |candidate| candidate.id.to_string())
        }
        None if evaluation.is_sent() => {
            let ids = evaluation.find(store, customer, project).await?;
            let (page, total) = query.slice(ids, CandidateId::to_string);
            query.check_range(total)?;
            let mut found = store.candidates(company, project.id, page.rows.iter().copied()).await?;
            // A candidate who has changed between the two reads is left out.
            let is_shown = |candidate: &Candidate| {
                candidate.status == CandidateStatus::Interviewed
                    && evaluation.holds(candidate, customer, project)
            };
            (page.filter_map(|id| found.remove(&id).filter(|candidate| is_shown(candidate))), total)
        }
        None => {
            let count = status.map_or_else(
                || access.target.counts.candidates(),
                |status| access.target.counts.with_status(status),
            );
            let total = u64::try_from(count).unwrap_or(0);
            // The range is checked before the read: a page past the end would skip all rows, which DynamoDB charges for.
            query.check_range(total)?;
            // Partitions without candidates need not be queried.
            let statuses: Vec<_> = access.target.counts.statuses().collect();
            (store.list_candidates(company, project.id, status, &statuses, query.page()).await?, total)
        }
    };
    let shown = page.rows.iter().map(|candidate| &**candidate);
    let viewer = access.candidate_viewer(&access.target.relation, project, shown).await?;
    let page = page.map(|candidate| CandidateView::new(&candidate, &viewer));
    query.answer(page, total)
}
