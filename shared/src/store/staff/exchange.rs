//! Access patterns of exchanges: the named tokens of a company that trust a workload, and the tokens that exchanges create.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::id::{CompanyId, TokenId};
use crate::domain::secret::{Sealed, SecretHash};
use crate::domain::staff::named_token::NamedToken;
use crate::domain::staff::trust::{NotedProblem, TrustProblem};
use crate::error::{Error, Result};
use crate::store::login::failures::RecentFailures;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, EXPIRES_AT, number};
use crate::store::table::keys;
use crate::store::table::write::condition::AttributeUpdate;

/// A token, created by an exchange, that acts as a named token for an hour at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangedToken {
    pub company: CompanyId,
    /// The named token that this one acts as.
    pub token: TokenId,
    /// When the token stops working.
    pub ends_at: DateTime<Utc>,
    /// The [`MediaKey`](crate::domain::secret::MediaKey) of the token's secret.
    pub media_key: Sealed,
    /// When the token was created.
    pub created_at: DateTime<Utc>,
}

impl Store {
    /// Reads the named tokens of a company that trust a workload, and the recent failures under `hash`, that of the
    /// company and an issuer. Makes the same calls if the company does not exist.
    // A source with too many failures may still exchange JWTs that are trusted, because strangers share the addresses
    // of a platform's computers.
    pub(crate) async fn begin_exchange(
        &self,
        company: &CompanyId,
        hash: SecretHash,
    ) -> Result<(Vec<NamedToken>, RecentFailures)> {
        let failures = self.recent_failures(hash).await?;
        let mut tokens = Vec::new();
        for row in self.all_items(&keys::trusting_tokens(company)).await? {
            tokens.extend(item::or_skipped(item::value_in::<NamedToken>(&row))?);
        }
        Ok((tokens, failures))
    }

    /// Counts a request to an issuer that the company is about to trust, like a failed exchange. Fails with
    /// [`Error::Throttled`] after ten within 15 minutes.
    // The limit of tokens does not limit these requests, because tokens can be deleted as fast as they are created.
    pub(crate) async fn count_look_at_issuer(&self, company: &CompanyId, now: DateTime<Utc>) -> Result<()> {
        let looks = self.recent_failures(SecretHash::of(&format!("TRUST#{company}"))).await?;
        // Take the company as the source: its owners may have many IP addresses.
        self.count_failure(looks, company.as_str(), now).await
    }

    /// Stores the token of an exchange. Its secret has this `hash`.
    ///
    /// DynamoDB deletes the token some time after it ends; until then, requests with it are refused by `ends_at`.
    pub(crate) async fn create_exchanged_token(
        &self,
        hash: &SecretHash,
        token: &ExchangedToken,
    ) -> Result<()> {
        let mut item = item::bare_of(token)?;
        item.insert(EXPIRES_AT.to_owned(), number(token.ends_at.timestamp()));
        // If the named token is deleted in the meantime, this token admits no request, and DynamoDB deletes it later.
        self.put(keys::exchanged_token(hash), item).await
    }

    /// Notes on a named token why an exchange for it has failed. Does nothing if the named token is deleted.
    pub(crate) async fn note_trust_problem(
        &self,
        token: &NamedToken,
        problem: TrustProblem,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let noted = serde_dynamo::to_attribute_value(NotedProblem { problem, at: now });
        let update =
            AttributeUpdate::set("SET last_problem = :noted", [(":noted", noted.map_err(Error::internal)?)])
                // The update must not recreate a token that was just deleted.
                .when("attribute_exists(pk)");
        let mut transaction = self.transaction();
        transaction.update(keys::token_copy(token), update, Error::NotFound);
        match self.commit(transaction).await {
            Err(Error::NotFound) => Ok(()),
            noted => noted,
        }
    }
}
