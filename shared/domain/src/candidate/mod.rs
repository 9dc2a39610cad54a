//! A candidate of a project. Their rules by topic are in files with an `impl Candidate` of their own:
//! `consents`, `email_address`, `evaluations`, `guests`, `help_request`, `hold`, `interview_time`, `key`, `mails`, `opening`, `reopening` and
//! `search_words` here, and in `answers/written.rs`, `scoring/status.rs`, `transition/mod.rs`, `transition/advances.rs`,
//! `transition/cancellation.rs`, `transition/help_answer.rs`, `transition/latest_link.rs`, `transition/reminders.rs`,
//! `transition/reopening.rs`, `transition/report` and `retention/mod.rs`.

mod cancellation;
mod consents;
mod email_address;
mod evaluations;
mod guests;
mod help_request;
mod history;
mod hold;
mod interview_time;
mod key;
mod mails;
mod opening;
mod reopening;
pub mod search_words;

use std::collections::BTreeMap;

use chrono::{DateTime, Months, Utc};
use serde::{Deserialize, Serialize};

pub use cancellation::{Cancellation, CancellationReason};
pub use guests::{
    GuestLink, GuestLinkEnd, LINK_DELETED, LISTED_AFTER_END, MAX_GUEST_LINKS, NO_ANSWERS, NOT_INTERVIEWED,
    REOPENED, TOO_MANY_LINKS,
};
pub use help_request::{HelpKind, HelpRequest, HelpText, MAX_HELP_REQUESTS, NOTHING_TO_ANSWER};
pub use history::CandidateFacts;
pub use hold::ON_HOLD;
pub use interview_time::{
    ConductedInterview, EndedByTime, InterviewAdjustments, InterviewLength, MAX_EXTRA_TAKES,
    NOT_INTERVIEWING, TIME_OVER, TimeFactor,
};
pub use key::{FormerKey, KeyEnd, MAX_FORMER_KEYS};
pub use mails::EMAIL_MISSING;
pub use reopening::{Reopening, ReopeningMessage, ReopeningReason};

use super::Refusal;
use super::account::Account;
use super::evaluation::{EvaluationReport, ScoreNumbers};
use super::id::{CandidateId, CompanyId, CustomerId, GuestLinkId, ProjectId, ShareId};
use super::language::Language;
use super::mail::address_change::{EmailKeys, PendingEmail};
use super::mail::rate::{ChangeRate, MailRate, RecentMoments};
use super::mail::suppression::Suppression;
use super::media::file::{FileKind, StoredFile};
use super::names::named;
use super::partner_data::PartnerData;
use super::privacy::consent::CandidateConsent;
use super::privacy::erasure_request::ErasureRequest;
use super::privacy::hold::CandidateHold;
use super::privacy::legal::LegalKind;
use super::secret::{AccessKey, OneTimeKey, PasswordHash};
use super::text::{Email, ExternalId, ShortName, TextLine, TextLines, Username};

/// The maximum number of shares of a candidate; deleting a candidate deletes their shares in the same transaction.
pub const MAX_SHARES: usize = 50;

/// Refuses callers who are not a manager in person. Only a person may vouch for an address that its holder has not confirmed.
pub const MANAGER_CONFIRMS: Refusal = Refusal {
    code: "permission_denied",
    detail: "Only a manager who has logged in themselves may send `confirm`. Without it, candidates with a password confirm a new address, and theirs cannot be removed.",
};
/// The candidate has the maximum number of shares.
pub const TOO_MANY_SHARES: Refusal =
    Refusal { code: "too_many_shares", detail: "A candidate may have 50 shares. Delete one first." };

named! {
    /// The status of a candidate.
    #[schemars(extend("x-closed-set" = true))]
    pub enum CandidateStatus {
        /// Created but not notified.
        New = "new",
        /// Invited, but has not accepted.
        Invited = "invited",
        /// Has accepted the invitation.
        Confirmed = "confirmed",
        /// Has started the interview.
        Interviewing = "interviewing",
        /// Has completed the interview.
        Interviewed = "interviewed",
        /// Missed the deadline.
        Expired = "expired",
        /// Started but did not complete the interview.
        Aborted = "aborted",
        /// Withdrawn by a manager, before the interview or by cancelling it.
        Skipped = "skipped",
    }
}

