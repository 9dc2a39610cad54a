//! Access patterns of evaluations, and of the results that follow from them.
//!
//! The summary of a candidate's results is derived from the candidate and written with it, as search entries are.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, Utc};
use futures_util::stream::{self, Stream, StreamExt as _, TryStreamExt as _};

use crate::domain::candidate::{Candidate, CandidateStatus};
use crate::domain::evaluation::Evaluation;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, ProjectId};
use crate::domain::project::Project;
use crate::domain::scoring::change::EvaluationChange;
use crate::domain::scoring::result::ResultSummary;
use crate::domain::scoring::status::EvaluationStatus;
use crate::domain::transition::CandidateChange;
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, StoredEntity, VersionedItem, string};
use crate::store::table::keys::{self, BY_STATUS, ItemKey, TABLE};
use crate::store::table::read::page::{ListSource, Page, PageRequest};
use crate::store::table::read::projection::ProjectionExpression;
use crate::store::table::read::query::{Query, RowFilter};
use crate::store::table::write::condition::WriteCondition;
use crate::store::table::write::transaction::Transaction;

/// How many evaluations one call reads for a document. The longest have 110 KB each.
const READ_TOGETHER: usize = 16;

impl StoredEntity for Evaluation {
    fn key(&self) -> ItemKey {
        keys::evaluation(&self.company, self.project, self.candidate, self.evaluator)
    }
}

/// The attribute that marks an evaluation as deleted by its author.
const IS_WITHDRAWN: &str = "is_withdrawn";
const KEYS: ProjectionExpression = ProjectionExpression::new("pk, sk", &[]);

/// The key of an evaluation's item.
#[derive(Debug)]
pub struct EvaluationKey(ItemKey);

#[derive(Debug)]
pub struct CandidateResult {
    pub candidate: CandidateId,
    pub summary: ResultSummary,
}

impl Store {
    /// Writes a change of the evaluation `before`, or a new evaluation if it is `None`. Fails with [`Error::Changed`]
    /// also after a concurrent change of the candidate, for example by another evaluation of them.
    pub fn save_evaluation(
        &self,
        project: &VersionedItem<Project>,
        candidate: &VersionedItem<Candidate>,
        before: Option<&VersionedItem<Evaluation>>,
        change: EvaluationChange,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.change_candidate(candidate, &CandidateChange::from(change.candidate), now);
        transaction.evaluator_index(project, change.evaluator_index);
        match (before, &change.evaluation) {
            (None, Some(after)) => {
                transaction.create_unless(after, || Error::Changed);
                transaction.show();
            }
            (Some(before), Some(after)) => transaction.replace(before, after),
            (Some(before), None) => transaction.delete(before),
            // An event of the platform has completed an evaluation that was never saved here.
            (None, None) => {}
        }
        transaction
    }

