//! What the platform's other parts report, taken in once each.

use chrono::{DateTime, TimeDelta, Utc};

use super::Store;
use super::item::{EXPIRES_AT, Item, VERSION, Versioned, number};
use super::keys;
use super::transaction::Transaction;
use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, ProjectId};
use crate::domain::project::Project;
use crate::domain::roster::Roster;
use crate::domain::transition::Step;
use crate::error::{Error, Result};

/// How long an event that comes again is known: longer than any bus goes on trying.
const REMEMBERED: TimeDelta = TimeDelta::days(14);

/// What a report is about.
#[derive(Debug)]
pub struct Reported {
    /// The candidate; none when there is none, or none any more.
    pub candidate: Option<Versioned<Candidate>>,
    /// The candidate's project; none when there is none.
    pub project: Option<Versioned<Project>>,
    /// Whether the customer whom the report names is one of the company.
    pub knows_customer: bool,
    /// Whether the event was taken in before.
    pub is_known: bool,
}

impl Store {
    /// Reads what the event with this id is about.
    pub async fn reported(
        &self,
        event: &str,
        (company, project, candidate): (&CompanyId, ProjectId, CandidateId),
        customer: Option<CustomerId>,
    ) -> Result<Reported> {
        let event = keys::event(event);
        let candidate = keys::candidate(company, project, candidate);
        let project = keys::project(company, project);
        let customer = customer.map(|customer| keys::customer(company, customer));
        let all = [&event, &candidate, &project].into_iter().chain(&customer);
        let mut batch = self.get(all.cloned()).await?;
        Ok(Reported {
            candidate: batch.take(&candidate)?,
            project: batch.take(&project)?,
            knows_customer: customer.is_some_and(|customer| batch.take_item(&customer).is_some()),
            is_known: batch.take_item(&event).is_some(),
        })
    }

    /// Lets a candidate become what the event with this id makes it, unless the event was taken in before, and notes in
    /// its project who has taken a seat in the roster.
    ///
    /// # Errors
    /// [`Error::Changed`] when the candidate, the roster, or what is known of the event, has changed meanwhile.
    pub fn take_report(
        &self,
        event: &str,
        (before, after): (&Versioned<Candidate>, Candidate),
        (project, roster): (&Versioned<Project>, Roster),
        now: DateTime<Utc>,
    ) -> Transaction {
        let step = Step::from(after);
        let mut transaction = self.transaction();
        let forgotten = (now + REMEMBERED).timestamp();
        let mark = Item::from([(VERSION.to_owned(), number(1)), (EXPIRES_AT.to_owned(), number(forgotten))]);
        transaction.create_item(keys::event(event), mark, Error::Changed);
        transaction.step(before, &step, now);
        if roster != project.roster {
            transaction.replace(project, &Project { roster, ..Project::clone(project) });
        }
        transaction
    }
}
