//! Links that let people without an account watch the answers of a candidate.

use chrono::{DateTime, DurationRound as _, SubsecRound as _, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::{Candidate, CandidateStatus};
use crate::Refusal;
use crate::account::Creator;
use crate::id::{CandidateId, CompanyId, GuestLinkId, ProjectId};
use crate::mail::rate::ChangeRate;
use crate::privacy::erasure_request::ERASURE_REQUESTED;
use crate::secret::{Sealed, SecretHash};
use crate::text::ShortName;

/// The maximum number of a candidate's links that have not ended.
pub const MAX_GUEST_LINKS: usize = 20;
/// The maximum number of a candidate's links that are kept, ended ones included.
// Needed because a client could create any number of links that end at once. Each takes 60 bytes of the candidate's item, which
// every request of the candidate reads.
const MAX_KEPT: usize = 100;
/// How long a link works by default.
const DEFAULT_LIFETIME: TimeDelta = TimeDelta::days(14);
/// The maximum time that a link may work.
const MAX_LIFETIME: TimeDelta = TimeDelta::days(90);
/// How long a link is listed after its end.
pub const LISTED_AFTER_END: TimeDelta = TimeDelta::days(30);
/// The minimum time between two stored openings of a link.
const NEXT_OPENING: TimeDelta = TimeDelta::minutes(10);

/// The maximum number of requests for the answers per link and hour.
// Limited because each request reads all answers. A page that a dozen people share stays far below.
const MAX_REQUESTS: u32 = 300;

/// The interview has not ended with answers.
pub const NOT_INTERVIEWED: Refusal = Refusal {
    code: "not_interviewed",
    detail: "The candidate has not completed the interview. Make the link once they have, or once their time has ended with answers.",
};
/// The interview was reopened and has not ended again.
pub const REOPENED: Refusal = Refusal {
    code: "interview_reopened",
    detail: "The interview was reopened. Make the link once the candidate has completed it again; earlier links work again then.",
};
/// There are no answers to show to guests.
pub const NO_ANSWERS: Refusal = Refusal {
    code: "no_answers",
    detail: "The candidate has answered no question in an interview that this service conducts.",
};
/// The candidate has the maximum number of links.
pub const TOO_MANY_LINKS: Refusal = Refusal {
    code: "too_many_links",
    detail: "A candidate may have 20 guest links that have not ended. Delete one first.",
};

/// A repeated request had created a link that has been deleted since.
pub const LINK_DELETED: Refusal = Refusal {
    code: "link_deleted",
    detail: "The guest link that this request has created was deleted. Send a new `Idempotency-Key` to create another.",
};

/// A link that lets a person without an account watch the answers of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestLink {
    pub id: GuestLinkId,
    pub company: CompanyId,
    pub project: ProjectId,
    pub candidate: CandidateId,
    /// The person for whom the link is meant, as its creator calls them; `None` once the link is withdrawn.
    pub recipient: Option<ShortName>,
    /// Whether the candidate's name is hidden from guests.
    pub hide_name: bool,
    /// The hash of the key in the link's URL. It is kept until the candidate is deleted, so that the API can tell holders of the
    /// key why the link no longer works.
    pub hash: SecretHash,
    /// The [`MediaKey`](crate::secret::MediaKey) of the link's key, which verifies the file URLs shown to guests.
    pub media_key: Sealed,
    /// The creator of the link; `None` for a named token of an earlier release.
    // The link outlives the creator's role and account: any manager may delete it.
    pub created_by: Option<Creator>,
    /// When the link stops working, in whole seconds.
    pub ends_at: DateTime<Utc>,
    /// When the link was first opened, to the minute, but not before its creation.
    pub opened_at: Option<DateTime<Utc>>,
    /// When the link was last opened, to the minute. Openings within ten minutes of the stored one are not recorded.
    pub last_opened_at: Option<DateTime<Utc>>,
    /// When a manager deleted the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn_at: Option<DateTime<Utc>>,
    /// The rate of requests for the answers per hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<ChangeRate>,
}

