//! Lists the candidates of a project.

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

/// The progress of the caller's own evaluation of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum OwnEvaluation {
    /// The evaluation is not complete yet.
    Pending,
    /// The evaluation is complete.
    Completed,
}

/// The evaluation filters of the list. Only interviewed candidates have evaluations.
struct EvaluationFilter {
    /// The status of the evaluation by all evaluators of the project.
    status: Option<EvaluationStatus>,
    /// The status of the caller's own evaluation.
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
                // For candidates in other statuses, only their own items hold the evaluations, so the whole list would
                // be read.
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

    /// The identifiers of matching candidates, oldest first. Filter again after reading them: some may have changed
    /// since.
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

    /// The candidates whose evaluation by `evaluator` has the filter's own status; `None` without such a filter.
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
    // Addresses and keys have no counters, so read all matching candidates: they are few.
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
                    && email.as_ref().is_none_or(|email| candidate.account_email().holds(email))
            });
            query.slice(found, |candidate| candidate.id.to_string())
        }
        None if evaluation.is_sent() => {
            let ids = evaluation.find(store, customer, project).await?;
            let (page, total) = query.slice(ids, CandidateId::to_string);
            query.check_range(total)?;
            let mut found = store.candidates(company, project.id, page.rows.iter().copied()).await?;
            // Leave out candidates who have changed between the two reads.
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
            // Check the range first: DynamoDB would charge for all rows that a page past the end skips.
            query.check_range(total)?;
            // Skip the partitions of statuses without candidates.
            let statuses: Vec<_> = access.target.counts.statuses().collect();
            (store.list_candidates(company, project.id, status, &statuses, query.page()).await?, total)
        }
    };
    let shown = page.rows.iter().map(|candidate| &**candidate);
    let viewer = access.candidate_viewer(&access.target.relation, project, shown).await?;
    let page = page.map(|candidate| CandidateView::new(&candidate, &viewer));
    query.answer(page, total)
}