impl CandidateStatus {
    /// Whether the candidate must act next: they are invited, or have confirmed.
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Invited | Self::Confirmed)
    }
}

/// The fields of a candidate that clients set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateProfile {
    pub first_name: ShortName,
    pub last_name: ShortName,
    /// A login name, unique in the company.
    pub username: Option<Username>,
    /// The address for mails and logins; not unique.
    pub email: Option<Email>,
    /// The client's key, unique in the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<ExternalId>,
    /// The end of the time for the interview.
    pub deadline: Option<DateTime<Utc>>,
    /// Telephone number.
    pub phone: TextLine<50>,
    /// The form of address as the client sent it, for example `mr` or `mrs`.
    pub gender: TextLine<20>,
    /// Postal address.
    pub address: TextLines<500>,
    /// A partner's own data.
    pub partner_data: PartnerData,
    /// The language of mails to the candidate, and the page's initial language; `None` for the project's language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// Whether the service mails the candidate about the interview. Otherwise the client does, and the candidate needs no address.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub receive_mails: bool,
}

/// The default for most candidates. It is not stored, because lists read items by size.
fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

/// The maximum time until a deadline: a hundred years.
const LATEST_DEADLINE: Months = Months::new(1_200);

impl CandidateProfile {
    /// Checks that a deadline is at most a hundred years after `now`. It may be in the past. The error is a message for the client.
    pub fn check_deadline(deadline: DateTime<Utc>, now: DateTime<Utc>) -> Result<DateTime<Utc>, String> {
        if now.checked_add_months(LATEST_DEADLINE).is_none_or(|latest| latest < deadline) {
            return Err("Must be within a hundred years.".to_owned());
        }
        Ok(deadline)
    }

    /// A profile with only a name.
    pub fn new(first_name: ShortName, last_name: ShortName) -> Self {
        Self {
            first_name,
            last_name,
            username: None,
            email: None,
            external_id: None,
            deadline: None,
            phone: TextLine::default(),
            gender: TextLine::default(),
            address: TextLines::default(),
            partner_data: PartnerData::default(),
            language: None,
            receive_mails: true,
        }
    }
}

