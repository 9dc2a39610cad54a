//! The mail with the current link to the interview, which a candidate has requested.

use chrono::{DateTime, Utc};

use super::{CandidateChange, CandidateMail};
use crate::candidate::{Candidate, CandidateStatus};
use crate::mail::rate::{ChangeRate, MAX_LINKS};
use crate::secret::SecretHash;

impl Candidate {
    /// Mails the candidate the current link to their interview at `now`. `key` is the hash of the key with which they request it.
    /// `None` if that key still opens the interview or never did, if the candidate cannot continue, if no mail reaches them, or
    /// after [`MAX_LINKS`] such mails within an hour.
    // A key that went to a former address suffices, because the mail goes to the current one.
    pub fn with_latest_link(mut self, key: &SecretHash, now: DateTime<Utc>) -> Option<CandidateChange> {
        self.key_end(key, now)?;
        let is_current = self.access_key.as_ref().is_some_and(|current| current.hash == *key);
        let is_over = self.key_ends_at().is_some_and(|end| end <= now);
        let may_go_on = self.status.is_waiting() || self.status == CandidateStatus::Interviewing;
        if is_current || is_over || !may_go_on {
            return None;
        }
        self.interview_mail_address()?;
        self.links_mailed = Some(ChangeRate::counted(self.links_mailed, MAX_LINKS, now).ok()?);
        Some(CandidateChange::new(self, Some(CandidateMail::LatestLink), now))
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::samples::{self, access_key as key};
    use crate::secret::PasswordHash;
    use crate::text::Email;

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
    }

    /// A candidate whose first key was replaced, with a deadline.
    fn candidate(status: CandidateStatus) -> Candidate {
        let mut one = Candidate { status, access_key: Some(key("first")), ..samples::candidate() };
        one.profile.email = Some(Email::parse("ada@mail.example").unwrap());
        one.profile.deadline = Some(at(600));
        one.replace_key(Some(key("second")));
        one
    }

    fn is_mailed(one: &Candidate, name: &str, minute: i64) -> bool {
        let change = one.clone().with_latest_link(&SecretHash::of(name), at(minute));
        change.is_some_and(|change| change.mail == Some(CandidateMail::LatestLink))
    }

    #[test]
    fn former_keys_get_the_link_while_the_candidate_may_go_on() {
        use CandidateStatus::{Confirmed, Interviewing, Invited};
        for status in CandidateStatus::ALL {
            let expected = matches!(status, Invited | Confirmed | Interviewing);
            assert_eq!(is_mailed(&candidate(status), "first", 0), expected, "{status:?}");
        }
        let one = candidate(Invited);
        assert!(!is_mailed(&one, "second", 0), "it opens the interview");
        assert!(!is_mailed(&one, "third", 0), "it was never sent");
        assert!(is_mailed(&one, "first", 599) && !is_mailed(&one, "first", 600), "until the deadline");
        let mut moved = one.clone();
        moved.redirect_key(Some(key("third")));
        assert!(is_mailed(&moved, "first", 0), "to the present address");
        let mut registered = one;
        registered.password_hash = Some(PasswordHash::new(String::new()));
        registered.replace_key(None);
        assert!(is_mailed(&registered, "second", 0), "they log in");
    }

    #[test]
    fn candidates_who_take_no_mails_get_none() {
        let one = candidate(CandidateStatus::Invited);
        let mut off = one.clone();
        off.profile.receive_mails = false;
        assert!(!is_mailed(&off, "first", 0));
        let mut unreachable = one;
        unreachable.profile.email = None;
        assert!(!is_mailed(&unreachable, "first", 0));
    }

    #[test]
    fn five_an_hour_are_mailed() {
        let mut one = candidate(CandidateStatus::Confirmed);
        for minute in 0..5 {
            one = one.with_latest_link(&SecretHash::of("first"), at(minute)).unwrap().candidate;
        }
        assert!(!is_mailed(&one, "first", 59) && is_mailed(&one, "first", 60));
    }
}
