//! Credentials in requests. They are opaque to clients, but contain the keys of session and user, which saves a round trip.

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
pub const INVALID_CREDENTIAL: Refusal =
    Refusal { code: "invalid_credential", detail: "The credential is invalid or has expired." };
/// The `Authorization` header has an unknown scheme, such as `Bearer`. The credential itself is not checked.
pub const UNKNOWN_SCHEME: Refusal = Refusal {
    code: "invalid_credential",
    detail: "The `Authorization` header has no known scheme. Use \"Token <value>\".",
};

/// The error for every invalid credential. It does not reveal why the credential is invalid.
pub(super) fn invalid_credential() -> Error {
    Error::Unauthenticated(INVALID_CREDENTIAL)
}

/// The kinds of secrets that the service makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
    /// The token or cookie of a session.
    Session(SessionKind),
    /// Lets a candidate act without a password.
    AccessKey,
    /// Mailed to an account, which can use it once: to choose a password, or to confirm or restore an address.
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

    /// The prefix by which scanners recognise leaked secrets.
    fn prefix(self) -> &'static str {
        match self {
            Self::Session(SessionKind::Token) => "ivt_",
            Self::Session(SessionKind::Cookie) => "ivs_",
            Self::AccessKey => "ivk_",
            Self::OneTimeKey => "ivo_",
            Self::NamedToken => "ivn_",
        }
    }

    /// A new secret that contains `claim`.
    pub fn generate(self, claim: &CredentialClaim, entropy: &dyn RandomSource) -> String {
        let mut random = [0; RANDOM_BYTES];
        entropy.fill(&mut random);
        // Starts with the claim, so that admission knows the keys of session and user without a read.
        let bytes = [&encode(claim)[..], &random, claim.company.as_str().as_bytes()].concat();
        format!("{}{}", self.prefix(), URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The claim in `secret`; `None` if it is not a secret of this kind.
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

/// A new one-time key for an account, created at `now`. Returns the key, which only its owner may get, and its stored form.
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

/// The minimum and maximum length of a named token's value that a client chooses.
const MIN_TOKEN: usize = 32;
const MAX_TOKEN: usize = 256;

/// Validates a named token's value that a client chooses. The error is the message for the client.
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

/// Checks the format of a chosen value. Runs for each request, so it omits the slower check of randomness.
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
    /// `None` if the request has a file URL, which contains only a reference to the credential.
    pub secret: Option<PresentedSecret>,
}

/// A kind of credential, with its claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CredentialKind {
    Session(SessionKind, CredentialClaim),
    /// A candidate's access key.
    AccessKey(CredentialClaim),
    /// The value of a named token.
    NamedToken,
    /// A token that the client got in exchange for a JWT. It acts as a named token of the company.
    ExchangedToken(CompanyId, TokenId),
}

impl Credential {
    /// Parses the Authorization header or, without one, the session cookie. Fails with [`INVALID_CREDENTIAL`] if there are two
    /// headers or two different cookies: another site's cookie must not choose the account that a browser acts for.
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
                // Another host of the domain can plant a cookie with a session of this service. It must not decide as
                // which account the browser acts.
                let is_only = cookies.all(|other| other == first);
                Self::session(SessionKind::Cookie, first).filter(|_| is_only)
            }
        };
        found.ok_or_else(invalid_credential)
    }

    /// The account that the credential claims; `None` for named and exchanged tokens.
    pub fn claim(&self) -> Option<&CredentialClaim> {
        match &self.kind {
            CredentialKind::Session(_, claim) | CredentialKind::AccessKey(claim) => Some(claim),
            CredentialKind::NamedToken | CredentialKind::ExchangedToken(..) => None,
        }
    }

    /// A reference for file URLs: it identifies the credential, but cannot be used as one.
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

    /// The credential that a file URL of `company` refers to.
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

    /// Parses the token of a session, the value of a named token, or an exchanged token.
    fn token(secret: &str) -> Option<Self> {
        // A value that a client has chosen cannot have one of our prefixes, because `check_token_value` refuses them.
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

/// Parses `Token <secret>`, `Basic <base64 of token:<secret>>` or `ActivationKey <key>`; `None` if the secret is not valid for
/// the scheme.
fn from_authorization(value: &str) -> Result<Option<Credential>> {
    let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
    let rest = rest.trim();
    match scheme.to_ascii_lowercase().as_str() {
        "token" => Ok(Credential::token(rest)),
        "basic" => Ok(from_basic(rest)),
        "activationkey" => Ok(Credential::access_key(rest)),
        // A guest key works only for `/review/`; other routes refuse it without a read.
        guest::SCHEME => Ok(None),
        _ => Err(Error::Unauthenticated(UNKNOWN_SCHEME)),
    }
}

/// Parses Basic authentication, for clients that support nothing else: the user name is `token`, and the password is the token.
fn from_basic(pair: &str) -> Option<Credential> {
    let pair = String::from_utf8(STANDARD.decode(pair).ok()?).ok()?;
    Credential::token(pair.strip_prefix("token:")?)
}

/// The values of the session cookie, of which a browser may send several. Other cookies may contain any bytes.
///
/// Skips cookies of other services at the domain that have the same name: without a prefix of this service, they cannot
/// select an account.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(header::COOKIE).into_iter();
    lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';')).filter_map(|pair| {
        let (name, value) = std::str::from_utf8(pair).ok()?.trim().split_once('=')?;
        (name == COOKIE && has_own_prefix(value)).then_some(value)
    })
}

#[cfg(test)]
mod tests;
