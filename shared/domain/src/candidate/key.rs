//! The access key of a candidate without a password, and what an ended key or session still proves.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Candidate, CandidateStatus};
use crate::Refusal;
use crate::secret::{AccessKey, SecretHash};

/// The maximum number of a candidate's former keys; older ones are dropped.
// More than candidates have in practice. Each takes 60 bytes of the candidate's item, which every request of the candidate reads.
pub const MAX_FORMER_KEYS: usize = 5;

/// A key that no longer opens the interview, but still proves who received it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerKey {
    /// The hash of the key.
    pub hash: SecretHash,
    /// Whether the key was mailed to an address that is no longer the candidate's.
    // Its holder may be another person, who must not learn the candidate's status.
    pub is_misdirected: bool,
}

/// Why a candidate's key no longer works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyEnd {
    /// The candidate has chosen a password.
    Registered,
    /// The interview is complete.
    Completed,
    /// The deadline or the time of the interview is over.
    Overdue,
    /// The candidate was skipped, or the interview cancelled.
    Withdrawn,
    /// A newer mail has a new key.
    Replaced,
}

impl KeyEnd {
    pub const ALL: [Self; 5] =
        [Self::Registered, Self::Completed, Self::Overdue, Self::Withdrawn, Self::Replaced];

    /// The refusal that clients get.
    pub fn refusal(self) -> Refusal {
        match self {
            Self::Registered => Refusal {
                code: "key_registered",
                detail: "The candidate has chosen a password. Log in with it.",
            },
            Self::Completed => {
                Refusal { code: "interview_completed", detail: "The candidate has completed the interview." }
            }
            Self::Overdue => Refusal {
                code: "deadline_passed",
                detail: "The time for the interview is over. Ask the company for more.",
            },
            Self::Withdrawn => Refusal {
                code: "withdrawn",
                detail: "The company has cancelled the interview. Ask it if this is a mistake.",
            },
            Self::Replaced => Refusal {
                code: "key_replaced",
                detail: "A newer mail has replaced this key. Use the link in the latest one.",
            },
        }
    }
}

impl Candidate {
    /// Replaces the access key, or removes it. The former key no longer works.
    pub(crate) fn replace_key(&mut self, key: Option<AccessKey>) {
        if self.access_key == key {
            return;
        }
        self.is_key_mailed = false;
        let Some(former) = std::mem::replace(&mut self.access_key, key) else { return };
        self.former_keys.push(FormerKey { hash: former.hash, is_misdirected: false });
        let excess = self.former_keys.len().saturating_sub(MAX_FORMER_KEYS);
        self.former_keys.drain(..excess);
    }

    /// The access key that responses show; `None` once the interview is complete, because the key then opens nothing.
    pub fn shown_key(&self) -> Option<&AccessKey> {
        self.access_key.as_ref().filter(|_| self.status != CandidateStatus::Interviewed)
    }

    /// Lets the candidate continue with their current key or, if they have none, with `key`. Removes the key if they have a password.
    pub(crate) fn keep_key_or(&mut self, key: AccessKey) {
        let known = self.access_key.clone();
        self.replace_key(self.password_hash.is_none().then(|| known.unwrap_or(key)));
    }

    /// Replaces the access key, or removes it, because all earlier keys went to another address.
    pub(crate) fn redirect_key(&mut self, key: Option<AccessKey>) {
        self.replace_key(key);
        for former in &mut self.former_keys {
            former.is_misdirected = true;
        }
    }

    /// Whether a session of this epoch was revoked by the candidate's withdrawal and not before.
    // Like an ended key, such a session still proves who the candidate is. They may be in the middle of the interview, so the
    // page tells them why it has stopped.
    pub fn has_withdrawn_session(&self, epoch: u32) -> bool {
        self.status == CandidateStatus::Skipped && epoch + 1 == self.session_epoch
    }

    /// Whether `hash` is the hash of the last key sent to the candidate. Other people may have an earlier one.
    pub fn is_latest_key(&self, hash: &SecretHash) -> bool {
        let current = self.access_key.as_ref().map(|key| &key.hash);
        current.or(self.former_keys.last().map(|former| &former.hash)) == Some(hash)
    }

