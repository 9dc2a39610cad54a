//! Access patterns of evaluations that evaluators write, and of the results that follow from them.
//!
//! The summary of a result is derived from its candidate and written with it, like search entries.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};

use super::Store;
use super::table::condition::WriteCondition;
use super::table::item::{self, StoredEntity, VersionedItem, string};
use super::table::keys::{self, ItemKey, TABLE};
use super::table::page::{ListSource, Page, PageRequest};
use super::table::query::{Query, RowFilter};
use super::table::transaction::Transaction;
use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, ProjectId};
use crate::domain::outcome::ResultSummary;
use crate::domain::project::Project;
use crate::domain::roster::EvaluatorIndex;
use crate::domain::scorecard::Evaluation;
use crate::domain::transition::TransitionResult;
use crate::error::{Error, Result};

impl StoredEntity for Evaluation {
    fn key(&self) -> ItemKey {
        keys::scorecard(&self.company, self.project, self.candidate, self.evaluator)
    }
}

/// The place of an evaluation in the table.
#[derive(Debug)]
pub struct EvaluationKey(ItemKey);

/// A candidate with results.
#[derive(Debug)]
pub struct CandidateResult {
    /// The candidate.
    pub candidate: CandidateId,
    /// Their completed evaluations in short.
    pub summary: ResultSummary,
}

/// A change of an evaluation.
pub struct EvaluationChange<'a> {
    /// The project, whose roster takes in new evaluators.
    pub project: &'a VersionedItem<Project>,
    /// The roster after the change.
    pub roster: EvaluatorIndex,
    /// The candidate.
    pub candidate: &'a VersionedItem<Candidate>,
    /// The candidate after the change.
    pub after: Candidate,
    /// The evaluation before the change, if there was one.
    pub card: Option<&'a VersionedItem<Evaluation>>,
}

impl Store {
    /// Saves `card`; none deletes it. Fails with [`Error::Changed`] also after a concurrent change of the candidate, which
    /// every other evaluation makes.
    pub fn save_scorecard(
        &self,
        saved: EvaluationChange<'_>,
        card: Option<&Evaluation>,
        now: DateTime<Utc>,
    ) -> Transaction {
        let EvaluationChange { project, roster, candidate, after, card: before } = saved;
        let mut transaction = self.transaction();
        transaction.step(candidate, &TransitionResult::from(after), now);
        transaction.roster(project, roster);
        match (before, card) {
            (None, Some(card)) => {
                transaction.create_unless(card, || Error::Changed);
                transaction.show();
            }
            (Some(before), Some(card)) => transaction.replace(before, card),
            (Some(before), None) => transaction.delete(before),
            (None, None) => {}
        }
        transaction
    }

