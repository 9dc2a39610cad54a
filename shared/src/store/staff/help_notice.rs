//! Access patterns of mails about requests for help: the requests that wait for each recipient's next mail.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::effect::Effect;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::project::Project;
use crate::domain::staff::customer::Customer;
use crate::domain::staff::help_notice::{AskedHelp, HelpNotice, HelpRecipient};
use crate::error::Result;
use crate::store::due::{DuePages, DueQueue};
use crate::store::table::handle::Store;
use crate::store::table::item::{DueEntry, StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::retry::RetryPolicy;
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for HelpNotice {
    fn key(&self) -> ItemKey {
        keys::help_notice(&self.company, self.recipient)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let shard = DueQueue::HelpNotices.shard_of_text(&self.recipient.name());
        Some(DueEntry { shard, at: self.next_mail_at?, company: &self.company })
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        self.forgotten_at()
    }
}

/// What a mail about requests for help needs. What has been deleted or cannot be read is missing.
pub struct HelpSubject {
    pub company: Option<VersionedItem<Company>>,
    /// The recipient; `None` also if the mail goes to a project's contact.
    pub customer: Option<VersionedItem<Customer>>,
    pub projects: HashMap<ProjectId, VersionedItem<Project>>,
    pub candidates: HashMap<CandidateId, VersionedItem<Candidate>>,
}

impl Store {
    /// The notices whose mail is due.
    pub fn due_help_notices(&self, now: DateTime<Utc>) -> DuePages<'_, HelpNotice> {
        self.due(DueQueue::HelpNotices, now)
    }

    /// Notifies a recipient of a request for help: records the effect of a mail if one is due, otherwise adds the
    /// request to their next mail. Does nothing if their notice already has the request.
    pub async fn tell_of_help(
        &self,
        company: &CompanyId,
        recipient: HelpRecipient,
        asked: AskedHelp,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let tell = async || {
            let found = self.one(keys::help_notice(company, recipient)).await?;
            let before = found
                .unwrap_or_else(|| VersionedItem::not_stored(HelpNotice::new(company.clone(), recipient)));
            let after = HelpNotice::clone(&before).with_asked(asked, now);
            if after == *before {
                return Ok(());
            }
            let mut transaction = self.transaction();
            transaction.save_help_notice(&before, after, now);
            self.commit(transaction).await
        };
        self.retry_on_conflict(RetryPolicy::CHANGE, tell).await
    }

    /// Records the effect of a mail with all requests that wait for a recipient, if the mail is due.
    pub fn hand_over_help_notice(
        &self,
        notice: &VersionedItem<HelpNotice>,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.save_help_notice(notice, HelpNotice::clone(notice), now);
        transaction
    }

    /// Reads what a mail to a recipient about these requests needs.
    pub async fn help_subject(
        &self,
        company: &CompanyId,
        recipient: HelpRecipient,
        asked: &[AskedHelp],
    ) -> Result<HelpSubject> {
        let customer = match recipient {
            HelpRecipient::Customer(customer) => Some(keys::customer(company, customer)),
            HelpRecipient::Contact(_) => None,
        };
        let projects: HashMap<ProjectId, ItemKey> =
            asked.iter().map(|one| (one.project, keys::project(company, one.project))).collect();
        let key_of = |one: &AskedHelp| keys::candidate(company, one.project, one.candidate);
        let company = keys::company(company);
        let wanted = [company.clone()].into_iter().chain(customer.clone());
        let wanted = wanted.chain(projects.values().cloned()).chain(asked.iter().map(key_of));
        let mut batch = self.get(wanted).await?;
        let customer = match customer {
            Some(key) => batch.take(&key)?,
            None => None,
        };
        let mut subject = HelpSubject {
            company: batch.take(&company)?,
            customer,
            projects: HashMap::new(),
            candidates: HashMap::new(),
        };
        for (id, key) in projects {
            subject.projects.extend(batch.take_listed(&key)?.map(|project| (id, project)));
        }
        for one in asked {
            subject.candidates.extend(batch.take_listed(&key_of(one))?.map(|found| (one.candidate, found)));
        }
        Ok(subject)
    }
}

impl Transaction {
    /// Writes a notice. If its mail is due, records the effect of the mail with all requests that wait.
    fn save_help_notice(
        &mut self,
        before: &VersionedItem<HelpNotice>,
        after: HelpNotice,
        now: DateTime<Utc>,
    ) {
        if !after.is_due(now) {
            self.save(before, &after);
            return;
        }
        let (after, asked, more) = after.handed_over(now);
        self.effect(Some(Effect::of_help_notice(&after, asked, more, before.version() + 1, now)));
        self.save(before, &after);
    }
}
