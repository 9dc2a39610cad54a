//! Credentials in requests: opaque to clients, but they contain the keys of the session and its user, which saves a
//! round trip.

mod exchanged;
mod guest;

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::Refusal;
use crate::domain::account::{Account, CredentialClaim};
use crate::domain::id::{CompanyId, CustomerId, Id, TokenId};
use crate::domain::random::RandomSource;
use crate::domain::secret::{OneTimeKey, PresentedSecret, SecretHash};
use crate::domain::staff::named_token::{MIN_BITS, bits};
use crate::error::{Error, Result};
use crate::store::SessionKind;

pub(in crate::auth) use exchanged::generate as new_exchanged_token;
pub(in crate::auth) use guest::{GUEST_LINK, GuestKey};

/// The name of the session cookie.
pub const COOKIE: &str = "sessionid";
/// Random bytes in a secret: 192 bits.
const RANDOM_BYTES: usize = 24;

// The first byte of an encoded claim tells whose identifiers follow.
const CUSTOMER: u8 = 1;
const CANDIDATE: u8 = 2;
const ON_BEHALF: u8 = 3;

// The first byte of a reference tells the kind of credential.
const TOKEN: u8 = 1;
const COOKIE_SESSION: u8 = 2;
const ACCESS_KEY: u8 = 3;
const NAMED_TOKEN: u8 = 4;
// 5 is `GUEST_LINK`.
const EXCHANGED_TOKEN: u8 = 6;

/// The request has no credential.
pub const MISSING: Refusal =
    Refusal { code: "not_authenticated", detail: "Authentication credentials were not provided." };
/// The credential is malformed, unknown, expired or revoked.
pub const REJECTED: Refusal =
    Refusal { code: "invalid_credential", detail: "The credential is invalid or has expired." };
/// The header names no scheme that this service knows, such as `Bearer`, whatever the credential is.
pub const UNKNOWN_SCHEME: Refusal = Refusal {
    code: "invalid_credential",
    detail: "The `Authorization` header has no known scheme. Use \"Token <value>\".",
};

/// The error about every credential that is not valid. It does not say what is wrong.
pub(super) fn rejected() -> Error {
    Error::Unauthenticated(REJECTED)
}

/// The kinds of secrets that the service makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
    /// Proves a session.
    Session(SessionKind),
    /// Lets a candidate act without a password.
    AccessKey,
    /// Lets an account choose a password, once.
    OneTimeKey,
    /// The value of a named token.
    NamedToken,
}

impl SecretKind {
    const ALL: [Self; 5] = [
        Self::Session(SessionKind::Token),
        Self::Session(SessionKind::Cookie),
        Self::AccessKey,
        Self::OneTimeKey,
        Self::NamedToken,
    ];