/// Why a guest link does not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestLinkEnd {
    /// The link has expired.
    Expired,
    /// A manager has deleted the link.
    Withdrawn,
    /// The interview was reopened. The link works again once the interview has ended.
    Resting,
    /// The candidate has requested erasure, or was withdrawn.
    CandidateGone,
}

impl GuestLinkEnd {
    pub const ALL: [Self; 4] = [Self::Expired, Self::Withdrawn, Self::Resting, Self::CandidateGone];

    /// The refusal that clients get.
    pub fn refusal(self) -> Refusal {
        match self {
            Self::Expired => Refusal {
                code: "link_expired",
                detail: "The link has expired. Ask the company for a new one.",
            },
            Self::Withdrawn => Refusal {
                code: "link_withdrawn",
                detail: "The company has withdrawn the link. Ask it if this is a mistake.",
            },
            Self::Resting => Refusal {
                code: "link_resting",
                detail: "The interview goes on. Open the link again later: it works again once the interview has ended.",
            },
            Self::CandidateGone => Refusal {
                code: "candidate_gone",
                detail: "The answers of this candidate are no longer shown. Ask the company if you have questions.",
            },
        }
    }
}

impl GuestLink {
    /// Why the link does not work at `now`, regardless of the candidate's state; `None` if it has not ended.
    pub fn end(&self, now: DateTime<Utc>) -> Option<GuestLinkEnd> {
        if self.withdrawn_at.is_some() {
            return Some(GuestLinkEnd::Withdrawn);
        }
        (self.ends_at <= now).then_some(GuestLinkEnd::Expired)
    }

    /// The link after a manager deleted it at `now`. What remains lets the API tell holders of its key that it was withdrawn.
    pub fn withdraw(self, now: DateTime<Utc>) -> Self {
        Self {
            recipient: None,
            created_by: None,
            opened_at: None,
            last_opened_at: None,
            withdrawn_at: Some(now),
            requests: None,
            ..self
        }
    }

    /// The default end of a link that is created at `now`.
    pub fn default_end(now: DateTime<Utc>) -> DateTime<Utc> {
        (now + DEFAULT_LIFETIME).trunc_subsecs(0)
    }

    /// Checks the end that a client has chosen for a link created at `now`. The error is a message for the client.
    pub fn check_end(end: DateTime<Utc>, now: DateTime<Utc>) -> Result<DateTime<Utc>, String> {
        if end <= now {
            return Err("Must be in the future.".to_owned());
        }
        if end > now + MAX_LIFETIME {
            return Err("Must be at most 90 days ahead.".to_owned());
        }
        Ok(end)
    }

    /// Whether `hash` is the hash of the link's key.
    pub fn is_opened_by(&self, hash: &SecretHash) -> bool {
        self.hash == *hash
    }

    /// The link after another request for the answers at `now`. After 300 requests in an hour, fails with the time until the next
    /// one is allowed.
    pub fn requested(self, now: DateTime<Utc>) -> Result<Self, TimeDelta> {
        let requests = Some(ChangeRate::counted(self.requests, MAX_REQUESTS, now)?);
        Ok(Self { requests, ..self })
    }

    /// The link after an opening at `now`; `None` if the last stored opening is ten minutes old or less.
    pub fn opened(&self, now: DateTime<Utc>) -> Option<Self> {
        // Openings are personal data of the guest, so they are stored only as exactly as managers need.
        let minute = now.duration_trunc(TimeDelta::minutes(1)).unwrap_or(now);
        // Managers see both times, so an opening must not precede the link's creation.
        let at = minute.max(self.id.created_at().trunc_subsecs(0));
        let is_due = self.last_opened_at.is_none_or(|last| at - last > NEXT_OPENING);
        is_due.then(|| Self {
            opened_at: self.opened_at.or(Some(at)),
            last_opened_at: Some(at),
            ..self.clone()
        })
    }
}

impl Candidate {
    /// Why links do not show the candidate to guests; `None` if they do. The links work again when the reason is gone.
    pub fn guest_link_end(&self) -> Option<GuestLinkEnd> {
        if self.erasure_request.is_some() || self.status == CandidateStatus::Skipped {
            return Some(GuestLinkEnd::CandidateGone);
        }
        (!self.has_ended_interview()).then_some(GuestLinkEnd::Resting)
    }

