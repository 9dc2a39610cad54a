//! Sessions: what stands behind a token or a cookie.

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::Store;
use super::batch::Batch;
use super::item::{self, EXPIRES_AT, Item, VERSION, number};
use super::keys::{self, Key};
use crate::clock::Entropy;
use crate::domain::account::Claim;
use crate::domain::secret::{MediaKey, SecretHash};
use crate::error::{Error, Result};

/// The longest a session may live, however busy it is.
const MAX_LIFETIME_DAYS: i64 = 30;

/// How a session's secret travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// In the Authorization header.
    Token,
    /// In a cookie.
    Cookie,
}

/// A session as it is stored, under the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// How its secret travels.
    pub kind: SessionKind,
    /// Whose it is.
    pub claim: Claim,
    /// The user's session epoch when it began; a later epoch ends it.
    pub epoch: u32,
    /// The same of whoever acts for the user, if somebody does.
    #[serde(default)]
    pub actor_epoch: Option<u32>,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// When it was last known to be used; behind by up to a tenth of the idle period.
    pub used_at: DateTime<Utc>,
    /// When it ends whatever happens; none leaves it to inactivity.
    pub fixed_end: Option<DateTime<Utc>>,
    /// What the addresses of files that it is shown are signed with.
    pub media_key: MediaKey,
}

impl Session {
    /// A session, of an account in its present `epoch`, that begins at `now`; `days` fixes its end, else it lives by being
    /// used.
    pub fn begin(
        kind: SessionKind,
        claim: Claim,
        epoch: u32,
        days: Option<u8>,
        (now, entropy): (DateTime<Utc>, &dyn Entropy),
    ) -> Self {
        Self {
            media_key: MediaKey::generate(entropy),
            kind,
            claim,
            epoch,
            actor_epoch: None,
            created_at: now,
            used_at: now,
            fixed_end: days.map(|days| now + TimeDelta::days(days.into())),
        }
    }

    /// When it ends unless it is used before.
    pub fn expires_at(&self, idle_minutes: i64) -> DateTime<Utc> {
        self.fixed_end.unwrap_or_else(|| {
            let idle_end = self.used_at + TimeDelta::minutes(idle_minutes);
            idle_end.min(self.created_at + TimeDelta::days(MAX_LIFETIME_DAYS))
        })
    }

    /// Whether its use at `now` is worth a write: a tenth of the idle period has passed since the last.
    pub fn is_due_to_slide(&self, idle_minutes: i64, now: DateTime<Utc>) -> bool {
        self.fixed_end.is_none() && now - self.used_at >= TimeDelta::minutes(idle_minutes) / 10
    }
}

impl Batch {
    /// Takes the session under `key` out, if there was one.
    pub(crate) fn take_session(&mut self, key: &Key) -> Result<Option<Session>> {
        self.take_item(key).as_ref().map(item::value_in).transpose()
    }
}

impl Store {
    /// Writes a new session under its secret.
    ///
    /// DynamoDB deletes it some time after it has ended; until then it is refused by its own dates.
    pub(crate) async fn create_session(&self, secret: &str, session: &Session) -> Result<()> {
        let mut item: Item = serde_dynamo::to_item(session).map_err(Error::internal)?;
        item.insert(VERSION.to_owned(), number(1));
        let last_day = session.fixed_end.unwrap_or(session.created_at + TimeDelta::days(MAX_LIFETIME_DAYS));
        item.insert(EXPIRES_AT.to_owned(), number(last_day.timestamp()));
        self.put(keys::session(&SecretHash::of(secret)), item).await
    }

    /// Ends the session under `key`; one that has ended already stays ended.
    pub(crate) async fn end_session(&self, key: &Key) -> Result<()> {
        self.delete_alone(key).await
    }

    /// Notes that the session under `key` was used at `now`, unless it has ended meanwhile.
    ///
    /// Tried once: the answer waits for it, and a session that misses one note only ends a little sooner.
    pub(crate) async fn slide_session(&self, key: &Key, now: DateTime<Utc>) -> Result<()> {
        self.usage.count_call();
        let response = self
            .client()
            .update_item()
            .table_name(self.table())
            .set_key(Some(key.clone().into_attributes()))
            .update_expression("SET used_at = :now ADD version :one")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_values(
                ":now",
                serde_dynamo::to_attribute_value(now).map_err(Error::internal)?,
            )
            .expression_attribute_values(":one", number(1))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match response {
            Ok(response) => self.usage.count_writes(response.consumed_capacity()),
            Err(error)
                if error
                    .as_service_error()
                    .is_some_and(|error| error.is_conditional_check_failed_exception()) => {}
            Err(error) => return Err(Error::internal(error)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemEntropy;
    use crate::domain::account::Account;
    use crate::domain::id::Id;

    fn session(fixed_end_days: Option<i64>) -> Session {
        let start = DateTime::UNIX_EPOCH;
        Session {
            kind: SessionKind::Token,
            claim: Claim::own(
                "acme".parse().unwrap(),
                Account::Customer { customer: Id::from_bytes([1; 16]) },
            ),
            epoch: 0,
            actor_epoch: None,
            created_at: start,
            used_at: start,
            fixed_end: fixed_end_days.map(|days| start + TimeDelta::days(days)),
            media_key: MediaKey::generate(&SystemEntropy),
        }
    }

    #[test]
    fn it_lives_by_use_but_not_for_ever() {
        let start = DateTime::UNIX_EPOCH;
        let mut session = session(None);
        assert_eq!(session.expires_at(120), start + TimeDelta::minutes(120));
        assert!(!session.is_due_to_slide(120, start + TimeDelta::minutes(11)));
        assert!(session.is_due_to_slide(120, start + TimeDelta::minutes(12)));
        session.used_at = start + TimeDelta::days(30) - TimeDelta::minutes(1);
        assert_eq!(session.expires_at(120), start + TimeDelta::days(30));
    }

    #[test]
    fn a_fixed_end_knows_no_inactivity() {
        let session = session(Some(7));
        assert_eq!(session.expires_at(120), DateTime::UNIX_EPOCH + TimeDelta::days(7));
        assert!(!session.is_due_to_slide(120, DateTime::UNIX_EPOCH + TimeDelta::days(3)));
    }
}
