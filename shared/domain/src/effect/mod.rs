//! Effects: work that follows from a change, recorded in the same transaction.

pub mod deletion;
mod recordings;
mod task;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::export::{CompanyExport, ExportMail};
use super::history::erasure::{ErasedItem, ErasureCause, ErasureCounts};
use super::history::{ChangeAuthor, ResourceRef};
use super::id::{CompanyId, CustomerId};
use super::mail::address_change::AccountEmail;
use super::staff::customer::Customer;
use super::staff::ended_interviews::EndedInterviews;
use super::staff::help_notice::{AskedHelp, HelpNotice};
use super::staff::named_token::{MadeByToken, NamedToken};
use super::staff::notice::InterviewNotice;
use super::transition::CandidateChange;
use super::webhook::{Webhook, WebhookMail};
use super::work::WorkState;

pub use task::{EffectTask, FormerCustomer};

use deletion::ItemDeletion;

/// The maximum number of tries.
pub const ATTEMPTS: u32 = 8;
/// How long an effect may be postponed.
const PATIENCE: TimeDelta = TimeDelta::days(3);
/// How long a mail or a conversion that was given up is kept for the operator.
const KEPT: TimeDelta = TimeDelta::days(90);
/// How long a mail that contains personal data is kept after it was given up.
// A password reset contains what a user typed, and leads to keys that work for hours. A farewell contains the address of a
// deleted customer.
const PERSONAL_KEPT: TimeDelta = TimeDelta::days(1);
/// The duration of a lease. After it, another worker may try the effect.
const LEASE: TimeDelta = TimeDelta::minutes(2);
/// The maximum number of owners who get a mail about a webhook, an export or how staff sign in.
// The mails are recorded in one transaction with the change that they report.
const MAILED_OWNERS: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Derived from the company and the cause, so that a cause has each effect only once.
    pub id: String,
    /// The company of the effect.
    pub company: CompanyId,
    /// The work.
    pub task: EffectTask,
    pub created_at: DateTime<Utc>,
    /// Tries, including the current one.
    pub attempts: u32,
    /// When the effect may be tried next; idle once it is given up.
    pub work: WorkState,
    /// When the effect was given up; `None` if it was not.
    pub given_up_at: Option<DateTime<Utc>>,
    /// The operator's last retry of the effect.
    pub retried_at: Option<DateTime<Utc>>,
}

impl Effect {
    /// The effect `task` of `cause`, for example one write of one item, at `now`.
    ///
    /// Due after a minute: the table's stream normally delivers it earlier.
    pub fn new(company: CompanyId, cause: impl fmt::Display, task: EffectTask, now: DateTime<Utc>) -> Self {
        Self {
            // A company and its imported copy have candidates with the same identifiers.
            id: format!("{company}.{cause}-{}", task.as_str()),
            company,
            task,
            created_at: now,
            attempts: 0,
            work: WorkState::due(now + TimeDelta::minutes(1)),
            given_up_at: None,
            retried_at: None,
        }
    }

    /// The mail about a change of a candidate; `None` if the change causes none. `version` is the candidate's version after the write.
    pub fn of_change(change: &CandidateChange, version: u64, now: DateTime<Utc>) -> Option<Self> {
        let candidate = &change.candidate;
        let task = EffectTask::CandidateMail {
            project: candidate.project,
            candidate: candidate.id,
            mail: change.mail?,
        };
        Some(Self::new(candidate.company.clone(), format_args!("{}-{version}", candidate.id), task, now))
    }

    /// The invitation of a customer. `version` is the customer's version after the write.
    pub fn of_invitation(customer: &Customer, version: u64, now: DateTime<Utc>) -> Self {
        let task = EffectTask::CustomerInvitation { customer: customer.id };
        Self::new(customer.company.clone(), format_args!("{}-{version}", customer.id), task, now)
    }

    /// The mails about a change of an account's address by `by`: one to the new address if its holder has to confirm it, and one
    /// to the former address. `version` is the account's version after the write.
    pub fn of_address_change(
        before: AccountEmail<'_>,
        after: AccountEmail<'_>,
        by: ChangeAuthor,
        version: u64,
        now: DateTime<Utc>,
    ) -> Vec<Self> {
        let pending = |address: AccountEmail<'_>| address.pending.map(|pending| pending.email.clone());
        let is_requested = pending(after).is_some() && pending(after) != pending(before);
        let told = after.keys.change_since(before.keys);
        let told = told.map(|former| {
            let task =
                EffectTask::AddressChanged { account: after.account, changed_at: former.changed_at, by };
            Self::of_address(after, task, version, now)
        });
        is_requested.then(|| Self::of_confirmation(after, version, now)).into_iter().chain(told).collect()
    }

