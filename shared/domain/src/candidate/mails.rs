//! The mails that a candidate gets.

use super::Candidate;
use crate::Refusal;
use crate::company::Company;
use crate::language::Language;
use crate::mail::suppression::{EmailStatus, Suppression, SuppressionReason, UNDELIVERABLE};
use crate::project::Project;
use crate::text::Email;

/// There is no email address.
pub const EMAIL_MISSING: Refusal =
    Refusal { code: "email_missing", detail: "The candidate has no email address. Set one first." };

impl Candidate {
    /// The language of mails to the candidate: their own, otherwise the project's, otherwise the company's. `project` is `None`
    /// if it is deleted.
    pub fn mail_language(&self, project: Option<&Project>, company: &Company) -> Language {
        let of_project = project.and_then(|project| project.settings.support_lang);
        self.profile.language.or(of_project).unwrap_or(company.default_project_lang)
    }

    /// The `email_status` that clients see.
    pub fn email_status(&self) -> EmailStatus {
        Suppression::status(self.suppression.as_ref(), self.shown_email())
    }

    /// The address for mails that the candidate requests; `None` if there is none, it is suppressed, or the candidate has
    /// requested erasure.
    pub fn mail_address(&self) -> Option<&Email> {
        // Every mail to a candidate reads the address when it is sent, so an erasure request also stops mails that are already queued.
        self.profile.email.as_ref().filter(|_| self.erasure_request.is_none() && !self.is_suppressed())
    }

    /// The address for mails about the interview; `None` also if the client sends these mails itself.
    pub fn interview_mail_address(&self) -> Option<&Email> {
        self.mail_address().filter(|_| self.profile.receive_mails)
    }

    /// Whether the service sends the candidate mails about the interview, unless their address is suppressed.
    pub(crate) fn takes_mails(&self) -> bool {
        self.profile.email.is_some() && self.profile.receive_mails && self.erasure_request.is_none()
    }

    /// Whether mails about the interview, for which the candidate waits, were turned on since `before` without any address. A
    /// pending address suffices: the mails are held back until it is confirmed.
    pub fn misses_mails(&self, before: &Self) -> bool {
        let is_turned_on = self.profile.receive_mails && !before.profile.receive_mails;
        self.status.is_waiting() && is_turned_on && self.shown_email().is_none()
    }

    fn is_suppressed(&self) -> bool {
        Suppression::reason(self.suppression.as_ref(), self.profile.email.as_ref()).is_some()
    }

    /// Checks that mails about the interview can reach the candidate. Fails with [`EMAIL_MISSING`] or [`UNDELIVERABLE`].
    pub fn require_reachable(&self) -> Result<(), Refusal> {
        match &self.profile.email {
            _ if !self.profile.receive_mails => Ok(()),
            None => Err(EMAIL_MISSING),
            Some(_) if self.is_suppressed() => Err(UNDELIVERABLE),
            Some(_) => Ok(()),
        }
    }

    /// The candidate after SES reported `reason` for mails to `reported`. `None` if the report changes nothing.
    pub fn after_delivery_report(mut self, reported: &str, reason: SuppressionReason) -> Option<Self> {
        let known = self.suppression.as_ref();
        let after = |own| Suppression::after_report(known, Some(own), reported, reason);
        let suppression = self.account_email().held().find_map(after)?;
        self.suppression = Some(suppression);
        Some(self)
    }

    /// Lifts the suppression, so that the candidate gets mails again.
    pub fn with_mails_allowed(mut self) -> Self {
        self.suppression = None;
        self
    }
}