/// A candidate as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    pub id: CandidateId,
    pub company: CompanyId,
    pub project: ProjectId,
    pub status: CandidateStatus,
    /// The fields that managers set.
    pub profile: CandidateProfile,
    /// The address that replaces the profile's once the candidate, who has a password, confirms it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_email: Option<PendingEmail>,
    /// The customer who created the candidate; `None` if a named token did.
    pub created_by: Option<CustomerId>,
    /// When the candidate was last invited.
    pub invited_at: Option<DateTime<Utc>>,
    /// When the candidate first opened the interview, to the minute, but not before the invitation. A repeated invitation does
    /// not reset it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<DateTime<Utc>>,
    /// When the invitation was accepted.
    pub confirmed_at: Option<DateTime<Utc>>,
    /// When the interview was completed.
    pub interviewed_at: Option<DateTime<Utc>>,
    /// When the interview was last started.
    pub started_at: Option<DateTime<Utc>>,
    /// When the last reminder was requested.
    pub reminded_at: Option<DateTime<Utc>>,
    /// The times of upcoming automatic reminders, ascending: see [`next_reminder_at`](Self::next_reminder_at).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reminders: Vec<DateTime<Utc>>,
    /// When the service last mailed the candidate about the interview.
    #[serde(default)]
    pub mailed_at: Option<DateTime<Utc>>,
    /// When the interview was last aborted.
    pub aborted_at: Option<DateTime<Utc>>,
    /// When the candidate last missed the deadline.
    #[serde(default)]
    pub expired_at: Option<DateTime<Utc>>,
    /// When the candidate was skipped.
    pub skipped_at: Option<DateTime<Utc>>,
    /// The interview, if this service conducts it; set when the candidate begins it.
    pub interview: Option<ConductedInterview>,
    /// How time ended the interview; `None` unless time has aborted it after the candidate had answered something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by_time: Option<EndedByTime>,
    /// The last reopening of the interview; `None` if it was never reopened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopening: Option<Reopening>,
    /// The cancellation of the interview; `None` if there was none, also for candidates who were skipped in another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation: Option<Cancellation>,
    /// The latest request for help; `None` if there is none or it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help_request: Option<HelpRequest>,
    /// The recent times when the candidate asked for help.
    #[serde(default, skip_serializing_if = "RecentMoments::is_empty")]
    pub help_asked: RecentMoments,
    /// The adjustments of the interview for this candidate.
    pub adjustments: Option<InterviewAdjustments>,
    /// Prevents the erasure of the candidate. The hold may have ended: see [`hold_at`](Self::hold_at).
    pub hold: Option<CandidateHold>,
    /// The candidate's request to be erased.
    pub erasure_request: Option<ErasureRequest>,
    /// The candidate's consents, withdrawn ones included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub consents: BTreeMap<LegalKind, CandidateConsent>,
    /// The rate of mails that managers request.
    pub mail_rate: MailRate,
    /// The rate of changes that the candidate makes; `None` before the first.
    pub own_changes: Option<ChangeRate>,
    /// The rate of requested mails with the latest link; `None` before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links_mailed: Option<ChangeRate>,
    /// Evaluations by customer, even of customers who are no longer evaluators.
    pub evaluations: BTreeMap<CustomerId, EvaluationReport>,
    /// The ratings and the recommendation of each evaluator, in compact form.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<CustomerId, ScoreNumbers>,
    /// The credential of a candidate without a password. It is kept until they confirm or, in projects without passwords, until
    /// the interview ends. Once the interview is complete, the key opens nothing unless the interview is reopened.
    pub access_key: Option<AccessKey>,
    /// Whether a mail contained the access key, so that readers of that mail may have it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub is_key_mailed: bool,
    /// The latest access keys that have ended, at most [`MAX_FORMER_KEYS`], oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_keys: Vec<FormerKey>,
    /// `None` until a password is chosen.
    pub password_hash: Option<PasswordHash>,
    /// Sessions of an earlier epoch are revoked.
    pub session_epoch: u32,
    /// The key that resets the password.
    pub one_time_key: Option<OneTimeKey>,
    /// The keys that confirm a pending address or restore a former one.
    #[serde(default, skip_serializing_if = "EmailKeys::is_empty")]
    pub email_keys: EmailKeys,
    /// Customers who may read the candidate without a role in the project; no customer has two shares.
    pub shares: BTreeMap<ShareId, CustomerId>,
    /// When each link that shows the answers to guests ends. The links are items of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub guest_links: BTreeMap<GuestLinkId, DateTime<Utc>>,
    /// Set when SES reported a bounce or a complaint.
    pub suppression: Option<Suppression>,
    pub photo: Option<StoredFile>,
    pub cv: Option<StoredFile>,
}

impl Candidate {
    /// A new candidate of a project.
    pub fn new(
        id: CandidateId,
        company: CompanyId,
        project: ProjectId,
        profile: CandidateProfile,
        by: Option<CustomerId>,
    ) -> Self {
        Self {
            id,
            company,
            project,
            status: CandidateStatus::New,
            profile,
            pending_email: None,
            created_by: by,
            invited_at: None,
            opened_at: None,
            confirmed_at: None,
            interviewed_at: None,
            started_at: None,
            reminded_at: None,
            reminders: Vec::new(),
            mailed_at: None,
            aborted_at: None,
            expired_at: None,
            skipped_at: None,
            interview: None,
            ended_by_time: None,
            reopening: None,
            cancellation: None,
            help_request: None,
            help_asked: RecentMoments::default(),
            adjustments: None,
            hold: None,
            erasure_request: None,
            consents: BTreeMap::new(),
            mail_rate: MailRate::default(),
            own_changes: None,
            links_mailed: None,
            evaluations: BTreeMap::new(),
            scores: BTreeMap::new(),
            access_key: None,
            is_key_mailed: false,
            former_keys: Vec::new(),
            password_hash: None,
            session_epoch: 0,
            one_time_key: None,
            email_keys: EmailKeys::default(),
            shares: BTreeMap::new(),
            guest_links: BTreeMap::new(),
            suppression: None,
            photo: None,
            cv: None,
        }
    }