    /// The mail with which an account's holder confirms a new address. `version` is the account's version after the write.
    pub fn of_confirmation(address: AccountEmail<'_>, version: u64, now: DateTime<Utc>) -> Self {
        let task = EffectTask::AddressConfirmation { account: address.account };
        Self::of_address(address, task, version, now)
    }

    fn of_address(address: AccountEmail<'_>, task: EffectTask, version: u64, now: DateTime<Utc>) -> Self {
        Self::new(address.company.clone(), format_args!("{}-{version}", address.account.id()), task, now)
    }

    /// The mails after an account's holder has restored a former address: one to each of the other owners among `staff`, unless
    /// they cannot log in or take no mails, up to `MAILED_OWNERS`; and, if a later address had replaced the restored one, one to
    /// the restored address to choose a password. `version` is the account's version after the write.
    pub fn of_address_restoration<'a>(
        before: AccountEmail<'_>,
        after: AccountEmail<'_>,
        staff: impl IntoIterator<Item = &'a Customer>,
        version: u64,
        now: DateTime<Utc>,
    ) -> Vec<Self> {
        let account = after.account;
        let is_told =
            |owner: &&Customer| owner.account() != account && owner.is_owner_at_work() && owner.takes_mail();
        let mails = staff.into_iter().filter(is_told).take(MAILED_OWNERS).map(|owner| {
            let cause = format_args!("{}-{}-{version}", account.id(), owner.id);
            let task = EffectTask::AddressRestored { owner: owner.id, account };
            Self::new(after.company.clone(), cause, task, now)
        });
        let reset = after.email.filter(|_| before.email != after.email).map(|email| {
            let task = EffectTask::PasswordReset { name: email.as_str().to_owned() };
            Self::of_address(after, task, version, now)
        });
        mails.chain(reset).collect()
    }

    /// The mails about a change of the settings of sign-in by `by`: one to each owner among `customers`, unless they cannot log
    /// in or take no mails, up to `MAILED_OWNERS`. `version` is the version of the settings after the write.
    pub fn of_sign_in<'a>(
        company: &CompanyId,
        by: ChangeAuthor,
        customers: impl IntoIterator<Item = &'a Customer>,
        version: u64,
        now: DateTime<Utc>,
    ) -> Vec<Self> {
        let owners =
            customers.into_iter().filter(|customer| customer.is_owner_at_work() && customer.takes_mail());
        let effects = owners.take(MAILED_OWNERS).map(|owner| {
            let task = EffectTask::SignInChanged { customer: owner.id, by, is_own: false };
            Self::new(company.clone(), format_args!("{}-{version}", owner.id), task, now)
        });
        effects.collect()
    }

    /// The mail to a customer about a change by `by` of their link to an identity at the provider. `version` is the customer's
    /// version after the write.
    pub fn of_sign_in_link(customer: &Customer, by: ChangeAuthor, version: u64, now: DateTime<Utc>) -> Self {
        let task = EffectTask::SignInChanged { customer: customer.id, by, is_own: true };
        Self::new(customer.company.clone(), format_args!("{}-link-{version}", customer.id), task, now)
    }

    /// The mail to a customer about ended interviews. `version` is the version of their notice after the write.
    pub fn of_notice(
        notice: &InterviewNotice,
        interviews: EndedInterviews,
        version: u64,
        now: DateTime<Utc>,
    ) -> Self {
        let customer = notice.customer;
        let task = EffectTask::InterviewNotice { customer, interviews };
        Self::new(notice.company.clone(), format_args!("{customer}-{version}"), task, now)
    }

    /// The mail that reminds a customer of evaluations. `version` is the version of their notice after the write.
    pub fn of_reminder(
        notice: &InterviewNotice,
        interviews: EndedInterviews,
        version: u64,
        now: DateTime<Utc>,
    ) -> Self {
        let customer = notice.customer;
        let task = EffectTask::EvaluationReminder { customer, interviews };
        Self::new(notice.company.clone(), format_args!("{customer}-{version}"), task, now)
    }

    /// The search for the people to tell about a candidate's open request for help; `None` without one. `version` is the
    /// candidate's version after the write.
    pub fn of_help_request(candidate: &Candidate, version: u64, now: DateTime<Utc>) -> Option<Self> {
        let task = EffectTask::HelpRequested { asked: candidate.asked_help()? };
        Some(Self::new(candidate.company.clone(), format_args!("{}-{version}", candidate.id), task, now))
    }

    /// The mail about candidates' requests for help: it names those in `asked` and the number of `more` requests. `version` is
    /// the version of the recipient's notice after the write.
    pub fn of_help_notice(
        notice: &HelpNotice,
        asked: Vec<AskedHelp>,
        more: usize,
        version: u64,
        now: DateTime<Utc>,
    ) -> Self {
        let recipient = notice.recipient;
        let task = EffectTask::HelpNotice { recipient, asked, more };
        Self::new(notice.company.clone(), format_args!("{}-{version}", recipient.name()), task, now)
    }

    /// The mails about a webhook: one to each owner among `customers`, unless they cannot log in or take no mails, up to
    /// `MAILED_OWNERS`. `version` is the version of the webhook, or of its cursor, after the write.
    pub fn of_webhook<'a>(
        webhook: &Webhook,
        mail: WebhookMail,
        customers: impl IntoIterator<Item = &'a Customer>,
        version: u64,
        now: DateTime<Utc>,
    ) -> Vec<Self> {
        let owners =
            customers.into_iter().filter(|customer| customer.is_owner_at_work() && customer.takes_mail());
        let effects = owners.take(MAILED_OWNERS).map(|owner| {
            let (webhook, company, customer) = (webhook.id, webhook.company.clone(), owner.id);
            let cause = format_args!("{webhook}-{customer}-{version}");
            Self::new(company, cause, EffectTask::WebhookMail { customer, webhook, mail }, now)
        });
        effects.collect()
    }

    /// The mails about an export: one to each owner among `customers`, unless they cannot log in or take no mails, up to
    /// `MAILED_OWNERS`.
    pub fn of_export<'a>(
        export: &CompanyExport,
        mail: ExportMail,
        customers: impl IntoIterator<Item = &'a Customer>,
        now: DateTime<Utc>,
    ) -> Vec<Self> {
        let owners =
            customers.into_iter().filter(|customer| customer.is_owner_at_work() && customer.takes_mail());
        let effects = owners.take(MAILED_OWNERS).map(|owner| {
            let task = EffectTask::ExportMail { customer: owner.id, export: export.id, mail };
            Self::new(export.company.clone(), format_args!("{}-{}", export.id, owner.id), task, now)
        });
        effects.collect()
    }

    /// The deletion of everything that a named token has made; `None` if it has made nothing. `by` is the owner who deletes it
    /// together with the token.
    pub fn of_token(
        token: &NamedToken,
        made: BTreeSet<MadeByToken>,
        by: CustomerId,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let task = EffectTask::MadeByTokenDeleted { token: token.id, made: made.clone(), by };
        (!made.is_empty()).then(|| Self::new(token.company.clone(), token.id, task, now))
    }

    /// A deletion that starts at `now`. The request itself is the first try: the stream skips the effect, and the sweep retries
    /// it after the lease.
    pub fn of_deletion(company: CompanyId, deletion: ItemDeletion, now: DateTime<Utc>) -> Self {
        let id = Self::id_of_deletion(&company, &deletion);
        let begun = Self::new(company, &deletion, EffectTask::Deletion { deletion: deletion.clone() }, now);
        Self { id, attempts: 1, work: WorkState::leased(now + LEASE), ..begun }
    }

    /// The identifier of the effect of a deletion.
    pub fn id_of_deletion(company: &CompanyId, deletion: &ItemDeletion) -> String {
        format!("{company}.{deletion}-deletion")
    }

    /// The erasure of what a deletion at `now` leaves behind. The deletion's transaction deletes this number of `items`.
    pub fn of_erasure(
        company: CompanyId,
        erased: ErasedItem,
        cause: ErasureCause,
        items: usize,
        now: DateTime<Utc>,
    ) -> Self {
        let ErasureCause { reason, deleted_before, settles_at } = cause;
        // The cause includes the second, because a restored table can cause the same erasure again.
        let cause = format!("{}-{}", ResourceRef::from(erased).history_id(&company), now.timestamp());
        let counts = ErasureCounts { items, ..ErasureCounts::default() };
        let found = ErasureCounts::default();
        let task = EffectTask::Erased { erased, reason, counts, found, deleted_before, settles_at };
        Self::new(company, cause, task, now)
    }

    /// The time of the deletion whose remains the effect with this identifier erases; `None` for other effects.
    pub fn deletion_in(id: &str) -> Option<DateTime<Utc>> {
        let (_, seconds) = id.strip_suffix("-erased")?.rsplit_once('-')?;
        DateTime::from_timestamp(seconds.parse().ok()?, 0)
    }

    /// Whether a worker may try the effect at `now`.
    pub fn is_waiting(&self, now: DateTime<Utc>) -> bool {
        self.work.is_due(now) || (self.attempts == 0 && !self.is_given_up())
    }

    /// Leases the effect to a worker at `now`, or gives it up after too many tries.
    pub fn lease(self, now: DateTime<Utc>) -> Self {
        if self.attempts >= ATTEMPTS {
            return self.give_up(now);
        }
        Self { attempts: self.attempts + 1, work: WorkState::leased(now + LEASE), ..self }
    }

    /// Whether the effect was given up.
    pub fn is_given_up(&self) -> bool {
        self.work == WorkState::IDLE
    }

    /// The effect after a failed try at `now`: due again after a growing delay, or given up after too many tries.
    pub fn fail(self, now: DateTime<Utc>) -> Self {
        if self.attempts >= ATTEMPTS {
            return self.give_up(now);
        }
        // About four hours in total.
        let delay = TimeDelta::minutes(1 << self.attempts);
        Self { work: WorkState::due(now + delay), ..self }
    }

    /// The effect after a try at `now` that failed for external reasons. Such a try does not count, but after three days the
    /// effect is given up. The delay grows from a minute to an hour.
    pub fn postpone(self, now: DateTime<Utc>) -> Self {
        let waited = now - self.retried_at.unwrap_or(self.created_at);
        // SES refuses mails because of rate, sender or account. Trying for days loses no mail while a sender awaits verification.
        if waited > PATIENCE {
            return self.give_up(now);
        }
        // Short at first, in case of a rate limit; longer later, in case a sender awaits verification.
        let delay = (waited / 30).clamp(TimeDelta::minutes(1), TimeDelta::hours(1));
        self.release(now + delay)
    }

    /// Ends the lease after a try that has done a part of the work, so that the try does not count. Due again at `due_at`.
    pub fn release(self, due_at: DateTime<Utc>) -> Self {
        // 0 would mean an effect that was never tried.
        let attempts = self.attempts.saturating_sub(1).max(1);
        Self { attempts, work: WorkState::due(due_at), ..self }
    }

    /// The effect after a try that found nothing left to erase, while clients may still upload files: due again when they no
    /// longer can. The try does not count.
    pub fn settle(self) -> Self {
        match self.task {
            EffectTask::Erased { settles_at: Some(at), .. } => self.release(at),
            _ => self,
        }
    }

    /// Whether everything is erased, and the effect only waits until no more files can arrive.
    pub fn is_settling(&self) -> bool {
        matches!(self.task, EffectTask::Erased { settles_at: Some(at), .. } if self.work == WorkState::due(at))
    }

    /// Gives up the effect at `now`; only the operator can retry it.
    pub fn give_up(self, now: DateTime<Utc>) -> Self {
        Self { work: WorkState::IDLE, given_up_at: Some(now), ..self }
    }

    /// Resets the effect at `now`, as if it had not been tried.
    pub fn retry(self, now: DateTime<Utc>) -> Self {
        Self { attempts: 0, work: WorkState::due(now), given_up_at: None, retried_at: Some(now), ..self }
    }

    /// When the effect and its personal data are deleted; `None` while it may still be tried.
    pub fn forgotten_at(&self) -> Option<DateTime<Utc>> {
        let is_personal =
            matches!(self.task, EffectTask::PasswordReset { .. } | EffectTask::CustomerDeleted { .. });
        let kept = if is_personal { PERSONAL_KEPT } else { KEPT };
        // Deletions are kept: otherwise the data that they have to delete would stay forever.
        self.given_up_at.filter(|_| !self.task.is_deletion()).map(|at| at + kept)
    }
}
