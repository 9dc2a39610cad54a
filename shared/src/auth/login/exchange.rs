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

// A failed exchange takes a multiple of this time, to hide two differences: reading a company with such tokens takes a little
// longer than reading one that does not exist, and only a trusted issuer is queried for an unknown key, which takes most issuers
// some hundred milliseconds.
const FAILURE_STEP: Duration = Duration::from_secs(1);

/// The target of an exchange: a company, or one of its named tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeTarget {
    pub company: CompanyId,
    /// `None` for whichever token of the company trusts the workload.
    pub token: Option<TokenId>,
}

/// A new token that acts as a named token.
#[derive(Debug)]
pub struct NewExchangedToken {
    /// The secret that the client presents.
    pub secret: String,
    pub ends_at: DateTime<Utc>,
}

/// Why an exchange made no token.
enum ExchangeFailure<'a> {
    /// No trusted issuer has signed the JWT, so anyone may have sent it and nothing is recorded on the tokens.
    NotSigned,
    /// Problems that the owners of these tokens can fix.
    Problems(Vec<(&'a NamedToken, TrustProblem)>),
}

impl PublicAccess {
    /// Exchanges a JWT for a token that acts as the named token that trusts the JWT's workload. Returns `None` if none does or,
    /// after too many failures, [`Error::Throttled`]; neither reveals whether the company, the token or the issuer exists.
    pub async fn exchange(&self, target: &ExchangeTarget, jwt: &str) -> Result<Option<NewExchangedToken>> {
        let presented = PresentedJwt::parse(jwt);
        // A malformed JWT takes the same path, with an empty issuer.
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

    /// Whether the request may be for `token`: it is alive, it is the requested one if any, and it trusts `issuer`.
    fn is_meant(&self, token: &NamedToken, target: &ExchangeTarget, issuer: &str) -> bool {
        token.is_alive_at(self.now)
            && target.token.is_none_or(|id| id == token.id)
            && token.proof.trust().is_some_and(|trust| trust.issuer.as_str() == issuer)
    }

    /// Verifies that the issuer that `tokens` trust has signed the JWT.
    async fn verified<'a>(
        &self,
        presented: PresentedJwt,
        tokens: &'a [NamedToken],
    ) -> Result<VerifiedJwt, ExchangeFailure<'a>> {
        // Query only an issuer that a token of the company trusts.
        let issuer: Option<&IssuerUrl> = tokens.iter().find_map(|token| Some(&token.proof.trust()?.issuer));
        let issuer = issuer.ok_or(ExchangeFailure::NotSigned)?;
        let metadata = self.app.issuer_metadata(issuer, Some(presented.key_id())).await.map_err(|fault| {
            ExchangeFailure::Problems(tokens.iter().map(|token| (token, fault.into())).collect())
        })?;
        presented.verify(&metadata.keys).ok_or(ExchangeFailure::NotSigned)
    }

    /// Selects the token that trusts the JWT's workload. Also returns when the JWT expires.
    fn chosen<'a>(
        &self,
        jwt: &VerifiedJwt,
        tokens: &'a [NamedToken],
        target: &ExchangeTarget,
    ) -> Result<(&'a NamedToken, DateTime<Utc>), ExchangeFailure<'a>> {
        let token = match TrustChoice::among(tokens, jwt) {
            TrustChoice::Token(token) => token,
            TrustChoice::Refused(mut problems) => {
                // Anyone with a JWT of the issuer can send it to the company, with other claims. Unless the request names the
                // token, drop such problems: they would hide those of the company's own workloads.
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

    /// Counts the failure, and records its problems on the tokens whose owners can fix them.
    async fn note_failure(&self, failure: ExchangeFailure<'_>, failures: RecentFailures) -> Result<()> {
        self.store.count_failure(failures, &self.state.source, self.now).await?;
        let ExchangeFailure::Problems(problems) = failure else { return Ok(()) };
        for (token, problem) in problems {
            if NotedProblem::is_news(token.uses.last_problem, problem, self.now) {
                match self.store.note_trust_problem(token, problem, self.now).await {
                    // A concurrent request has recorded a problem, which is enough.
                    Err(Error::Changed) => {}
                    noted => noted?,
                }
            }
        }
        Ok(())
    }
}
