//! Limits failed logins with one name, from one source and from all sources.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::serde::ts_milliseconds;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::secret::SecretHash;
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};

/// The most attempts at counting a failure while other requests count under the same hash.
const TRIES: usize = 10;

/// The recent failed logins with one name. Each login counts as failed from its start, so that concurrent guesses all
/// count. Contains only hashes of the name and of addresses.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::store) struct FailedLogins {
    name: SecretHash,
    recent: Vec<FailedLogin>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct FailedLogin {
    #[serde(with = "ts_milliseconds")]
    at: DateTime<Utc>,
    /// The first bytes of a hash of name and source.
    by: String,
}

/// A login that is counted as a failure until it succeeds.
#[derive(Debug)]
pub(crate) struct CountedLogin(pub(in crate::store) VersionedItem<FailedLogins>);

impl FailedLogins {
    /// How many failures with a name from one source lock out that source.
    pub(in crate::store) const OF_SOURCE: usize = 10;
    /// How many failures with a name from all sources slow down its logins.
    pub(in crate::store) const OF_ALL: usize = 100;
    /// How long a failure counts.
    const WINDOW: TimeDelta = TimeDelta::minutes(15);
    /// The minimum time between two logins with a name that is slowed down.
    pub(in crate::store) const PACE: TimeDelta = TimeDelta::seconds(10);

    pub(in crate::store) fn none(name: SecretHash) -> Self {
        Self { name, recent: Vec::new() }
    }

    /// The hash of the name.
    pub(in crate::store) fn name(&self) -> &SecretHash {
        &self.name
    }

    /// A hash that distinguishes sources without storing their addresses. It includes the name, so that it does not
    /// reveal which names one source has tried.
    fn hash_of(&self, source: &str) -> String {
        let hash = Sha256::digest(format!("{}#{source}", self.name.as_str()));
        URL_SAFE_NO_PAD.encode(&hash[..8])
    }

    /// Fails with [`Error::Throttled`] and the time to wait if there are too many failures from `source` at `now`.
    pub(in crate::store) fn require_room_for(&self, source: &str, now: DateTime<Utc>) -> Result<()> {
        let by = self.hash_of(source);
        let is_own = |failure: &&FailedLogin| failure.by == by && failure.at + Self::WINDOW > now;
        let mut own = self.recent.iter().filter(is_own);
        match own.next() {
            // Lock out only this source: if failures locked the name, anyone could lock out anyone.
            Some(oldest) if own.count() + 1 >= Self::OF_SOURCE => {
                Err(Error::Throttled(oldest.at + Self::WINDOW - now))
            }
            _ => Ok(()),
        }
    }

    /// Adds a failure from `source` at `now`. Fails with [`Error::Throttled`] and the time to wait if there are too many failures already.
    pub(in crate::store) fn with_one_more(mut self, source: &str, now: DateTime<Utc>) -> Result<Self> {
        self.recent.retain(|failure| failure.at + Self::WINDOW > now);
        self.require_room_for(source, now)?;
        // Failures from many sources slow the name down instead of locking it, so that its owner can still log in.
        if let Some(newest) = self.recent.last().filter(|_| self.recent.len() >= Self::OF_ALL)
            && newest.at + Self::PACE > now
        {
            return Err(Error::Throttled(newest.at + Self::PACE - now));
        }
        let by = self.hash_of(source);
        self.recent.push(FailedLogin { at: now, by });
        Ok(self)
    }

    pub(in crate::store) fn without_last(mut self) -> Self {
        self.recent.pop();
        self
    }
}

impl StoredEntity for FailedLogins {
    fn key(&self) -> ItemKey {
        keys::login_failures(&self.name)
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        Some(self.recent.last()?.at + Self::WINDOW)
    }
}

/// The recent failures, under a hash, of attempts other than logins that have the same limits: exchanges for a company, and sign-ins to it.
#[derive(Debug)]
pub(crate) struct RecentFailures(VersionedItem<FailedLogins>);

impl RecentFailures {
    /// Fails with [`Error::Throttled`] if there are too many failures from `source` at `now`.
    pub(crate) fn require_room_for(&self, source: &str, now: DateTime<Utc>) -> Result<()> {
        self.0.require_room_for(source, now)
    }
}

impl Store {
    /// Reads the recent failures under a hash.
    pub(in crate::store) async fn recent_failures(&self, hash: SecretHash) -> Result<RecentFailures> {
        let found = self.one(keys::login_failures(&hash)).await?;
        Ok(RecentFailures(found.unwrap_or_else(|| VersionedItem::not_stored(FailedLogins::none(hash)))))
    }

    /// Counts a failure. Fails with [`Error::Throttled`] if there are too many failures, or if too many are being counted at once.
    pub(crate) async fn count_failure(
        &self,
        mut failures: RecentFailures,
        source: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        for _ in 0..TRIES {
            let RecentFailures(before) = failures;
            let after = FailedLogins::clone(&before).with_one_more(source, now)?;
            match self.save(&before, after).await {
                Err(Error::Changed) => failures = self.recent_failures(before.name().clone()).await?,
                counted => return counted.map(drop),
            }
        }
        Err(Error::Throttled(FailedLogins::PACE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(failures: &FailedLogins, source: &str, now: DateTime<Utc>) -> Option<i64> {
        match failures.clone().with_one_more(source, now) {
            Ok(_) => None,
            Err(Error::Throttled(wait)) => Some(wait.num_seconds()),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_source_is_locked_out_first_and_the_name_slowed_down_beyond() {
        let start = DateTime::UNIX_EPOCH;
        let mut failures = FailedLogins::none(SecretHash::of("LOGIN#acme#owner"));
        for n in 0..FailedLogins::OF_ALL {
            let source = format!("192.0.2.{}", n / FailedLogins::OF_SOURCE);
            assert_eq!(wait(&failures, &source, start), None, "{n}");
            failures = failures.with_one_more(&source, start).unwrap();
            let is_locked = (n + 1) % FailedLogins::OF_SOURCE == 0;
            assert_eq!(wait(&failures, &source, start).is_some(), is_locked, "{n}");
        }
        let pause = start + FailedLogins::PACE;
        assert_eq!(wait(&failures, "198.51.100.1", start), Some(10));
        assert_eq!(wait(&failures, "198.51.100.1", pause), None, "one more every ten seconds");
        assert_eq!(wait(&failures, "192.0.2.0", pause), Some(890), "but not from who had their ten");
        assert_eq!(wait(&failures, "192.0.2.0", start + FailedLogins::WINDOW), None);
    }

    #[test]
    fn stored_failures_contain_no_names() {
        let failures = FailedLogins::none(SecretHash::of("LOGIN#acme#owner"));
        let stored =
            serde_json::to_string(&failures.with_one_more("192.0.2.1", DateTime::UNIX_EPOCH).unwrap());
        let stored = stored.unwrap();
        assert!(!stored.contains("owner") && !stored.contains("192.0"), "{stored}");
    }
}
