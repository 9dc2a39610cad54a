//! Access patterns of requests for help. A request is an attribute of its candidate; while it is open, a mark in the
//! project's partition names the candidate.

use chrono::{DateTime, Utc};

use crate::domain::candidate::Candidate;
use crate::domain::effect::Effect;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::transition::CandidateChange;
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, VersionedItem};
use crate::store::table::keys;
use crate::store::table::write::transaction::Transaction;

impl Store {
    /// Changes a candidate who asks for help, and records the effect that notifies staff.
    pub fn ask_for_help(
        &self,
        before: &VersionedItem<Candidate>,
        change: &CandidateChange,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.change_candidate(before, change, now);
        transaction.effect(Effect::of_help_request(&change.candidate, before.version() + 1, now));
        transaction
    }

    /// The candidates of a project whose request for help is open, oldest candidate first. Some may have been answered since.
    pub async fn candidates_asking_for_help(
        &self,
        company: &CompanyId,
        project: ProjectId,
    ) -> Result<Vec<CandidateId>> {
        let marks = keys::open_help_requests(company, project);
        let rows = self.all_items(&marks).await?;
        rows.iter().map(|row| marks.id_in(row)?.parse().map_err(Error::internal)).collect()
    }
}

impl Transaction {
    /// Writes or deletes the mark of an open request.
    pub(super) fn help_request(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) {
        let is_open = |candidate: Option<&Candidate>| {
            candidate.is_some_and(|candidate| candidate.open_help_request().is_some())
        };
        let Some(Candidate { company, project, id, .. }) = after.or(before) else { return };
        let mark = keys::open_help_requests(company, *project).key(id);
        match (is_open(before), is_open(after)) {
            (false, true) => self.put_derived(mark, item::bare([])),
            (true, false) => self.delete_derived(mark),
            _ => {}
        }
    }
}
