//! Access patterns of mails to staff about ended interviews: the position in the feed from which to read them, and
//! those that wait for each customer's next mail.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::effect::Effect;
use crate::domain::history::HistoryEntry;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, ProjectId};
use crate::domain::project::Project;
use crate::domain::staff::customer::Customer;
use crate::domain::staff::ended_interviews::{EndedInterview, EndedInterviews};
use crate::domain::staff::notice::{InterviewNotice, InterviewWave};
use crate::error::Result;
use crate::store::due::{DuePages, DueQueue};
use crate::store::table::handle::Store;
use crate::store::table::item::{DueEntry, StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::retry::RetryPolicy;
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for InterviewWave {
    fn key(&self) -> ItemKey {
        keys::interview_wave(&self.company)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let company = &self.company;
        let shard = DueQueue::InterviewWaves.shard_of_text(company.as_str());
        Some(DueEntry { shard, at: self.read_at, company })
    }
}

impl StoredEntity for InterviewNotice {
    fn key(&self) -> ItemKey {
        keys::interview_notice(&self.company, self.customer)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let shard = DueQueue::InterviewNotices.shard_of(self.customer);
        Some(DueEntry { shard, at: self.next_mail_at?, company: &self.company })
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        self.forgotten_at()
    }
}

impl Transaction {
    /// If one of these numbered events is the end of an interview, begins the company's wave at the first such event,
    /// or writes the wave again if it has begun. Returns the wave.
    // Every batch with an end writes the wave, so that the run that ends the wave fails if it has missed one.
    pub(in crate::store) fn note_interviews(
        &mut self,
        wave: Option<VersionedItem<InterviewWave>>,
        events: &[HistoryEntry],
        now: DateTime<Utc>,
    ) -> Result<Option<VersionedItem<InterviewWave>>> {
        let mut ends = events.iter().filter(|event| EndedInterview::of_event(event).is_some());
        let Some((first, number)) = ends.next().and_then(|event| Some((event, event.sequence?))) else {
            return Ok(wave);
        };
        let begun = InterviewWave::begun(first.change.company.clone(), number, now);
        let before = wave.unwrap_or_else(|| VersionedItem::not_stored(begun));
        let after = InterviewWave::clone(&before);
        self.save(&before, &after);
        before.followed_by(after).map(Some)
    }
}

/// What a mail about ended interviews needs. What has been deleted or cannot be read is missing.
pub struct NoticeSubject {
    pub company: Option<VersionedItem<Company>>,
    /// The recipient.
    pub customer: Option<VersionedItem<Customer>>,
    pub projects: HashMap<ProjectId, VersionedItem<Project>>,
    pub candidates: HashMap<CandidateId, VersionedItem<Candidate>>,
}

impl Store {
    /// The waves of ended interviews that are due, i.e. of which staff must now be notified.
    pub fn due_interview_waves(&self, now: DateTime<Utc>) -> DuePages<'_, InterviewWave> {
        self.due(DueQueue::InterviewWaves, now)
    }

    /// The notices whose mail is due.
    pub fn due_interview_notices(&self, now: DateTime<Utc>) -> DuePages<'_, InterviewNotice> {
        self.due(DueQueue::InterviewNotices, now)
    }

    /// Reads the wave of a company; `None` if staff have been notified of all ended interviews.
    pub async fn interview_wave(&self, company: &CompanyId) -> Result<Option<VersionedItem<InterviewWave>>> {
        self.one(keys::interview_wave(company)).await
    }

    /// Notes that the wave of a company has been read up to event number `after`. Does nothing if the wave has ended or
    /// has been read further. Retries if interviews end at the same time.
    pub async fn move_interview_wave(&self, company: &CompanyId, after: u64) -> Result<()> {
        let move_on = async || match self.interview_wave(company).await? {
            Some(wave) if wave.after < after => {
                let moved = InterviewWave { after, ..InterviewWave::clone(&wave) };
                self.replace(&wave, moved).await.map(drop)
            }
            _ => Ok(()),
        };
        self.retry_on_conflict(RetryPolicy::CHANGE, move_on).await
    }

    /// Ends a wave that has been read to its end. Fails with [`Error::Changed`](crate::Error::Changed) if more interviews have ended.
    pub async fn end_interview_wave(&self, wave: &VersionedItem<InterviewWave>) -> Result<()> {
        self.erase(wave).await
    }

    /// Reads projects by their identifiers. Those that do not exist or cannot be read are missing.
    pub async fn projects_by_id(
        &self,
        company: &CompanyId,
        ids: impl IntoIterator<Item = ProjectId>,
    ) -> Result<Vec<VersionedItem<Project>>> {
        self.listed(ids.into_iter().map(|id| keys::project(company, id)).collect()).await
    }

    /// Adds interviews, each with the number of its event, to the notice of a customer. The feed has been read up to
    /// number `reached`. Does nothing if the notice already has these events.
    pub async fn add_to_notice(
        &self,
        company: &CompanyId,
        customer: CustomerId,
        interviews: &[(u64, EndedInterview)],
        reached: u64,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let add = async || {
            let before = self.notice_of(company, customer).await?;
            let after = InterviewNotice::clone(&before).with_ended(interviews.iter().copied(), reached, now);
            if after == *before {
                return Ok(());
            }
            self.save(&before, after).await.map(drop)
        };
        self.retry_on_conflict(RetryPolicy::CHANGE, add).await
    }

    pub(super) async fn notice_of(
        &self,
        company: &CompanyId,
        customer: CustomerId,
    ) -> Result<VersionedItem<InterviewNotice>> {
        let found = self.one(keys::interview_notice(company, customer)).await?;
        Ok(found
            .unwrap_or_else(|| VersionedItem::not_stored(InterviewNotice::new(company.clone(), customer))))
    }

    /// Records the effect of a mail with all ended interviews that wait for a customer.
    pub fn hand_over_notice(
        &self,
        notice: &VersionedItem<InterviewNotice>,
        now: DateTime<Utc>,
    ) -> Transaction {
        let (after, told) = InterviewNotice::clone(notice).handed_over(now);
        let mut transaction = self.transaction();
        transaction.effect(Some(Effect::of_notice(&after, told, notice.version() + 1, now)));
        transaction.replace(notice, &after);
        transaction
    }

    /// Deletes the effect of a mail that was given up, and puts its interviews back into the notice for the next mail.
    /// Fails with [`Error::Changed`](crate::Error::Changed) if another worker holds the lease.
    pub async fn return_to_notice(
        &self,
        effect: &VersionedItem<Effect>,
        customer: CustomerId,
        told: &EndedInterviews,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let give_back = async || {
            let before = self.notice_of(&effect.company, customer).await?;
            let mut transaction = self.transaction();
            transaction.delete(effect);
            transaction.save(&before, &InterviewNotice::clone(&before).with_given_up(told.clone(), now));
            self.commit(transaction).await
        };
        self.retry_on_conflict(RetryPolicy::CHANGE, give_back).await
    }

    /// Reads what a mail to a customer about these interviews needs.
    pub async fn notice_subject(
        &self,
        company: &CompanyId,
        customer: CustomerId,
        interviews: &EndedInterviews,
    ) -> Result<NoticeSubject> {
        let projects: HashMap<ProjectId, ItemKey> =
            interviews.projects().into_iter().map(|id| (id, keys::project(company, id))).collect();
        let key_of =
            |interview: &EndedInterview| keys::candidate(company, interview.project, interview.candidate);
        let [company, customer] = [keys::company(company), keys::customer(company, customer)];
        let wanted = [company.clone(), customer.clone()].into_iter();
        let wanted = wanted.chain(projects.values().cloned()).chain(interviews.listed.iter().map(key_of));
        let mut batch = self.get(wanted).await?;
        let mut subject = NoticeSubject {
            company: batch.take(&company)?,
            customer: batch.take(&customer)?,
            projects: HashMap::new(),
            candidates: HashMap::new(),
        };
        for (id, key) in projects {
            subject.projects.extend(batch.take_listed(&key)?.map(|project| (id, project)));
        }
        for one in &interviews.listed {
            subject.candidates.extend(batch.take_listed(&key_of(one))?.map(|found| (one.candidate, found)));
        }
        Ok(subject)
    }
}