    /// The candidate's account, which also owns their files.
    pub fn account(&self) -> Account {
        Account::Candidate { project: self.project, candidate: self.id }
    }

    pub fn file_mut(&mut self, kind: FileKind) -> &mut Option<StoredFile> {
        match kind {
            FileKind::Photo => &mut self.photo,
            FileKind::Cv => &mut self.cv,
        }
    }

    /// When time changes the status: at the deadline, or when an interview that this service conducts closes. `None` if time does
    /// not change it.
    pub fn expires_at(&self) -> Option<DateTime<Utc>> {
        use CandidateStatus::{Confirmed, Interviewing, Invited};
        if self.is_in_interview() {
            return self.closes_at();
        }
        self.profile.deadline.filter(|_| matches!(self.status, Invited | Confirmed | Interviewing))
    }

    /// Whether the candidate may log in: always, unless skipped.
    pub fn may_log_in(&self) -> bool {
        self.status != CandidateStatus::Skipped
    }

    /// Whether the access key is valid at `now`. After its end, it is invalid even if the scheduled function has not run yet.
    pub fn may_use_key(&self, now: DateTime<Utc>) -> bool {
        let is_complete = self.status == CandidateStatus::Interviewed;
        self.may_log_in() && !is_complete && self.key_ends_at().is_none_or(|end| end > now)
    }

    /// When the access key ends: at the deadline, or when an interview that this service conducts closes.
    pub fn key_ends_at(&self) -> Option<DateTime<Utc>> {
        if self.is_in_interview() { self.closes_at() } else { self.profile.deadline }
    }

    /// Whether time has changed the status by `now`, even if the scheduled function has not run yet.
    pub fn has_expired(&self, now: DateTime<Utc>) -> bool {
        self.expires_at().is_some_and(|end| end <= now)
    }

    /// Whether the candidate may read the questions: once the interview has begun.
    pub fn sees_questions(&self) -> bool {
        matches!(self.status, CandidateStatus::Interviewing | CandidateStatus::Interviewed)
    }

    /// Revokes all sessions.
    pub fn with_sessions_ended(mut self) -> Self {
        self.session_epoch += 1;
        self
    }

    /// Revokes all sessions and the access key, because the interview ended before it was complete. Logging in with a password still works.
    pub(super) fn with_access_ended(mut self) -> Self {
        self.replace_key(None);
        self.with_sessions_ended()
    }

    /// Sets a new password and revokes all sessions and the access key.
    pub fn with_password(mut self, hash: PasswordHash) -> Self {
        self.password_hash = Some(hash);
        self.session_epoch += 1;
        self.one_time_key = None;
        // An invited candidate still needs the key to confirm. After that, the password is the credential.
        if self.status != CandidateStatus::Invited {
            self.replace_key(None);
        }
        self
    }

    /// The share with `customer`, if there is one.
    pub fn share_of(&self, customer: CustomerId) -> Option<ShareId> {
        // The shares are part of the candidate's item, so checking a caller's share needs no further read.
        self.shares.iter().find(|(_, sharee)| **sharee == customer).map(|(share, _)| *share)
    }

    /// Adds a share. Fails with [`TOO_MANY_SHARES`].
    pub fn shared_with(mut self, customer: CustomerId, share: ShareId) -> Result<Self, Refusal> {
        if self.shares.len() >= MAX_SHARES {
            return Err(TOO_MANY_SHARES);
        }
        self.shares.insert(share, customer);
        Ok(self)
    }

    pub fn without_share(mut self, share: ShareId) -> Self {
        self.shares.remove(&share);
        self
    }

    /// Whether a link to the interview makes sense: the candidate has yet to begin, or is in an interview that this service conducts.
    pub fn has_open_interview(&self) -> bool {
        self.status.is_waiting() || self.is_in_interview()
    }

    /// Whether the candidate has a name to log in with besides a password.
    pub fn has_login_name(&self) -> bool {
        self.profile.email.is_some() || self.profile.username.is_some()
    }

    /// Whether the interview requires a password instead of the key: if the project uses passwords and the candidate has a name
    /// to log in with.
    pub fn needs_password(&self, allow_hash_login: bool) -> bool {
        !allow_hash_login && self.has_login_name()
    }
}
