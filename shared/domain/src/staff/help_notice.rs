//! Mails about candidates' requests for help: their recipients, and the requests that await the next mail.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{CandidateId, CompanyId, CustomerId, ProjectId};

/// The minimum time between two mails to one recipient. The first mail is sent at once, because the candidate may be in the
/// middle of the interview.
const PAUSE: TimeDelta = TimeDelta::minutes(10);
/// The maximum number of requests that one mail names; it counts the others.
const MAX_NAMED: usize = 10;
/// How long the time of the last mail is kept.
const KEPT: TimeDelta = TimeDelta::days(90);

/// A candidate's request for help. Its time distinguishes it from a later request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedHelp {
    pub project: ProjectId,
    pub candidate: CandidateId,
    pub asked_at: DateTime<Utc>,
}

/// The recipient of a mail about requests for help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HelpRecipient {
    /// An interview manager who wants notices, or an owner if no other address is known.
    Customer(CustomerId),
    /// The address for candidates: the project's own, otherwise the company's.
    // Identified by the project even if the address is the company's, because only the project knows whether it has its own.
    Contact(ProjectId),
}

impl HelpRecipient {
    /// A name that is unique among the company's recipients.
    pub fn name(self) -> String {
        match self {
            Self::Customer(customer) => customer.to_string(),
            Self::Contact(project) => format!("contact-{project}"),
        }
    }
}

/// The requests for help that await a mail to a recipient, and when it is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelpNotice {
    pub company: CompanyId,
    pub recipient: HelpRecipient,
    /// The requests that the next mail names, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<AskedHelp>,
    /// The number of further requests, which the next mail does not name. The page of their project shows them.
    #[serde(default)]
    pub more: usize,
    /// The requests in the last mail: an effect that runs again must not cause another mail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<AskedHelp>,
    /// When the last mail was handed to the outbox.
    pub mailed_at: Option<DateTime<Utc>>,
    /// When the next mail is due; `None` if no request waits.
    pub next_mail_at: Option<DateTime<Utc>>,
}

impl HelpNotice {
    /// The notice of a recipient who has never had such a mail.
    pub fn new(company: CompanyId, recipient: HelpRecipient) -> Self {
        Self {
            company,
            recipient,
            waiting: Vec::new(),
            more: 0,
            told: Vec::new(),
            mailed_at: None,
            next_mail_at: None,
        }
    }

    /// Adds a request at `now`, unless the notice has it already. The mail is due at once, or ten minutes after the last one.
    pub fn with_asked(mut self, asked: AskedHelp, now: DateTime<Utc>) -> Self {
        let is_known = self.waiting.contains(&asked) || self.told.contains(&asked);
        if is_known {
            return self;
        }
        // A further request replaces the candidate's earlier one, so that a mail names the candidate once.
        self.waiting.retain(|waiting| waiting.candidate != asked.candidate);
        if self.waiting.len() < MAX_NAMED {
            self.waiting.push(asked);
        } else {
            self.more += 1;
        }
        let next = self.mailed_at.map_or(now, |mailed_at| now.max(mailed_at + PAUSE));
        self.next_mail_at = Some(self.next_mail_at.unwrap_or(next));
        self
    }

    /// Whether the next mail is due at `now`.
    pub fn is_due(&self, now: DateTime<Utc>) -> bool {
        self.next_mail_at.is_some_and(|at| at <= now)
    }

    /// Removes the waiting requests for a mail that is handed to the outbox at `now`. Returns the requests that it names and the
    /// number of the others.
    pub fn handed_over(mut self, now: DateTime<Utc>) -> (Self, Vec<AskedHelp>, usize) {
        let (asked, more) = (std::mem::take(&mut self.waiting), std::mem::take(&mut self.more));
        (Self { told: asked.clone(), mailed_at: Some(now), next_mail_at: None, ..self }, asked, more)
    }

    /// When the notice is deleted; `None` while a mail is due.
    pub fn forgotten_at(&self) -> Option<DateTime<Utc>> {
        self.mailed_at.filter(|_| self.next_mail_at.is_none()).map(|at| at + KEPT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
    }

    fn asked(number: u8, minute: i64) -> AskedHelp {
        AskedHelp {
            project: Id::from_bytes([1; 16]),
            candidate: Id::from_bytes([number; 16]),
            asked_at: at(minute),
        }
    }

    fn notice() -> HelpNotice {
        HelpNotice::new("acme".parse().unwrap(), HelpRecipient::Customer(Id::from_bytes([9; 16])))
    }

    #[test]
    fn the_first_mail_leaves_at_once_and_the_next_ten_minutes_later() {
        let first = notice().with_asked(asked(1, 0), at(0));
        assert!(first.is_due(at(0)));
        let (mailed, told, _) = first.handed_over(at(0));
        assert_eq!((told, mailed.next_mail_at), (vec![asked(1, 0)], None));
        let next = mailed.with_asked(asked(2, 3), at(3)).with_asked(asked(3, 4), at(4));
        assert_eq!(next.next_mail_at, Some(at(10)));
        assert!(!next.is_due(at(9)));
        let (mailed, told, _) = next.handed_over(at(10));
        assert_eq!(told, [asked(2, 3), asked(3, 4)]);
        assert!(mailed.with_asked(asked(4, 40), at(40)).is_due(at(40)));
    }

    #[test]
    fn a_request_is_told_once_and_in_its_latest_words() {
        let (mailed, ..) = notice().with_asked(asked(1, 0), at(0)).handed_over(at(0));
        assert_eq!(mailed.clone().with_asked(asked(1, 0), at(1)), mailed, "the effect runs again");
        let replaced = mailed.with_asked(asked(1, 2), at(2)).with_asked(asked(1, 3), at(3));
        assert_eq!(replaced.waiting, [asked(1, 3)]);
    }

    #[test]
    fn a_mail_names_ten_in_their_latest_words_and_counts_the_others() {
        let many = (0..60).fold(notice(), |notice, number| notice.with_asked(asked(number, 0), at(0)));
        let again = many.with_asked(asked(3, 1), at(1));
        assert_eq!((again.waiting.len(), again.waiting.last(), again.more), (10, Some(&asked(3, 1)), 50));
        let (mailed, told, more) = again.handed_over(at(1));
        assert_eq!((told.len(), more, mailed.more), (10, 50, 0));
    }
}