    /// Why the key with this hash does not work at `now`; `None` if the candidate was never sent such a key, or it is too old.
    pub fn key_end(&self, hash: &SecretHash, now: DateTime<Utc>) -> Option<KeyEnd> {
        use CandidateStatus::{Aborted, Expired, Interviewed, Skipped};
        let former = self.former_keys.iter().find(|former| former.hash == *hash);
        if former.is_some_and(|former| former.is_misdirected) {
            return Some(KeyEnd::Replaced);
        }
        if former.is_none() && !self.access_key.as_ref().is_some_and(|key| key.hash == *hash) {
            return None;
        }
        let is_overdue = self.key_ends_at().is_some_and(|end| end <= now);
        Some(match self.status {
            Skipped => KeyEnd::Withdrawn,
            Interviewed => KeyEnd::Completed,
            Expired | Aborted => KeyEnd::Overdue,
            _ if is_overdue => KeyEnd::Overdue,
            _ if self.password_hash.is_some() => KeyEnd::Registered,
            _ => KeyEnd::Replaced,
        })
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::samples::{self, access_key as key};
    use crate::secret::PasswordHash;

    fn end_of(candidate: &Candidate, name: &str) -> Option<KeyEnd> {
        candidate.key_end(&SecretHash::of(name), DateTime::UNIX_EPOCH)
    }

    fn candidate(status: CandidateStatus) -> Candidate {
        let mut candidate = Candidate { access_key: Some(key("first")), status, ..samples::candidate() };
        candidate.replace_key(None);
        candidate
    }

    #[test]
    fn a_former_key_tells_what_became_of_the_candidate() {
        use CandidateStatus::{Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, Skipped};
        for (status, without_password, with_password) in [
            (Invited, KeyEnd::Replaced, KeyEnd::Registered),
            (Confirmed, KeyEnd::Replaced, KeyEnd::Registered),
            (Interviewing, KeyEnd::Replaced, KeyEnd::Registered),
            (Interviewed, KeyEnd::Completed, KeyEnd::Completed),
            (Expired, KeyEnd::Overdue, KeyEnd::Overdue),
            (Aborted, KeyEnd::Overdue, KeyEnd::Overdue),
            (Skipped, KeyEnd::Withdrawn, KeyEnd::Withdrawn),
        ] {
            let mut one = candidate(status);
            assert_eq!(end_of(&one, "first"), Some(without_password), "{status:?}");
            one.password_hash = Some(PasswordHash::new(String::new()));
            assert_eq!(end_of(&one, "first"), Some(with_password), "{status:?}");
            assert_eq!(end_of(&one, "another"), None, "{status:?}");
        }
    }

    #[test]
    fn only_the_sessions_that_were_good_until_then_tell_of_a_withdrawal() {
        let one = Candidate { session_epoch: 3, ..candidate(CandidateStatus::Skipped) };
        assert_eq!([1, 2, 3, 4].map(|epoch| one.has_withdrawn_session(epoch)), [false, true, false, false]);
        for status in CandidateStatus::ALL.into_iter().filter(|status| *status != CandidateStatus::Skipped) {
            let other = Candidate { session_epoch: 3, ..candidate(status) };
            assert!(![2, 3].iter().any(|epoch| other.has_withdrawn_session(*epoch)), "{status:?}");
        }
    }

    #[test]
    fn an_overdue_key_is_told_apart_before_the_schedule_has_run() {
        let mut one = Candidate {
            access_key: Some(key("first")),
            status: CandidateStatus::Invited,
            ..samples::candidate()
        };
        one.profile.deadline = Some(DateTime::UNIX_EPOCH);
        assert_eq!(end_of(&one, "first"), Some(KeyEnd::Overdue));
        one.profile.deadline = Some(DateTime::UNIX_EPOCH + TimeDelta::seconds(1));
        one.replace_key(None);
        one.password_hash = Some(PasswordHash::new(String::new()));
        assert_eq!(end_of(&one, "first"), Some(KeyEnd::Registered));
    }

    #[test]
    fn keys_that_went_to_another_address_tell_only_that_they_were_replaced() {
        let mut one = candidate(CandidateStatus::Invited);
        one.access_key = Some(key("second"));
        one.redirect_key(Some(key("third")));
        one.status = CandidateStatus::Interviewed;
        one.replace_key(None);
        for (name, end) in
            [("first", KeyEnd::Replaced), ("second", KeyEnd::Replaced), ("third", KeyEnd::Completed)]
        {
            assert_eq!(end_of(&one, name), Some(end), "{name}");
        }
    }

    #[test]
    fn the_latest_former_keys_are_kept() {
        let mut one = candidate(CandidateStatus::Invited);
        for number in 1..=MAX_FORMER_KEYS {
            one.access_key = Some(key(&number.to_string()));
            one.replace_key(None);
        }
        assert_eq!(one.former_keys.len(), MAX_FORMER_KEYS);
        assert_eq!(end_of(&one, "first"), None);
        assert_eq!(end_of(&one, "1"), Some(KeyEnd::Replaced));
        // A key that is replaced by itself does not end.
        one.access_key = Some(key("last"));
        one.replace_key(Some(key("last")));
        assert_eq!(one.former_keys.len(), MAX_FORMER_KEYS);
        assert!(one.former_keys.iter().all(|former| former.hash != SecretHash::of("last")));
    }
}
