//! Sessions and their access patterns.

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::account::CredentialClaim;
use crate::domain::secret::{Sealed, SecretHash};
use crate::domain::staff::sign_in::MAX_SESSION;
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, EXPIRES_AT, number};
use crate::store::table::keys::{self, ItemKey};

const MAX_LIFETIME_DAYS: i64 = 30;

/// How a client presents the secret of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// A token in the Authorization header.
    Token,
    Cookie,
}

/// A session as it is stored, under the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// How the client presents the session's secret.
    pub kind: SessionKind,
    /// The account that the session authenticates.
    pub claim: CredentialClaim,
    /// The account's session epoch at the start of the session. A later epoch revokes it.
    pub epoch: u32,
    /// The session epoch of the customer who acts on behalf of the account, if there is one.
    pub actor_epoch: Option<u32>,
    pub created_at: DateTime<Utc>,
    /// The last known use, up to a tenth of the idle period ago.
    pub used_at: DateTime<Utc>,
    /// The fixed end; `None` if the session ends by inactivity.
    pub fixed_end: Option<DateTime<Utc>>,
    /// The `links_since` of the company's sign-in settings when the session's holder signed in by the provider; `None`
    /// for a login. A change of `links_since` revokes the session.
    #[serde(rename = "links_since", default, skip_serializing_if = "Option::is_none")]
    pub signed_in_under: Option<DateTime<Utc>>,
    /// The [`MediaKey`](crate::domain::secret::MediaKey) of the session's secret. It verifies URLs of files in
    /// responses to the session.
    pub media_key: Sealed,
}

impl Session {
    /// A session that starts at `now`. It ends after `days` or, if `None`, by inactivity.
    pub fn begin(
        kind: SessionKind,
        claim: CredentialClaim,
        epoch: u32,
        days: Option<u8>,
        now: DateTime<Utc>,
        media_key: Sealed,
    ) -> Self {
        Self {
            media_key,
            kind,
            claim,
            epoch,
            actor_epoch: None,
            created_at: now,
            used_at: now,
            fixed_end: days.map(|days| now + TimeDelta::days(days.into())),
            signed_in_under: None,
        }
    }

    /// The end of the session if it is not used before.
    pub fn expires_at(&self, idle_minutes: i64) -> DateTime<Utc> {
        let longest =
            if self.signed_in_under.is_some() { MAX_SESSION } else { TimeDelta::days(MAX_LIFETIME_DAYS) };
        let idle_end = self.used_at + TimeDelta::minutes(idle_minutes);
        let last = self.created_at + longest;
        self.fixed_end.unwrap_or(idle_end).min(last)
    }

    /// Whether to write the use of the session at `now`: a tenth of the idle period has passed since the last write.
    pub fn is_due_to_extend(&self, idle_minutes: i64, now: DateTime<Utc>) -> bool {
        self.fixed_end.is_none() && now - self.used_at >= TimeDelta::minutes(idle_minutes) / 10
    }
}

impl Store {
    /// Creates a session under the hash of its secret.
    ///
    /// DynamoDB deletes the session some time after its end; until then, requests must check its dates.
    pub(crate) async fn create_session(&self, secret: &str, session: &Session) -> Result<()> {
        let mut item = item::bare_of(session)?;
        let last_day = session.fixed_end.unwrap_or(session.created_at + TimeDelta::days(MAX_LIFETIME_DAYS));
        item.insert(EXPIRES_AT.to_owned(), number(last_day.timestamp()));
        self.put(keys::session(&SecretHash::of(secret)), item).await
    }

    pub(crate) async fn end_session(&self, key: &ItemKey) -> Result<()> {
        self.delete_alone(key).await
    }

    /// Notes the use of a session at `now`. Does nothing if it was revoked.
    pub(crate) async fn extend_session(&self, key: &ItemKey, now: DateTime<Utc>) -> Result<()> {
        let used_at = serde_dynamo::to_attribute_value(now).map_err(Error::internal)?;
        self.usage.count_call();
        // Make only one attempt, because the response waits for it. Without this write, the session only ends a little sooner.
        let response = self
            .client()
            .update_item()
            .table_name(self.table())
            .set_key(Some(key.clone().into_attributes()))
            .update_expression("SET used_at = :now ADD version :one")
            // Without this condition, the update would recreate a session that was just revoked.
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_values(":now", used_at)
            .expression_attribute_values(":one", number(1))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match response {
            Ok(response) => self.usage.count_writes(response.consumed_capacity()),
            Err(error) if error.code() == Some("ConditionalCheckFailedException") => {}
            Err(error) => return Err(Error::internal(error)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::account::Account;
    use crate::domain::id::Id;

    fn session(fixed_end_days: Option<i64>) -> Session {
        let start = DateTime::UNIX_EPOCH;
        Session {
            kind: SessionKind::Token,
            claim: CredentialClaim::own(
                "acme".parse().unwrap(),
                Account::Customer { customer: Id::from_bytes([1; 16]) },
            ),
            epoch: 0,
            actor_epoch: None,
            created_at: start,
            used_at: start,
            signed_in_under: None,
            fixed_end: fixed_end_days.map(|days| start + TimeDelta::days(days)),
            media_key: Sealed::of_nothing(),
        }
    }

    #[test]
    fn it_lives_by_use_but_not_for_ever() {
        let start = DateTime::UNIX_EPOCH;
        let mut session = session(None);
        assert_eq!(session.expires_at(120), start + TimeDelta::minutes(120));
        assert!(!session.is_due_to_extend(120, start + TimeDelta::minutes(11)));
        assert!(session.is_due_to_extend(120, start + TimeDelta::minutes(12)));
        session.used_at = start + TimeDelta::days(30) - TimeDelta::minutes(1);
        assert_eq!(session.expires_at(120), start + TimeDelta::days(30));
    }

    #[test]
    fn one_by_a_provider_lives_for_twelve_hours_at_most() {
        let start = DateTime::UNIX_EPOCH;
        let session =
            Session { signed_in_under: Some(start), used_at: start + TimeDelta::hours(11), ..session(None) };
        assert_eq!(session.expires_at(30), start + TimeDelta::minutes(11 * 60 + 30));
        assert_eq!(session.expires_at(120), start + TimeDelta::hours(12));
    }

    #[test]
    fn a_fixed_end_knows_no_inactivity() {
        let session = session(Some(7));
        assert_eq!(session.expires_at(120), DateTime::UNIX_EPOCH + TimeDelta::days(7));
        assert!(!session.is_due_to_extend(120, DateTime::UNIX_EPOCH + TimeDelta::days(3)));
    }
}