    /// Reads everything that was written about a candidate, by evaluator.
    pub async fn scorecards_of(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<HashMap<CustomerId, Evaluation>> {
        let rows = self.query_rows(cards_of(company, project, candidate), usize::MAX).await?;
        let cards = item::readable::<Evaluation>(rows)?;
        Ok(cards.into_iter().map(|card| (card.evaluator, Evaluation::clone(&card))).collect())
    }

    /// Reads those of these evaluations that exist, in one round trip.
    pub async fn scorecards(
        &self,
        company: &CompanyId,
        project: ProjectId,
        ids: impl IntoIterator<Item = (CandidateId, CustomerId)>,
    ) -> Result<HashMap<(CandidateId, CustomerId), Evaluation>> {
        let keys = ids.into_iter().map(|(candidate, by)| keys::scorecard(company, project, candidate, by));
        let cards: Vec<VersionedItem<Evaluation>> = self.listed(keys.collect()).await?;
        Ok(cards.iter().map(|card| ((card.candidate, card.evaluator), Evaluation::clone(card))).collect())
    }

    /// The places of everything that was written about a candidate, also of what cannot be read.
    pub async fn scorecard_keys(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<Vec<EvaluationKey>> {
        let rows = self.query_rows(cards_of(company, project, candidate), usize::MAX).await?;
        rows.iter().map(|row| item::key_of(row).map(EvaluationKey)).collect()
    }

    /// Deletes what was written about a candidate who is gone.
    pub async fn delete_scorecards(&self, keys: &[EvaluationKey]) -> Result<()> {
        for EvaluationKey(key) in keys {
            // One by one: nothing else depends on them any more, and a repeat deletes the rest.
            self.delete_alone(key).await?;
        }
        Ok(())
    }

    /// A page of the candidates whom an evaluator of the project has evaluated, the oldest candidate first.
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
        Ok(Page { rows: summaries(rows)?, next, previous })
    }

    /// All candidates whom an evaluator of the project has evaluated, the oldest first.
    pub async fn all_results(&self, project: &Project) -> Result<Vec<CandidateResult>> {
        match by_evaluators(project) {
            Some(filter) => self.summarised(&project.company, project.id, filter).await,
            None => Ok(Vec::new()),
        }
    }

    /// All candidates whom somebody has vetoed, the oldest first.
    pub async fn all_vetoed(&self, company: &CompanyId, project: ProjectId) -> Result<Vec<CandidateResult>> {
        let filter = RowFilter::any([vec!["vetos".to_owned()]]);
        self.summarised(company, project, filter).await
    }

    async fn summarised(
        &self,
        company: &CompanyId,
        project: ProjectId,
        filter: RowFilter,
    ) -> Result<Vec<CandidateResult>> {
        let query = Query::of(&keys::results(company, project)).filtered(filter);
        summaries(self.query_rows(query, usize::MAX).await?)
    }

    /// Writes the summaries of a project's candidates that are missing or wrong, and returns their number. `expected` are
    /// those of all its candidates that can be read, with the version from which they follow.
    pub(super) async fn mend_summaries(
        &self,
        company: &CompanyId,
        project: ProjectId,
        mut expected: BTreeMap<CandidateId, (u64, Option<ResultSummary>)>,
    ) -> Result<usize> {
        let mut wrong = Vec::new();
        for row in self.all_items(&keys::results(company, project)).await? {
            let key = item::key_of(&row)?;
            let Some(candidate) = keys::result_in(&key) else { continue };
            let (unchanged, summary) = match expected.remove(&candidate) {
                Some((version, summary)) => (WriteCondition::Version(version), summary),
                None => (WriteCondition::Absent, None),
            };
            let stored = item::value_in::<ResultSummary>(&row).ok();
            if summary.is_none() || stored != summary {
                wrong.push((candidate, unchanged, summary));
            }
        }
        let missing = expected.into_iter().filter(|(_, (_, summary))| summary.is_some());
        wrong.extend(
            missing.map(|(candidate, (version, summary))| {
                (candidate, WriteCondition::Version(version), summary)
            }),
        );
        let mut mended = 0;
        for (candidate, unchanged, summary) in wrong {
            let mut transaction = self.transaction();
            // What was counted may be outdated by now: the candidate must still be the one from whom it follows.
            transaction.require(keys::candidate(company, project, candidate), unchanged, Error::Changed);
            transaction.put_summary(keys::result(company, project, candidate), summary);
            match self.commit(transaction).await {
                // The other change of the candidate has written the summary.
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

fn cards_of(company: &CompanyId, project: ProjectId, candidate: CandidateId) -> Query {
    let partition = string(keys::scorecards(company, project).pk);
    Query::new(TABLE, partition).starting_with(format!("{candidate}#"))
}

/// Selects what an evaluator of the project has completed; none without evaluators.
fn by_evaluators(project: &Project) -> Option<RowFilter> {
    let paths = project.staff.evaluators.iter().map(|by| vec!["by".to_owned(), by.to_string()]);
    (!project.staff.evaluators.is_empty()).then(|| RowFilter::any(paths))
}

fn summaries(rows: Vec<item::Item>) -> Result<Vec<CandidateResult>> {
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(candidate) = keys::result_in(&item::key_of(&row)?) else { continue };
        let summary = item::or_skipped(item::value_in(&row))?;
        found.extend(summary.map(|summary| CandidateResult { candidate, summary }));
    }
    Ok(found)
}

impl Transaction {
    /// Writes a project's new roster, if it is new.
    pub(super) fn roster(&mut self, project: &VersionedItem<Project>, roster: EvaluatorIndex) {
        if roster != project.roster {
            self.replace(project, &Project { roster, ..Project::clone(project) });
        }
    }

    /// Writes the summary of the evaluations of `after`, if it is another than before.
    pub(super) fn summary(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) {
        let Some(Candidate { company, project, id, .. }) = after.or(before) else { return };
        let summary = after.and_then(ResultSummary::of);
        if before.and_then(ResultSummary::of) != summary {
            self.put_summary(keys::result(company, *project, *id), summary);
        }
    }

    fn put_summary(&mut self, key: ItemKey, summary: Option<ResultSummary>) {
        match summary {
            Some(summary) => {
                if let Some(item) = self.or_fault(item::bare_of(&summary)) {
                    self.put_derived(key, item);
                }
            }
            None => self.delete_derived(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::candidate::{CandidateStatus, EvaluationReport};
    use crate::domain::id::Id;
    use crate::domain::roster::MAX_SEATS;
    use crate::domain::samples;
    use crate::domain::scorecard::{RatingValues, ScoreNumbers};

    #[test]
    fn a_candidate_whom_everybody_has_evaluated_fits_in_its_items() {
        let mut candidate = Candidate { status: CandidateStatus::Interviewed, ..samples::candidate() };
        let mut roster = EvaluatorIndex::default();
        for by in (0..MAX_SEATS).map(|seat| samples::customer(seat as u8)) {
            let questions = (0..30).map(|byte| (Id::from_bytes([byte; 16]), 10_000)).collect();
            let criteria = (0..20).map(|byte| (Id::from_bytes([byte; 16]), 10_000)).collect();
            let rated = Some(RatingValues { maximum: 1_000, questions, criteria });
            let veto = Some(Id::from_bytes([7; 16]));
            let at = DateTime::UNIX_EPOCH;
            candidate.scores.insert(by, ScoreNumbers { revision: 1_000, saved_at: at, rated, veto });
            let seat = roster.take_seat(by).unwrap();
            candidate.evaluations.insert(by, EvaluationReport { completed: true, at, seat });
        }
        // DynamoDB's 400 KB leave room for the rest of the candidate. JSON takes more than DynamoDB counts.
        assert!(serde_json::to_string(&candidate).unwrap().len() < 300_000);
        assert!(serde_json::to_string(&ResultSummary::of(&candidate)).unwrap().len() < 300_000);
    }
}