    /// Lets scanners recognise leaked secrets.
    fn prefix(self) -> &'static str {
        match self {
            Self::Session(SessionKind::Token) => "ivt_",
            Self::Session(SessionKind::Cookie) => "ivs_",
            Self::AccessKey => "ivk_",
            Self::OneTimeKey => "ivo_",
            Self::NamedToken => "ivn_",
        }
    }

    /// A new secret of this kind, with the claim in it.
    pub fn generate(self, claim: &CredentialClaim, entropy: &dyn RandomSource) -> String {
        let mut random = [0; RANDOM_BYTES];
        entropy.fill(&mut random);
        // The claim first: it tells admission the keys of session and user before anything is read.
        let bytes = [&encode(claim)[..], &random, claim.company.as_str().as_bytes()].concat();
        format!("{}{}", self.prefix(), URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The claim in a secret of this kind; `None` if it is no such secret.
    pub fn claim_in(self, secret: &str) -> Option<CredentialClaim> {
        let bytes = URL_SAFE_NO_PAD.decode(secret.strip_prefix(self.prefix())?).ok()?;
        let (account, on_behalf_by, rest) = decode(&bytes)?;
        let company = std::str::from_utf8(rest.get(RANDOM_BYTES..)?).ok()?.parse().ok()?;
        Some(CredentialClaim { company, account, on_behalf_by })
    }
}

/// Encodes the identifiers of a claim without its company.
fn encode(claim: &CredentialClaim) -> Vec<u8> {
    match (claim.account, claim.on_behalf_by) {
        (Account::Customer { customer }, None) => [&[CUSTOMER], &customer.to_bytes()[..]].concat(),
        (Account::Customer { customer }, Some(by)) => {
            [&[ON_BEHALF], &customer.to_bytes()[..], &by.to_bytes()].concat()
        }
        (Account::Candidate { project, candidate }, _) => {
            [&[CANDIDATE], &project.to_bytes()[..], &candidate.to_bytes()].concat()
        }
    }
}

/// Decodes an identifier, and returns it with the remaining bytes.
fn id<T>(bytes: &[u8]) -> Option<(Id<T>, &[u8])> {
    let (id, rest) = bytes.split_first_chunk()?;
    Some((Id::from_bytes(*id), rest))
}

/// Decodes the account and the customer who acts for it, and returns them with the remaining bytes.
fn decode(bytes: &[u8]) -> Option<(Account, Option<CustomerId>, &[u8])> {
    Some(match bytes.split_first()? {
        (&CUSTOMER, rest) => {
            let (customer, rest) = id(rest)?;
            (Account::Customer { customer }, None, rest)
        }
        (&ON_BEHALF, rest) => {
            let (customer, rest) = id(rest)?;
            let (by, rest) = id(rest)?;
            (Account::Customer { customer }, Some(by), rest)
        }
        (&CANDIDATE, rest) => {
            let (project, rest) = id(rest)?;
            let (candidate, rest) = id(rest)?;
            (Account::Candidate { project, candidate }, None, rest)
        }
        _ => return None,
    })
}

/// Whether a text begins like a secret that the service makes.
fn has_own_prefix(text: &str) -> bool {
    SecretKind::ALL
        .into_iter()
        .map(SecretKind::prefix)
        .chain([guest::PREFIX, exchanged::PREFIX])
        .any(|own| text.starts_with(own))
}

/// A new key for an account to choose a password with, created at `now`: the key, only for its owner, and its stored form.
pub fn new_one_time_key(
    claim: &CredentialClaim,
    now: DateTime<Utc>,
    lifetime: TimeDelta,
    entropy: &dyn RandomSource,
) -> (String, OneTimeKey) {
    let key = SecretKind::OneTimeKey.generate(claim, entropy);
    let stored = OneTimeKey { hash: SecretHash::of(&key), expires_at: now + lifetime, made_at: now };
    (key, stored)
}

/// A new random value of a named token; it contains no claim.
pub fn new_token_value(entropy: &dyn RandomSource) -> String {
    let mut random = [0; RANDOM_BYTES];
    entropy.fill(&mut random);
    format!("{}{}", SecretKind::NamedToken.prefix(), URL_SAFE_NO_PAD.encode(random))
}

/// Limits of the characters of a named token's value that a client chooses.
const MIN_TOKEN: usize = 32;
const MAX_TOKEN: usize = 256;

/// Validates a named token's value that a client chooses; an error is the message for them.
pub fn chosen_token_value(text: &str) -> Result<String, String> {
    check_token_value(text)?;
    // A named token may never expire, and guessing it is not rate limited.
    if bits(text) < MIN_BITS {
        return Err(
            "This value is too easy to guess. Use random characters, or omit it to get a generated value."
                .to_owned(),
        );
    }
    Ok(text.to_owned())
}

/// Checks the form of a chosen value: on each request, which the check of its randomness would slow down.
fn check_token_value(text: &str) -> Result<(), String> {
    if text.len() < MIN_TOKEN || text.len() > MAX_TOKEN {
        return Err(format!("Ensure this field has {MIN_TOKEN} to {MAX_TOKEN} characters."));
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("Use visible ASCII characters without spaces.".to_owned());
    }
    if has_own_prefix(text) {
        return Err("This prefix is reserved. Choose a value that starts differently.".to_owned());
    }
    Ok(())
}

/// A well-formed credential that is not authenticated yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    pub hash: SecretHash,
    pub kind: CredentialKind,
    /// `None` if the URL of a file names the credential.
    pub secret: Option<PresentedSecret>,
}

/// A kind of credential, with its claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CredentialKind {
    Session(SessionKind, CredentialClaim),
    /// The key that a candidate was sent.
    AccessKey(CredentialClaim),
    /// The value of a named token.
    NamedToken,
    /// A token that was exchanged for a JWT, and acts as a named token of the company.
    ExchangedToken(CompanyId, TokenId),
}

impl Credential {
    /// Reads the Authorization header, else the session cookie. Two different credentials in the same place are
    /// [`REJECTED`]: another site's cookie must not choose the account that a browser acts for.
    pub fn from_headers(headers: &HeaderMap) -> Result<Self> {
        let mut authorizations = headers.get_all(header::AUTHORIZATION).into_iter();
        let found = match (authorizations.next(), authorizations.next()) {
            (Some(value), None) => match value.to_str().map(from_authorization) {
                Ok(read) => read?,
                Err(_) => None,
            },
            (Some(_), Some(_)) => None,
            (None, _) => {
                let mut cookies = cookies(headers);
                let first = cookies.next().ok_or(Error::Unauthenticated(MISSING))?;
                // Another host of the domain can plant a session of this service, and must not choose the account that a
                // browser acts for.
                let is_only = cookies.all(|other| other == first);
                Self::session(SessionKind::Cookie, first).filter(|_| is_only)
            }
        };
        found.ok_or_else(rejected)
    }

    /// `None` for a named token.
    pub fn claim(&self) -> Option<&CredentialClaim> {
        match &self.kind {
            CredentialKind::Session(_, claim) | CredentialKind::AccessKey(claim) => Some(claim),
            CredentialKind::NamedToken | CredentialKind::ExchangedToken(..) => None,
        }
    }

