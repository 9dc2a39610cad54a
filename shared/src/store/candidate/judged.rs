//! Access patterns of a project's candidates by whether evaluators have judged them.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use crate::domain::candidate::Candidate;
use crate::domain::evaluation::FirstJudgement;
use crate::domain::id::{CandidateId, CustomerId};
use crate::domain::project::Project;
use crate::domain::scoring::agreement::Judgements;
use crate::domain::scoring::result::ResultSummary;
use crate::domain::scoring::status::EvaluationStatus;
use crate::error::Result;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, VersionedItem, string};
use crate::store::table::keys::{self, ItemKey, TABLE};
use crate::store::table::read::projection::ProjectionExpression;
use crate::store::table::read::query::{Query, RowFilter};

/// The attributes of an evaluation from which agreement between evaluators is computed.
const FIRST: ProjectionExpression =
    ProjectionExpression::new("pk, sk, candidate, evaluator, #first", &[("#first", "first")]);

/// The part of an evaluation from which agreement between evaluators is computed.
#[derive(Deserialize)]
struct WrittenFirst {
    candidate: CandidateId,
    evaluator: CustomerId,
    first: FirstJudgement,
}

impl Store {
    /// Reads the first judgements of the evaluations that evaluators of the project have completed. An evaluation that
    /// is completed or deleted during the read may or may not count.
    pub async fn first_judgements(&self, project: &Project) -> Result<Judgements> {
        let mut query = Query::new(TABLE, string(keys::evaluations(&project.company, project.id).pk))
            .filtered(RowFilter::any([vec!["first".to_owned()]]));
        query.attributes = FIRST;
        let (rows, results) =
            tokio::try_join!(self.query_rows(query, usize::MAX), self.all_results(project))?;
        let results: HashMap<CandidateId, ResultSummary> =
            results.into_iter().map(|result| (result.candidate, result.summary)).collect();
        let mut found = Judgements::new();
        for row in rows {
            let Some(WrittenFirst { candidate, evaluator, first }) = item::or_skipped(item::value_in(&row))?
            else {
                continue;
            };
            let is_counting = project.staff.evaluators.contains(&evaluator)
                && results.get(&candidate).is_some_and(|summary| summary.by.contains_key(&evaluator));
            if is_counting {
                found.entry(candidate).or_default().insert(evaluator, first);
            }
        }
        Ok(found)
    }

    /// Returns the interviewed candidates of a project whose evaluation was not complete when it was read, ordered by
    /// identifier and starting after `after`.
    pub async fn unevaluated(
        &self,
        project: &Project,
        after: Option<CandidateId>,
    ) -> Result<Vec<CandidateId>> {
        let (results, mut waiting) =
            tokio::try_join!(self.all_results(project), self.interviewed(&project.company, project.id))?;
        let is_complete =
            |summary: &ResultSummary| summary.evaluation_status(project) == EvaluationStatus::Completed;
        let complete = results.into_iter().filter(|result| is_complete(&result.summary));
        let complete: HashSet<CandidateId> = complete.map(|result| result.candidate).collect();
        waiting.retain(|id| after.is_none_or(|after| *id > after) && !complete.contains(id));
        waiting.sort_unstable();
        Ok(waiting)
    }

    /// Reads candidates of a project with eventual consistency, up to seconds old. Those that cannot be read are missing.
    pub async fn candidates_that_may_lag(
        &self,
        project: &Project,
        candidates: &[CandidateId],
    ) -> Result<Vec<VersionedItem<Candidate>>> {
        let keys = candidates.iter().map(|id| keys::candidate(&project.company, project.id, *id));
        let keys: Vec<ItemKey> = keys.collect();
        let mut batch = self.get_that_may_lag(keys.iter().cloned()).await?;
        let found: Result<Vec<_>> = keys.iter().map(|key| batch.take_listed(key)).collect();
        Ok(found?.into_iter().flatten().collect())
    }
}
