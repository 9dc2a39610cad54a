//! Exchanges of JWTs for tokens that act as a named token (RFC 8693).

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{PublicAccess, until_step};
use crate::auth::credential::new_exchanged_token;
use crate::domain::id::{CompanyId, TokenId};
use crate::domain::issuer::{IssuerUrl, PresentedJwt, VerifiedJwt};
use crate::domain::secret::SecretHash;
use crate::domain::staff::exchange::{TrustChoice, end_of_exchanged};
use crate::domain::staff::named_token::{NamedToken, day_of_use};
use crate::domain::staff::trust::{NotedProblem, TrustProblem};
use crate::error::{Error, Result};
use crate::store::{ExchangedToken, RecentFailures, keys};

// Failed exchanges take a multiple of this. A company with such tokens takes a little longer to read than one that there is not, and only an
// issuer that it trusts is asked for an unknown key, which takes most of them some hundred milliseconds.
const FAILURE_STEP: Duration = Duration::from_secs(1);

/// The company for which a JWT is exchanged, or one of its named tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeTarget {
    pub company: CompanyId,
    /// `None` for any token of the company that trusts the workload.
    pub token: Option<TokenId>,
}

/// A token that acts as a named token.
#[derive(Debug)]
pub struct NewExchangedToken {
    /// The secret that its holder presents.
    pub secret: String,
    pub ends_at: DateTime<Utc>,
}

/// Why no token was made.
enum ExchangeFailure<'a> {
    /// Nothing proves that an issuer knows the sender, so nothing is noted.
    NotSigned,
    /// Something that the owners of these tokens can mend.
    Problems(Vec<(&'a NamedToken, TrustProblem)>),
}

impl PublicAccess {
    /// Exchanges a JWT for a token that acts as the named token which trusts its workload; `None` if none does, without telling
    /// whether there is such a company, such a token or such an issuer. Fails with [`Error::Throttled`] in place of the latter after too
    /// many failures.
    pub async fn exchange(&self, target: &ExchangeTarget, jwt: &str) -> Result<Option<NewExchangedToken>> {
        let presented = PresentedJwt::parse(jwt);
        // A JWT that cannot be read takes the same path, with an empty issuer.
        let issuer = presented.as_ref().map(PresentedJwt::issuer).unwrap_or_default();
        let hash = SecretHash::of(&format!("EXCHANGE#{}#{issuer}", target.company));
        let (tokens, failures) = self.store.begin_exchange(&target.company, hash).await?;
        let tokens: Vec<NamedToken> =
            tokens.into_iter().filter(|token| self.is_meant(token, target, issuer)).collect();
        let failure = match presented {
            Some(presented) => match self.verified(presented, &tokens).await {
                Ok(jwt) => match self.chosen(&jwt, &tokens, target) {
                    Ok((token, jwt_end)) => return self.begin_exchanged(token, jwt_end).await.map(Some),
                    Err(failure) => failure,
                },
                Err(failure) => failure,
            },
            None => ExchangeFailure::NotSigned,
        };
        let noted = self.note_failure(failure, failures).await;
        self.app.pause(until_step(FAILURE_STEP, self.state.usage.elapsed())).await;
        noted.map(|()| None)
    }

    /// Whether a token may be the one that is asked for.
    fn is_meant(&self, token: &NamedToken, target: &ExchangeTarget, issuer: &str) -> bool {
        token.is_alive_at(self.now)
            && target.token.is_none_or(|id| id == token.id)
            && token.proof.trust().is_some_and(|trust| trust.issuer.as_str() == issuer)
    }

    /// The claims of a JWT, if the issuer that `tokens` trust has signed them.
    async fn verified<'a>(
        &self,
        presented: PresentedJwt,
        tokens: &'a [NamedToken],
    ) -> Result<VerifiedJwt, ExchangeFailure<'a>> {
        // No issuer is asked for which no token of the company vouches.
        let issuer: Option<&IssuerUrl> = tokens.iter().find_map(|token| Some(&token.proof.trust()?.issuer));
        let issuer = issuer.ok_or(ExchangeFailure::NotSigned)?;
        let metadata = self.app.issuer_metadata(issuer, Some(presented.key_id())).await.map_err(|fault| {
            ExchangeFailure::Problems(tokens.iter().map(|token| (token, fault.into())).collect())
        })?;
        presented.verify(&metadata.keys).ok_or(ExchangeFailure::NotSigned)
    }

    /// The token of `tokens` that trusts the workload, and the end of the JWT.
    fn chosen<'a>(
        &self,
        jwt: &VerifiedJwt,
        tokens: &'a [NamedToken],
        target: &ExchangeTarget,
    ) -> Result<(&'a NamedToken, DateTime<Utc>), ExchangeFailure<'a>> {
        let token = match TrustChoice::among(tokens, jwt) {
            TrustChoice::Token(token) => token,
            TrustChoice::Refused(mut problems) => {
                // Everybody whom the issuer knows has other claims. Sent to the company, they must not hide the problems of its workloads.
                problems.retain(|(_, problem)| target.token.is_some() || !problem.is_of_claims());
                return Err(ExchangeFailure::Problems(problems));
            }
        };
        let end = jwt.check(self.app.config().base_url.as_str(), self.now);
        let end = end.map_err(|problem| ExchangeFailure::Problems(vec![(token, problem.into())]))?;
        Ok((token, end))
    }

    async fn begin_exchanged(&self, token: &NamedToken, jwt_end: DateTime<Utc>) -> Result<NewExchangedToken> {
        let secret = new_exchanged_token(&token.company, token.id, self.app.entropy());
        let hash = SecretHash::of(&secret);
        let ends_at = end_of_exchanged(token, jwt_end, self.now);
        let exchanged = ExchangedToken {
            company: token.company.clone(),
            token: token.id,
            ends_at,
            media_key: self.store.seal_media_key(&keys::exchanged_token(&hash), &secret).await?,
            created_at: self.now,
        };
        self.store.create_exchanged_token(&hash, &exchanged).await?;
        let today = day_of_use(self.now);
        if token.uses.exchanged_at.is_none_or(|noted| noted < today) {
            self.store.note_exchange_in_background(token, today);
        }
        Ok(NewExchangedToken { secret, ends_at })
    }

    /// Counts a failure, and notes it on the tokens whose owners can do something about it.
    async fn note_failure(&self, failure: ExchangeFailure<'_>, failures: RecentFailures) -> Result<()> {
        self.store.count_failure(failures, &self.state.source, self.now).await?;
        let ExchangeFailure::Problems(problems) = failure else { return Ok(()) };
        for (token, problem) in problems {
            if NotedProblem::is_news(token.uses.last_problem, problem, self.now) {
                match self.store.note_trust_problem(token, problem, self.now).await {
                    // Another failure was noted at the same time.
                    Err(Error::Changed) => {}
                    noted => noted?,
                }
            }
        }
        Ok(())
    }
}