    /// When the interview was completed, or ended by time with answers; `None` before.
    pub fn interview_ended_at(&self) -> Option<DateTime<Utc>> {
        self.ended_by_time.map(|ended| ended.ended_at).or(self.interviewed_at)
    }

    /// Whether the interview is complete, or was ended by time with answers.
    fn has_ended_interview(&self) -> bool {
        self.status == CandidateStatus::Interviewed || self.ended_by_time.is_some()
    }

    /// Adds a link and drops links that are no longer listed. Fails with [`NOT_INTERVIEWED`], [`REOPENED`],
    /// [`ERASURE_REQUESTED`], [`NO_ANSWERS`] or [`TOO_MANY_LINKS`].
    pub fn with_guest_link(
        mut self,
        link: &GuestLink,
        has_answers: bool,
        now: DateTime<Utc>,
    ) -> Result<Self, Refusal> {
        if !self.has_ended_interview() {
            return Err(if self.reopened_interview().is_some() { REOPENED } else { NOT_INTERVIEWED });
        }
        if self.erasure_request.is_some() {
            return Err(ERASURE_REQUESTED);
        }
        if !has_answers {
            return Err(NO_ANSWERS);
        }
        if self.guest_links.values().filter(|end| now < **end).count() >= MAX_GUEST_LINKS {
            return Err(TOO_MANY_LINKS);
        }
        self.guest_links.retain(|_, end| is_listed(*end, now));
        while self.guest_links.len() >= MAX_KEPT {
            let first_ended = self.guest_links.iter().min_by_key(|(_, end)| **end).map(|(id, _)| *id);
            first_ended.and_then(|id| self.guest_links.remove(&id));
        }
        self.guest_links.insert(link.id, link.ends_at);
        Ok(self)
    }

    /// Whether the link is one of the candidate's. Also true for an ended link, which may have been dropped from the list.
    pub fn knows_guest_link(&self, link: &GuestLink, now: DateTime<Utc>) -> bool {
        self.guest_links.contains_key(&link.id) || link.end(now).is_some()
    }

    pub fn without_guest_link(mut self, link: GuestLinkId) -> Self {
        self.guest_links.remove(&link);
        self
    }

    /// The links that have not ended or ended less than 30 days ago, oldest first.
    pub fn listed_guest_links(&self, now: DateTime<Utc>) -> impl Iterator<Item = GuestLinkId> {
        let listed = self.guest_links.iter().filter(move |(_, end)| is_listed(**end, now));
        listed.map(|(link, _)| *link)
    }
}

