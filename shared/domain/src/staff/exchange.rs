//! The exchange of a JWT for a token: which named token it acts as, and when it ends.

use chrono::{DateTime, TimeDelta, Utc};

use crate::issuer::VerifiedJwt;
use crate::staff::named_token::NamedToken;
use crate::staff::trust::TrustProblem;

/// The maximum lifetime of an exchanged token.
pub const MAX_LIFETIME: TimeDelta = TimeDelta::hours(1);

/// The result of choosing among the named tokens that trust the issuer of a JWT.
#[derive(Debug)]
pub enum TrustChoice<'a> {
    /// The only token that trusts the workload.
    Token(&'a NamedToken),
    /// No token or more than one trusts the workload; the problem of each token.
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

/// The expiry of a token that an exchange for `token` creates at `now`. `jwt_end` is the expiry of the JWT.
pub fn end_of_exchanged(token: &NamedToken, jwt_end: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    let end = (now + MAX_LIFETIME).min(jwt_end + MAX_LIFETIME);
    token.expires_at.map_or(end, |last| end.min(last))
}
