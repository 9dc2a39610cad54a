//! A candidate of a project.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Refusal;
use super::file::{FileKind, Owner, StoredFile};
use super::id::{CandidateId, CompanyId, CustomerId, ProjectId, ShareId};
use super::names::named;
use super::partner_data::PartnerData;
use super::rate::MailRate;
use super::roster::{Seat, Seats};
use super::secret::{AccessKey, OneTimeKey, PasswordHash};
use super::suppression::{EmailStatus, Suppression, SuppressionReason, UNDELIVERABLE};
use super::text::{Email, Line, Lines, Name, Username};
use super::transition::EMAIL_MISSING;

/// The most customers that one candidate may be shared with: deleting a candidate deletes its shares along with it.
pub const MAX_SHARES: usize = 50;

/// The candidate has as many shares as it may have.
pub const TOO_MANY_SHARES: Refusal =
    Refusal { code: "too_many_shares", detail: "A candidate may have 50 shares. Delete one first." };

named! {
    /// Where a candidate stands.
    pub enum CandidateStatus {
        /// Created, knows of nothing.
        New = "new",
        /// Has an invitation.
        Invited = "invited",
        /// Has taken it up.
        Confirmed = "confirmed",
        /// Is in the interview.
        Interviewing = "interviewing",
        /// Has finished the interview.
        Interviewed = "interviewed",
        /// Missed the deadline.
        Expired = "expired",
        /// Broke the interview off.
        Aborted = "aborted",
        /// Was taken out.
        Skipped = "skipped",
    }
}

/// What a client decides about a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// First name.
    pub first_name: Name,
    /// Last name.
    pub last_name: Name,
    /// A name to log in with, unique among the company's logins.
    pub username: Option<Username>,
    /// Where mails go; others of the company may have the same.
    pub email: Option<Email>,
    /// Until when the interview can be taken.
    pub deadline: Option<DateTime<Utc>>,
    /// Telephone number.
    pub phone: Line<50>,
    /// As sent by the client, for example `mr` or `mrs`.
    pub gender: Line<20>,
    /// Postal address.
    pub address: Lines<500>,
    /// A partner's own data.
    pub partner_data: PartnerData,
}

impl Profile {
    /// A profile that only has a name.
    pub fn new(first_name: Name, last_name: Name) -> Self {
        Self {
            first_name,
            last_name,
            username: None,
            email: None,
            deadline: None,
            phone: Line::default(),
            gender: Line::default(),
            address: Lines::default(),
            partner_data: PartnerData::default(),
        }
    }
}

/// A candidate as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its identifier.
    pub id: CandidateId,
    /// The company of its project.
    pub company: CompanyId,
    /// Its project.
    pub project: ProjectId,
    /// Where it stands.
    pub status: CandidateStatus,
    /// What its managers decide.
    pub profile: Profile,
    /// Who created it; none for a named token.
    pub created_by: Option<CustomerId>,
    /// When it was invited.
    pub invited_at: Option<DateTime<Utc>>,
    /// When it took the invitation up.
    pub confirmed_at: Option<DateTime<Utc>>,
    /// When it finished the interview.
    pub interviewed_at: Option<DateTime<Utc>>,
    /// When it last began the interview.
    pub started_at: Option<DateTime<Utc>>,
    /// When it was last reminded.
    pub reminded_at: Option<DateTime<Utc>>,
    /// The mails to it that its managers asked for of late.
    #[serde(default)]
    pub mail_rate: MailRate,
    /// What is known of its evaluations, by whoever made them.
    pub evaluations: BTreeMap<CustomerId, Evaluation>,
    /// Lets it act without a password: until it confirms, or to the end of an interview that needs no password.
    pub access_key: Option<AccessKey>,
    /// None before it has chosen a password.
    pub password_hash: Option<PasswordHash>,
    /// Sessions of an earlier epoch are dead.
    pub session_epoch: u32,
    /// Lets it choose another password.
    pub one_time_key: Option<OneTimeKey>,
    /// The customers who may read it though they have no role in its project, each once.
    #[serde(default)]
    pub shares: BTreeMap<ShareId, CustomerId>,
    /// Set when SES reported a bounce or a complaint.
    #[serde(rename = "mail_trouble")]
    pub suppression: Option<Suppression>,
    /// Its picture.
    pub photo: Option<StoredFile>,
    /// Its curriculum vitae.
    pub cv: Option<StoredFile>,
}

/// What an evaluator last reported of one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Whether the evaluation is finished.
    pub completed: bool,
    /// When it was reported.
    pub at: DateTime<Utc>,
    /// Their seat in the project's roster.
    pub seat: Seat,
}