fn is_listed(end: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    now < end + LISTED_AFTER_END
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::EndedByTime;
    use crate::id::Id;
    use crate::samples;

    fn minute(minute: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
    }

    fn link(number: u8, ends_at: DateTime<Utc>) -> GuestLink {
        let candidate = samples::candidate();
        GuestLink {
            id: Id::from_bytes([number; 16]),
            company: candidate.company,
            project: candidate.project,
            candidate: candidate.id,
            recipient: ShortName::parse("Head of sales").ok(),
            hide_name: false,
            hash: SecretHash::of("key"),
            media_key: Sealed::of_nothing(),
            created_by: None,
            ends_at,
            opened_at: None,
            last_opened_at: None,
            withdrawn_at: None,
            requests: None,
        }
    }

    #[test]
    fn an_opening_is_noted_once_in_ten_minutes_at_most() {
        let created_at = minute(0) + TimeDelta::milliseconds(20_500);
        let mut link = GuestLink { id: Id::first_of(created_at), ..link(1, minute(1_000)) };
        let mut written: Vec<DateTime<Utc>> = Vec::new();
        for second in (0..2 * 60 * 60).step_by(7) {
            let now = created_at + TimeDelta::seconds(second) + TimeDelta::milliseconds(900);
            if let Some(opened) = link.opened(now) {
                assert_eq!(
                    opened.opened_at,
                    Some(minute(0) + TimeDelta::seconds(20)),
                    "not before its creation"
                );
                written.push(now);
                link = opened;
            }
        }
        assert!(written.len() > 9, "{written:?}");
        assert!(written.is_sorted_by(|one, next| *next - *one >= NEXT_OPENING), "{written:?}");
        assert_eq!(link.last_opened_at, link.last_opened_at.map(|at| at.trunc_subsecs(0)));
    }

    #[test]
    fn an_end_lies_ahead_and_at_most_ninety_days() {
        let now = minute(0);
        let days = |days| now + TimeDelta::days(days);
        assert_eq!(GuestLink::check_end(days(90), now), Ok(days(90)));
        assert!(GuestLink::check_end(now, now).is_err());
        assert!(GuestLink::check_end(days(90) + TimeDelta::seconds(1), now).is_err());
        assert_eq!(GuestLink::default_end(now), days(14));
    }

    #[test]
    fn links_that_ended_do_not_count_and_are_dropped_when_they_are_too_many() {
        let mut one = Candidate { status: CandidateStatus::Interviewed, ..samples::candidate() };
        for number in 0..150 {
            let now = minute(number.into());
            one = one.with_guest_link(&link(number, now + TimeDelta::seconds(1)), true, now).unwrap();
            assert!(one.guest_links.len() <= MAX_KEPT);
        }
        assert_eq!(one.listed_guest_links(minute(150)).next(), Some(Id::from_bytes([50; 16])));
        let later = minute(149) + LISTED_AFTER_END;
        assert_eq!(one.listed_guest_links(later).collect::<Vec<_>>(), [Id::from_bytes([149; 16])]);
        for number in 150..170 {
            one = one.with_guest_link(&link(number, later + TimeDelta::days(1)), true, later).unwrap();
        }
        assert_eq!(one.guest_links.len(), 21);
        let more = link(170, later + TimeDelta::days(1));
        assert_eq!(one.clone().with_guest_link(&more, true, later), Err(TOO_MANY_LINKS));
        let fewer = one.without_guest_link(Id::from_bytes([160; 16]));
        assert!(fewer.with_guest_link(&more, true, later).is_ok());
    }

    #[test]
    fn only_answers_of_complete_interviews_are_shown() {
        let one = Candidate { status: CandidateStatus::Interviewed, ..samples::candidate() };
        let refused = |candidate: &Candidate, has_answers| {
            candidate.clone().with_guest_link(&link(1, minute(1)), has_answers, minute(0)).err()
        };
        assert_eq!(refused(&one, true), None);
        assert_eq!(refused(&one, false), Some(NO_ANSWERS));
        for status in CandidateStatus::ALL {
            let one = Candidate { status, ..one.clone() };
            let is_complete = status == CandidateStatus::Interviewed;
            let end = match status {
                CandidateStatus::Interviewed => None,
                CandidateStatus::Skipped => Some(GuestLinkEnd::CandidateGone),
                _ => Some(GuestLinkEnd::Resting),
            };
            assert_eq!(one.guest_link_end(), end, "{status:?}");
            assert_eq!(refused(&one, true), (!is_complete).then_some(NOT_INTERVIEWED), "{status:?}");
        }
        let ended = EndedByTime { ended_at: minute(0), answered: 1, questions: 2 };
        let ended = Candidate { status: CandidateStatus::Aborted, ended_by_time: Some(ended), ..one };
        assert_eq!((ended.guest_link_end(), refused(&ended, true)), (None, None));
    }

    #[test]
    fn a_deleted_link_knows_nothing_but_that_it_was_deleted() {
        let live = link(1, minute(10));
        assert_eq!((live.end(minute(9)), live.end(minute(10))), (None, Some(GuestLinkEnd::Expired)));
        let opened = live.opened(minute(1)).unwrap();
        let withdrawn = opened.withdraw(minute(2));
        assert_eq!(withdrawn.end(minute(20)), Some(GuestLinkEnd::Withdrawn));
        assert_eq!(
            (&withdrawn.recipient, withdrawn.opened_at, withdrawn.last_opened_at),
            (&None, None, None)
        );
        assert!(withdrawn.is_opened_by(&SecretHash::of("key")));
    }
}
