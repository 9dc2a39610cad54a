//! Access patterns of events that other parts of the platform publish. Each event is applied once.

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::candidate::Candidate;
use crate::domain::company::import::CompanyImport;
use crate::domain::evaluation::evaluator_index::EvaluatorIndex;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, ProjectId};
use crate::domain::project::Project;
use crate::domain::transition::CandidateChange;
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, EXPIRES_AT, VersionedItem, number};
use crate::store::table::keys;
use crate::store::table::write::condition::WriteCondition;
use crate::store::table::write::transaction::Transaction;

/// How long the mark of an applied event is kept: longer than an event bus may redeliver it.
const REMEMBERED: TimeDelta = TimeDelta::days(14);

/// What an event is about, and whether it may be applied.
#[derive(Debug)]
pub struct ReportSubject {
    /// The candidate, if they exist.
    pub candidate: Option<VersionedItem<Candidate>>,
    /// The candidate's project, if it exists.
    pub project: Option<VersionedItem<Project>>,
    /// Whether the customer whom the event names belongs to the company.
    pub knows_customer: bool,
    /// Whether the company was imported and has not started.
    pub awaits_start: bool,
    /// Whether the event was applied before.
    pub is_known: bool,
}

impl Store {
    /// Reads, in one round trip, what an event is about.
    pub async fn load_report_subject(
        &self,
        event: &str,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
        customer: Option<CustomerId>,
    ) -> Result<ReportSubject> {
        let event = keys::event(event);
        let candidate = keys::candidate(company, project, candidate);
        let project = keys::project(company, project);
        let customer = customer.map(|customer| keys::customer(company, customer));
        let import = keys::company_import(company);
        let all = [&event, &candidate, &project, &import].into_iter().chain(&customer);
        let mut batch = self.get(all.cloned()).await?;
        Ok(ReportSubject {
            candidate: batch.take(&candidate)?,
            project: batch.take(&project)?,
            knows_customer: customer.is_some_and(|customer| batch.take_item(&customer).is_some()),
            awaits_start: batch.take::<CompanyImport>(&import)?.is_some_and(|import| import.awaits_start()),
            is_known: batch.take_item(&event).is_some(),
        })
    }

    /// Applies an event: changes the candidate and the project's index of evaluators. Fails with [`Error::Changed`]
    /// also if the event has been applied in the meantime.
    pub fn apply_report(
        &self,
        event: &str,
        before: &VersionedItem<Candidate>,
        change: &CandidateChange,
        project: &VersionedItem<Project>,
        evaluator_index: EvaluatorIndex,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        let mark = item::bare([(EXPIRES_AT, number((now + REMEMBERED).timestamp()))]);
        // Write the mark in the same transaction, so that an event that is delivered twice is applied once.
        transaction.put(keys::event(event), mark, WriteCondition::Absent, Error::Changed);
        transaction.change_candidate(before, change, now);
        transaction.evaluator_index(project, evaluator_index);
        transaction
    }
}