impl Candidate {
    /// A new candidate of a project.
    pub fn new(
        id: CandidateId,
        company: CompanyId,
        project: ProjectId,
        profile: Profile,
        by: Option<CustomerId>,
    ) -> Self {
        Self {
            id,
            company,
            project,
            status: CandidateStatus::New,
            profile,
            created_by: by,
            invited_at: None,
            confirmed_at: None,
            interviewed_at: None,
            started_at: None,
            reminded_at: None,
            mail_rate: MailRate::default(),
            evaluations: BTreeMap::new(),
            access_key: None,
            password_hash: None,
            session_epoch: 0,
            one_time_key: None,
            shares: BTreeMap::new(),
            suppression: None,
            photo: None,
            cv: None,
        }
    }

    /// What its files are stored as the files of.
    pub fn owner(&self) -> Owner {
        Owner::Candidate { project: self.project, candidate: self.id }
    }

    /// Its file of this kind.
    pub fn file_mut(&mut self, kind: FileKind) -> &mut Option<StoredFile> {
        match kind {
            FileKind::Photo => &mut self.photo,
            FileKind::Cv => &mut self.cv,
        }
    }

    /// When its deadline makes a difference to where it stands, if ever.
    pub fn expires_at(&self) -> Option<DateTime<Utc>> {
        use CandidateStatus::{Confirmed, Interviewing, Invited};
        self.profile.deadline.filter(|_| matches!(self.status, Invited | Confirmed | Interviewing))
    }

    /// Whether it may log in and act: for ever, unless it was skipped.
    pub fn may_log_in(&self) -> bool {
        self.status != CandidateStatus::Skipped
    }

    /// Whether its access key, if it has one, may be used at `now`: not after the deadline, even before that was noticed.
    pub fn may_use_key(&self, now: DateTime<Utc>) -> bool {
        self.may_log_in() && !self.is_overdue(now)
    }

    /// The candidate whose sessions have ended.
    pub fn with_sessions_ended(mut self) -> Self {
        self.session_epoch += 1;
        self
    }

    /// The candidate with another password: its sessions end, and so does a key that stood for a password.
    pub fn with_password(mut self, hash: PasswordHash) -> Self {
        self.password_hash = Some(hash);
        self.session_epoch += 1;
        self.one_time_key = None;
        if self.status != CandidateStatus::Invited {
            self.access_key = None;
        }
        self
    }

    /// The share by which `customer` may read it, if there is one.
    pub fn share_of(&self, customer: CustomerId) -> Option<ShareId> {
        self.shares.iter().find(|(_, sharee)| **sharee == customer).map(|(share, _)| *share)
    }

    /// The candidate shared with one more customer.
    ///
    /// # Errors
    /// [`TOO_MANY_SHARES`].
    pub fn shared_with(mut self, customer: CustomerId, share: ShareId) -> Result<Self, Refusal> {
        if self.shares.len() >= MAX_SHARES {
            return Err(TOO_MANY_SHARES);
        }
        self.shares.insert(share, customer);
        Ok(self)
    }

    /// The candidate without one of its shares.
    pub fn without_share(mut self, share: ShareId) -> Self {
        self.shares.remove(&share);
        self
    }

    /// The `email_status` that clients see.
    pub fn email_status(&self) -> EmailStatus {
        Suppression::status(self.suppression.as_ref(), self.profile.email.as_ref())
    }

    /// The address for mails; none if there is none or it is suppressed.
    pub fn mail_address(&self) -> Option<&Email> {
        let address = self.profile.email.as_ref();
        address.filter(|_| Suppression::reason(self.suppression.as_ref(), address).is_none())
    }

    /// Refuses candidates who cannot get mails.
    ///
    /// # Errors
    /// [`EMAIL_MISSING`] or [`UNDELIVERABLE`].
    pub fn require_reachable(&self) -> Result<(), Refusal> {
        match (&self.profile.email, self.mail_address()) {
            (None, _) => Err(EMAIL_MISSING),
            (Some(_), None) => Err(UNDELIVERABLE),
            (Some(_), Some(_)) => Ok(()),
        }
    }

    /// The candidate after SES reported `reason` for mails to `reported`. None if that changes nothing.
    pub fn after_delivery_report(mut self, reported: &str, reason: SuppressionReason) -> Option<Self> {
        let (known, address) = (self.suppression.as_ref(), self.profile.email.as_ref());
        self.suppression = Some(Suppression::after_report(known, address, reported, reason)?);
        Some(self)
    }

    /// Everyone who has finished evaluating it, evaluators of the project or not.
    pub fn completed_by(&self) -> BTreeSet<CustomerId> {
        let completed = self.evaluations.iter().filter(|(_, evaluation)| evaluation.completed);
        completed.map(|(customer, _)| *customer).collect()
    }

    /// The seats of everyone who has finished evaluating it.
    pub fn completed_seats(&self) -> Seats {
        self.evaluations.values().filter(|one| one.completed).map(|one| one.seat).collect()
    }
}