    /// Reads all evaluations of a candidate.
    pub async fn evaluations_of(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<HashMap<(CandidateId, CustomerId), Evaluation>> {
        let rows = self.evaluation_rows(company, project, candidate).await?;
        let found = item::readable::<Evaluation>(rows)?;
        Ok(by_ids(&found))
    }

    /// The evaluations of a candidate by each of these evaluators, in their order; `None` for evaluators without one.
    /// Reads them as the stream is consumed. For documents that must not miss one: fails with [`Error::Unreadable`] if
    /// one cannot be read.
    pub fn evaluations_by<'a>(
        &'a self,
        candidate: &'a Candidate,
        evaluators: &[CustomerId],
    ) -> impl Stream<Item = Result<(CustomerId, Option<VersionedItem<Evaluation>>)>> + Send + use<'a> {
        let calls: Vec<Vec<CustomerId>> = evaluators.chunks(READ_TOGETHER).map(<[_]>::to_vec).collect();
        let found = stream::iter(calls).then(move |together| self.written_by(candidate, together));
        found.map_ok(|found| stream::iter(found.into_iter().map(Ok::<_, Error>))).try_flatten()
    }

    async fn written_by(
        &self,
        candidate: &Candidate,
        evaluators: Vec<CustomerId>,
    ) -> Result<Vec<(CustomerId, Option<VersionedItem<Evaluation>>)>> {
        let Candidate { company, project, id, .. } = candidate;
        let key = |by| keys::evaluation(company, *project, *id, by);
        let mut batch = self.get(evaluators.iter().map(|by| key(*by))).await?;
        evaluators.into_iter().map(|by| Ok((by, batch.take(&key(by))?))).collect()
    }

    /// Reads the given evaluations in one round trip. Those that do not exist are missing.
    pub async fn evaluations(
        &self,
        company: &CompanyId,
        project: ProjectId,
        ids: impl IntoIterator<Item = (CandidateId, CustomerId)>,
    ) -> Result<HashMap<(CandidateId, CustomerId), Evaluation>> {
        let keys = ids.into_iter().map(|(candidate, by)| keys::evaluation(company, project, candidate, by));
        let found: Vec<VersionedItem<Evaluation>> = self.listed(keys.collect()).await?;
        Ok(by_ids(&found))
    }

    /// The keys of all evaluations of a candidate, including those that cannot be read.
    pub async fn evaluation_keys(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<Vec<EvaluationKey>> {
        let rows = self.evaluation_rows(company, project, candidate).await?;
        rows.iter().map(|row| item::key_of(row).map(EvaluationKey)).collect()
    }

    /// Whether a candidate has an evaluation, even a draft, that its author has not deleted. Counts evaluations that cannot be read.
    pub async fn has_evaluation(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<bool> {
        let rows = self.evaluation_rows(company, project, candidate).await?;
        Ok(rows.iter().any(|row| !row.contains_key(IS_WITHDRAWN)))
    }

    /// Deletes evaluations of a deleted candidate.
    pub async fn delete_evaluations(&self, keys: &[EvaluationKey]) -> Result<()> {
        for EvaluationKey(key) in keys {
            // One by one, without a transaction: nothing else depends on them any more, and a retry deletes the rest.
            self.delete_alone(key).await?;
        }
        Ok(())
    }

    async fn evaluation_rows(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<Vec<Item>> {
        let partition = string(keys::evaluations(company, project).pk);
        let query = Query::new(TABLE, partition).starting_with(format!("{candidate}#"));
        self.query_rows(query, usize::MAX).await
    }

    /// A page of the candidates with a completed evaluation by an evaluator of the project, oldest candidate first.
    pub async fn list_results(
        &self,
        project: &Project,
        request: &PageRequest,
    ) -> Result<Page<CandidateResult>> {
        let Some(filter) = by_evaluators(project) else {
            return Ok(Page { rows: Vec::new(), next: None, previous: None });
        };
        let listing = ListSource::Having(keys::results(&project.company, project.id), filter);
        let Page { rows, next, previous } = self.page_of_items(&listing, request).await?;
        Ok(Page { rows: results_in(rows)?, next, previous })
    }

    /// All candidates with a completed evaluation by an evaluator of the project, oldest first.
    pub async fn all_results(&self, project: &Project) -> Result<Vec<CandidateResult>> {
        match by_evaluators(project) {
            Some(filter) => self.filtered_results(&project.company, project.id, filter).await,
            None => Ok(Vec::new()),
        }
    }

    /// The interviewed candidates for whom `evaluator` has completed an evaluation, oldest first.
    pub async fn evaluated_by(
        &self,
        company: &CompanyId,
        project: ProjectId,
        evaluator: CustomerId,
    ) -> Result<Vec<CandidateId>> {
        let filter = RowFilter::any([vec!["by".to_owned(), evaluator.to_string()]]);
        let mut query = Query::of(&keys::results(company, project)).filtered(filter);
        query.attributes = KEYS;
        let rows = self.query_rows(query, usize::MAX).await?;
        let keys = item::keys_of(&rows)?;
        Ok(keys.iter().filter_map(keys::result_in).collect())
    }

    /// The interviewed candidates without a completed evaluation by `evaluator`, oldest first. Some may have been
    /// deleted or reopened since.
    // No index by evaluator: each completed interview would cost a write per evaluator.
    pub async fn awaiting_evaluation(
        &self,
        company: &CompanyId,
        project: ProjectId,
        evaluator: CustomerId,
    ) -> Result<Vec<CandidateId>> {
        let (evaluated, mut waiting) = tokio::try_join!(
            self.evaluated_by(company, project, evaluator),
            self.interviewed(company, project),
        )?;
        let evaluated: HashSet<CandidateId> = evaluated.into_iter().collect();
        waiting.retain(|id| !evaluated.contains(id));
        Ok(waiting)
    }

    /// The interviewed candidates whose evaluation by the project's evaluators has this status, oldest first. Some may have changed since.
    pub async fn with_evaluation_status(
        &self,
        project: &Project,
        status: EvaluationStatus,
    ) -> Result<Vec<CandidateId>> {
        if status != EvaluationStatus::Pending {
            let results = self.all_results(project).await?.into_iter();
            let results = results.filter(|result| result.summary.evaluation_status(project) == status);
            return Ok(results.map(|result| result.candidate).collect());
        }
        let (results, mut waiting) =
            tokio::try_join!(self.all_results(project), self.interviewed(&project.company, project.id))?;
        // Every candidate in `results` has a completed evaluation.
        let others: HashSet<CandidateId> = results.into_iter().map(|result| result.candidate).collect();
        waiting.retain(|id| !others.contains(id));
        Ok(waiting)
    }

    /// All interviewed candidates of a project, the oldest first. Some may have been deleted or reopened since.
    pub(super) async fn interviewed(
        &self,
        company: &CompanyId,
        project: ProjectId,
    ) -> Result<Vec<CandidateId>> {
        let partition = keys::candidates_by_status(company, project, CandidateStatus::Interviewed);
        let rows = self.query_rows(Query::new(BY_STATUS, string(partition)), usize::MAX).await?;
        let candidates = keys::candidates(company, project);
        rows.iter().map(|row| candidates.id_in(row)?.parse().map_err(Error::internal)).collect()
    }

    /// All candidates with at least one veto, oldest first.
    pub async fn all_vetoed(&self, company: &CompanyId, project: ProjectId) -> Result<Vec<CandidateResult>> {
        let filter = RowFilter::any([vec!["vetos".to_owned()]]);
        self.filtered_results(company, project, filter).await
    }

    async fn filtered_results(
        &self,
        company: &CompanyId,
        project: ProjectId,
        filter: RowFilter,
    ) -> Result<Vec<CandidateResult>> {
        let query = Query::of(&keys::results(company, project)).filtered(filter);
        results_in(self.query_rows(query, usize::MAX).await?)
    }

    /// Writes the summaries of a project's results that are missing or wrong, and returns their number. `expected`
    /// holds, for every candidate that can be read, the version of the candidate and their summary.
    pub(in crate::store) async fn mend_summaries(
        &self,
        company: &CompanyId,
        project: ProjectId,
        mut expected: BTreeMap<CandidateId, (u64, Option<ResultSummary>)>,
    ) -> Result<usize> {
        let mut wrong = Vec::new();
        for row in self.all_items(&keys::results(company, project)).await? {
            let Some(candidate) = keys::result_in(&item::key_of(&row)?) else { continue };
            match expected.remove(&candidate) {
                Some((_, Some(summary))) if item::value_in(&row).is_ok_and(|stored| summary == stored) => {}
                Some((version, summary)) => {
                    wrong.push((candidate, WriteCondition::Version(version), summary))
                }
                None => wrong.push((candidate, WriteCondition::Absent, None)),
            }
        }
        for (candidate, (version, summary)) in expected {
            if summary.is_some() {
                wrong.push((candidate, WriteCondition::Version(version), summary));
            }
        }
        let mut mended = 0;
        for (candidate, unchanged, summary) in wrong {
            let mut transaction = self.transaction();
            // `expected` may be outdated by now, so the candidate must still have the version from which it was derived.
            transaction.require(keys::candidate(company, project, candidate), unchanged, Error::Changed);
            transaction.put_summary(keys::result(company, project, candidate), summary);
            match self.commit(transaction).await {
                // The concurrent change of the candidate has written the summary.
                Err(Error::Changed | Error::NotFound) => {}
                committed => {
                    committed?;
                    mended += 1;
                }
            }
        }
        Ok(mended)
    }
}

fn by_ids(found: &[VersionedItem<Evaluation>]) -> HashMap<(CandidateId, CustomerId), Evaluation> {
    found
        .iter()
        .map(|evaluation| ((evaluation.candidate, evaluation.evaluator), Evaluation::clone(evaluation)))
        .collect()
}

/// Selects results with a completed evaluation by an evaluator of the project; `None` if the project has no evaluators.
fn by_evaluators(project: &Project) -> Option<RowFilter> {
    let paths = project.staff.evaluators.iter().map(|by| vec!["by".to_owned(), by.to_string()]);
    (!project.staff.evaluators.is_empty()).then(|| RowFilter::any(paths))
}

fn results_in(rows: Vec<Item>) -> Result<Vec<CandidateResult>> {
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(candidate) = keys::result_in(&item::key_of(&row)?) else { continue };
        let summary = item::or_skipped(item::value_in(&row))?;
        found.extend(summary.map(|summary| CandidateResult { candidate, summary }));
    }
    Ok(found)
}

impl Transaction {
    /// Writes the summary of the results of `after` if it differs from that of `before`.
    pub(in crate::store) fn summary(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) {
        let Some(Candidate { company, project, id, .. }) = after.or(before) else { return };
        let summary = after.and_then(ResultSummary::of);
        if before.and_then(ResultSummary::of) != summary {
            self.put_summary(keys::result(company, *project, *id), summary);
        }
    }

    fn put_summary(&mut self, key: ItemKey, summary: Option<ResultSummary>) {
        let Some(summary) = summary else { return self.delete_derived(key) };
        if let Some(item) = self.or_fault(item::bare_of(&summary)) {
            self.put_derived(key, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::candidate::CandidateStatus;
    use crate::domain::evaluation::evaluator_index::{EvaluatorIndex, MAX_EVALUATORS};
    use crate::domain::evaluation::{EvaluationReport, RatingValues, ScoreNumbers};
    use crate::domain::id::Id;
    use crate::domain::samples;

    #[test]
    fn a_candidate_whom_everybody_has_evaluated_fits_in_its_items() {
        let mut candidate = Candidate { status: CandidateStatus::Interviewed, ..samples::candidate() };
        let mut index = EvaluatorIndex::default();
        for by in (0..MAX_EVALUATORS).map(|number| samples::customer(number as u8)) {
            let questions = (0..30).map(|byte| (Id::from_bytes([byte; 16]), 10_000)).collect();
            let criteria = (0..20).map(|byte| (Id::from_bytes([byte; 16]), 10_000)).collect();
            let rated = Some(RatingValues { maximum: 1_000, questions, criteria });
            let veto = Some(Id::from_bytes([7; 16]));
            let at = DateTime::UNIX_EPOCH;
            candidate.scores.insert(by, ScoreNumbers { revision: 1_000, saved_at: at, rated, veto });
            let bit = index.assign_bit(by).unwrap();
            candidate.evaluations.insert(by, EvaluationReport { completed: true, at, bit });
        }
        // DynamoDB allows 400 KB, so this leaves room for the rest of the candidate. JSON is longer than the size that DynamoDB counts.
        assert!(serde_json::to_string(&candidate).unwrap().len() < 300_000);
        assert!(serde_json::to_string(&ResultSummary::of(&candidate)).unwrap().len() < 300_000);
    }
}