    /// A reference for the URLs of files: enough to find the credential, not to use it.
    pub fn to_reference(&self) -> Vec<u8> {
        let (kind, ids) = match &self.kind {
            CredentialKind::Session(SessionKind::Token, claim) => (TOKEN, encode(claim)),
            CredentialKind::Session(SessionKind::Cookie, claim) => (COOKIE_SESSION, encode(claim)),
            CredentialKind::AccessKey(claim) => (ACCESS_KEY, encode(claim)),
            CredentialKind::NamedToken => (NAMED_TOKEN, Vec::new()),
            CredentialKind::ExchangedToken(_, token) => (EXCHANGED_TOKEN, token.to_bytes().to_vec()),
        };
        let hash = self.hash.to_bytes().unwrap_or_default();
        [&[kind], &hash[..], &ids].concat()
    }

    /// The credential of a reference in the URL of a file of `company`.
    pub fn from_reference(reference: &[u8], company: &CompanyId) -> Option<Self> {
        let (kind, rest) = reference.split_first()?;
        let (hash, rest) = rest.split_first_chunk()?;
        let claim = || match decode(rest)? {
            (account, on_behalf_by, []) => {
                Some(CredentialClaim { company: company.clone(), account, on_behalf_by })
            }
            _ => None,
        };
        let kind = match *kind {
            TOKEN => CredentialKind::Session(SessionKind::Token, claim()?),
            COOKIE_SESSION => CredentialKind::Session(SessionKind::Cookie, claim()?),
            ACCESS_KEY => CredentialKind::AccessKey(claim()?),
            NAMED_TOKEN if rest.is_empty() => CredentialKind::NamedToken,
            EXCHANGED_TOKEN => match id(rest)? {
                (token, []) => CredentialKind::ExchangedToken(company.clone(), token),
                _ => return None,
            },
            _ => return None,
        };
        Some(Self { hash: SecretHash::from_bytes(*hash), kind, secret: None })
    }

    /// The credential with this secret.
    pub fn of_secret(secret: &str, kind: CredentialKind) -> Self {
        Self { hash: SecretHash::of(secret), kind, secret: Some(PresentedSecret::new(secret)) }
    }

    fn session(kind: SessionKind, secret: &str) -> Option<Self> {
        let claim = SecretKind::Session(kind).claim_in(secret)?;
        Some(Self::of_secret(secret, CredentialKind::Session(kind, claim)))
    }

    /// The token of a session, the value of a named token, or a token that acts as one.
    fn token(secret: &str) -> Option<Self> {
        // A value that a client chose has none of our prefixes, because `check_token_value` reserves them.
        let is_named =
            secret.starts_with(SecretKind::NamedToken.prefix()) || check_token_value(secret).is_ok();
        if is_named {
            return Some(Self::of_secret(secret, CredentialKind::NamedToken));
        }
        if secret.starts_with(exchanged::PREFIX) {
            return exchanged::parse(secret).map(|kind| Self::of_secret(secret, kind));
        }
        Self::session(SessionKind::Token, secret)
    }

    fn access_key(secret: &str) -> Option<Self> {
        let claim = SecretKind::AccessKey.claim_in(secret)?;
        let is_candidates = matches!(claim.account, Account::Candidate { .. });
        is_candidates.then(|| Self::of_secret(secret, CredentialKind::AccessKey(claim)))
    }
}

/// `Token <secret>`, `Basic <base64 of token:<secret>>`, or `ActivationKey <key>`; `None` if the secret is none of its scheme.
fn from_authorization(value: &str) -> Result<Option<Credential>> {
    let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
    let rest = rest.trim();
    match scheme.to_ascii_lowercase().as_str() {
        "token" => Ok(Credential::token(rest)),
        "basic" => Ok(from_basic(rest)),
        "activationkey" => Ok(Credential::access_key(rest)),
        // A guest's key opens `/review/` alone, and is refused elsewhere without a look at it.
        guest::SCHEME => Ok(None),
        _ => Err(Error::Unauthenticated(UNKNOWN_SCHEME)),
    }
}

/// The token in a user's name and password, for clients that know no other scheme: the user name is `token`.
fn from_basic(pair: &str) -> Option<Credential> {
    let pair = String::from_utf8(STANDARD.decode(pair).ok()?).ok()?;
    Credential::token(pair.strip_prefix("token:")?)
}

/// The values of the session cookie. A browser may send several; other cookies may hold any bytes.
///
/// Without those of other services at the domain, which name their cookie alike: they can choose no account.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(header::COOKIE).into_iter();
    lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';')).filter_map(|pair| {
        let (name, value) = std::str::from_utf8(pair).ok()?.trim().split_once('=')?;
        (name == COOKIE && has_own_prefix(value)).then_some(value)
    })
}

#[cfg(test)]
mod tests;
