//! The exchange of a JWT for a token: the named token that it acts as, and its end.

use chrono::{DateTime, TimeDelta, Utc};

use crate::issuer::VerifiedJwt;
use crate::staff::named_token::NamedToken;
use crate::staff::trust::TrustProblem;

/// The longest life of a token that an exchange makes.
pub const MAX_LIFETIME: TimeDelta = TimeDelta::hours(1);

/// The choice among the named tokens that trust an issuer, by what it has signed.
#[derive(Debug)]
pub enum TrustChoice<'a> {
    /// The one token that trusts the workload.
    Token(&'a NamedToken),
    /// None, or more than one, trusts it; the problem of each token.
    Refused(Vec<(&'a NamedToken, TrustProblem)>),
}

impl<'a> TrustChoice<'a> {
    /// Chooses the token of `tokens` that trusts the workload in `jwt`.
    pub fn among(tokens: &'a [NamedToken], jwt: &VerifiedJwt) -> Self {
        let judged = tokens.iter().filter_map(|token| {
            let trust = token.proof.trust()?;
            Some((token, trust.problem(jwt)))
        });
        let judged: Vec<(&NamedToken, Option<TrustProblem>)> = judged.collect();
        let fitting: Vec<_> = judged.iter().filter(|(_, problem)| problem.is_none()).collect();
        match &fitting[..] {
            [(token, _)] => Self::Token(token),
            [] => {
                let refused = judged.into_iter().filter_map(|(token, problem)| Some((token, problem?)));
                Self::Refused(refused.collect())
            }
            several => {
                let refused = several.iter().map(|(token, _)| (*token, TrustProblem::SeveralTokens));
                Self::Refused(refused.collect())
            }
        }
    }
}

/// When a token ends that is made at `now` for `token`, by a JWT that ends at `jwt_end`.
pub fn end_of_exchanged(token: &NamedToken, jwt_end: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    let end = (now + MAX_LIFETIME).min(jwt_end + MAX_LIFETIME);
    token.expires_at.map_or(end, |last| end.min(last))
}
