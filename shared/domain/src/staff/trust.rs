//! Trust of a named token: instead of a secret value, a platform's signature proves who may use the token.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::issuer::{IssuerFault, IssuerUrl, JwtProblem, VerifiedJwt};
use crate::names::named;

/// The maximum number of a company's tokens with trust.
pub const MAX_TRUSTS: u32 = 20;
/// The company has the maximum number of named tokens with trust.
pub const TOO_MANY_TRUSTS: Refusal = Refusal {
    code: "too_many_trusts",
    detail: "A company may have 20 named tokens with `trust`. Delete one first.",
};
/// The maximum number of claims besides the subject.
pub const MAX_CLAIMS: usize = 10;
/// The maximum length of a subject and of a claim's value, in characters.
const MAX_TEXT: usize = 500;
/// The maximum length of a claim's name, in characters.
const MAX_NAME: usize = 100;
/// Claims that the service checks itself, so that no trust may name them.
const OWN_CLAIMS: [&str; 6] = ["iss", "sub", "aud", "exp", "nbf", "iat"];
/// How long a recurring problem is not recorded again.
const NOTED_AGAIN: TimeDelta = TimeDelta::hours(1);

/// A value in a token, compared character by character.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1, "maxLength" = MAX_TEXT))]
#[serde(try_from = "String")]
pub struct ClaimText(String);

impl ClaimText {
    /// Parses the value of a claim. The error is a message for the client.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::check(text)?;
        // A wildcard would be compared literally and match nothing, which the owner would notice only in production.
        if text.contains('*') {
            return Err("Wildcards are not supported. Write the whole value.".to_owned());
        }
        Ok(Self(text.to_owned()))
    }

    fn check(text: &str) -> Result<(), String> {
        let length = text.chars().count();
        if !(1..=MAX_TEXT).contains(&length) {
            return Err(format!("Ensure this field has 1 to {MAX_TEXT} characters."));
        }
        if text.chars().any(char::is_control) {
            return Err("Control characters are not allowed.".to_owned());
        }
        Ok(())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ClaimText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::check(&text)?;
        Ok(Self(text))
    }
}

/// The workload that may use a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenTrust {
    pub issuer: IssuerUrl,
    /// The claim `sub`.
    pub subject: ClaimText,
    /// Further claims, by name.
    pub claims: BTreeMap<String, ClaimText>,
}

impl TokenTrust {
    /// Checks the name of a claim. The error is a message for the client.
    pub fn check_claim(name: &str) -> Result<(), String> {
        let length = name.chars().count();
        if !(1..=MAX_NAME).contains(&length) || name.chars().any(char::is_control) {
            return Err(format!("The name of a claim has 1 to {MAX_NAME} visible characters."));
        }
        match name {
            "sub" => Err("`sub` is the `subject`.".to_owned()),
            "iss" => Err("`iss` is the `issuer`.".to_owned()),
            "aud" => Err("`aud` is always the base URL of the API.".to_owned()),
            name if OWN_CLAIMS.contains(&name) => Err(format!("`{name}` is checked in any case.")),
            _ => Ok(()),
        }
    }

    /// Why the claims of `jwt` are not those of the workload; `None` if they are.
    pub(super) fn problem(&self, jwt: &VerifiedJwt) -> Option<TrustProblem> {
        if jwt.text("sub") != Some(self.subject.as_str()) {
            return Some(TrustProblem::WrongSubject);
        }
        let is_equal =
            |(name, value): (&String, &ClaimText)| jwt.text(name).is_some_and(|text| text == value.as_str());
        (!self.claims.iter().all(is_equal)).then_some(TrustProblem::WrongClaim)
    }
}

named! {
    /// Why the last exchange for a token failed.
    pub enum TrustProblem {
        /// The issuer could not be reached, did not answer in time, or answered with 429 or a server error.
        IssuerUnreachable = "issuer_unreachable",
        /// The host of the issuer, or that of its keys, is not in the public internet.
        IssuerNotPublic = "issuer_not_public",
        /// There is no valid configuration at `/.well-known/openid-configuration` below the issuer's URL.
        IssuerWithoutDiscovery = "issuer_without_discovery",
        /// The configuration at the issuer's URL names another issuer.
        IssuerDiffers = "issuer_differs",
        /// The issuer publishes no keys for RS256, ES256 or ES384.
        IssuerWithoutKeys = "issuer_without_keys",
        /// The audience of the JWT (`aud`) was not the base URL of the API.
        WrongAudience = "wrong_audience",
        /// The JWT had expired, was not valid yet, was older than a day, or lacked the claims about its time.
        WrongTime = "wrong_time",
        /// The `sub` of the JWT was not the token's `subject`.
        WrongSubject = "wrong_subject",
        /// One of the token's `claims` was missing in the JWT, was not a string, or had another value.
        WrongClaim = "wrong_claim",
        /// Several tokens of the company trust the workload, and the request named none of them.
        SeveralTokens = "several_tokens",
    }
}

impl TrustProblem {
    /// Whether the JWT may belong to another workload, so that the problem does not concern the token.
    pub fn is_of_claims(self) -> bool {
        matches!(self, Self::WrongSubject | Self::WrongClaim)
    }
}

impl From<IssuerFault> for TrustProblem {
    fn from(fault: IssuerFault) -> Self {
        match fault {
            IssuerFault::Unreachable => Self::IssuerUnreachable,
            IssuerFault::NotPublic => Self::IssuerNotPublic,
            IssuerFault::NoDiscovery => Self::IssuerWithoutDiscovery,
            IssuerFault::OtherIssuer => Self::IssuerDiffers,
            IssuerFault::NoKeys => Self::IssuerWithoutKeys,
        }
    }
}

impl From<JwtProblem> for TrustProblem {
    fn from(problem: JwtProblem) -> Self {
        match problem {
            JwtProblem::Audience => Self::WrongAudience,
            JwtProblem::Time => Self::WrongTime,
        }
    }
}

/// A problem, and when an exchange last failed because of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedProblem {
    pub problem: TrustProblem,
    pub at: DateTime<Utc>,
}

impl NotedProblem {
    /// Whether `problem` at `now` must be recorded after `last`. Repeated problems are skipped, because anyone whom the issuer
    /// knows can cause them.
    pub fn is_news(last: Option<Self>, problem: TrustProblem, now: DateTime<Utc>) -> bool {
        last.is_none_or(|last| last.problem != problem || last.at + NOTED_AGAIN <= now)
    }
}
