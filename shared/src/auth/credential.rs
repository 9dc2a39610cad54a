//! Credentials as they travel: opaque to clients, but they lead to the session and its user without a look-up between.

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::clock::Entropy;
use crate::domain::Refusal;
use crate::domain::account::Account;
use crate::domain::id::{CompanyId, Id};
use crate::error::{Error, Result};
use crate::store::SessionKind;

/// The name of the session cookie.
pub const COOKIE: &str = "sessionid";
/// Random bytes in a secret: 192 bits.
const RANDOM_BYTES: usize = 24;
/// The byte before a customer's identifier.
const CUSTOMER: u8 = 1;
/// The byte before a project's and its candidate's identifiers.
const CANDIDATE: u8 = 2;

/// Nothing that could be a credential came with the request.
pub const MISSING: Refusal =
    Refusal { code: "not_authenticated", detail: "Authentication credentials were not provided." };
/// What came is not, or no longer, a credential.
pub const REJECTED: Refusal =
    Refusal { code: "invalid_credential", detail: "The credential is invalid or has expired." };

/// How somebody proves who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// By a session.
    Session(SessionKind),
    /// By the key that a candidate was sent.
    AccessKey,
}

impl Means {
    /// What a secret of this kind begins with, so that scanners know one when it leaks.
    fn prefix(self) -> &'static str {
        match self {
            Self::Session(SessionKind::Token) => "ivt_",
            Self::Session(SessionKind::Cookie) => "ivs_",
            Self::AccessKey => "ivk_",
        }
    }
}

/// A credential that came with a request; whether it is good only the table knows.
#[derive(Clone)]
pub struct Credential {
    /// The text that proves it.
    pub secret: String,
    /// How it came.
    pub means: Means,
    /// The company that it claims.
    pub company: CompanyId,
    /// The account that it claims.
    pub account: Account,
}

impl Credential {
    /// A new credential for an account.
    pub fn generate(means: Means, company: &CompanyId, account: Account, entropy: &dyn Entropy) -> Self {
        let mut random = [0; RANDOM_BYTES];
        entropy.fill(&mut random);
        let bytes = [&*account_bytes(account), &random, company.as_str().as_bytes()].concat();
        let secret = format!("{}{}", means.prefix(), URL_SAFE_NO_PAD.encode(bytes));
        Self { secret, means, company: company.clone(), account }
    }

    /// The credential that a request carries: in its Authorization header, else in its cookie.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] when there is none, or none that could be one.
    pub fn from_headers(headers: &HeaderMap) -> Result<Self> {
        let found = match headers.get(header::AUTHORIZATION) {
            Some(value) => value.to_str().ok().and_then(from_authorization),
            None => {
                if cookies(headers).next().is_none() {
                    return Err(Error::Unauthenticated(MISSING));
                }
                cookies(headers).find_map(|secret| Self::parse(secret, Means::Session(SessionKind::Cookie)))
            }
        };
        found.ok_or(Error::Unauthenticated(REJECTED))
    }

    fn parse(secret: &str, means: Means) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(secret.strip_prefix(means.prefix())?).ok()?;
        let (account, rest) = split_account(&bytes)?;
        let company = std::str::from_utf8(rest.get(RANDOM_BYTES..)?).ok()?.parse().ok()?;
        let is_usable = means != Means::AccessKey || matches!(account, Account::Candidate { .. });
        is_usable.then(|| Self { secret: secret.to_owned(), means, company, account })
    }
}

/// What stands for an account in a credential: its kind, then its identifiers.
fn account_bytes(account: Account) -> Vec<u8> {
    match account {
        Account::Customer { customer } => [&[CUSTOMER], &customer.to_bytes()[..]].concat(),
        Account::Candidate { project, candidate } => {
            [&[CANDIDATE], &project.to_bytes()[..], &candidate.to_bytes()].concat()
        }
    }
}

/// The account that `bytes` begin with, and what follows.
fn split_account(bytes: &[u8]) -> Option<(Account, &[u8])> {
    fn id<T>(bytes: &[u8]) -> Option<(Id<T>, &[u8])> {
        let (id, rest) = bytes.split_first_chunk()?;
        Some((Id::from_bytes(*id), rest))
    }
    match bytes.split_first()? {
        (&CUSTOMER, rest) => {
            let (customer, rest) = id(rest)?;
            Some((Account::Customer { customer }, rest))
        }
        (&CANDIDATE, rest) => {
            let (project, rest) = id(rest)?;
            let (candidate, rest) = id(rest)?;
            Some((Account::Candidate { project, candidate }, rest))
        }
        _ => None,
    }
}

/// `Token <secret>`, `Basic <base64 of token:<secret>>`, or `ActivationKey <key>`.
fn from_authorization(value: &str) -> Option<Credential> {
    const TOKEN: Means = Means::Session(SessionKind::Token);
    let (scheme, rest) = value.split_once(' ')?;
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("token") {
        Credential::parse(rest, TOKEN)
    } else if scheme.eq_ignore_ascii_case("basic") {
        let pair = String::from_utf8(STANDARD.decode(rest).ok()?).ok()?;
        Credential::parse(pair.strip_prefix("token:")?, TOKEN)
    } else if scheme.eq_ignore_ascii_case("activationkey") {
        Credential::parse(rest, Means::AccessKey)
    } else {
        None
    }
}

/// The values of the session cookie, of which a browser may send several; other cookies may hold any bytes.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(header::COOKIE).into_iter();
    lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';')).filter_map(|pair| {
        let (name, value) = std::str::from_utf8(pair).ok()?.trim().split_once('=')?;
        (name == COOKIE && !value.is_empty()).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::clock::SystemEntropy;
    use crate::domain::id::Id;

    const CUSTOMER: Account = Account::Customer { customer: Id::from_bytes([5; 16]) };
    const CANDIDATE: Account =
        Account::Candidate { project: Id::from_bytes([6; 16]), candidate: Id::from_bytes([7; 16]) };

    fn secret(means: Means, account: Account) -> String {
        Credential::generate(means, &"acme".parse().unwrap(), account, &SystemEntropy).secret
    }

    fn session(kind: SessionKind) -> String {
        secret(Means::Session(kind), CUSTOMER)
    }

    fn read(name: header::HeaderName, value: &str) -> Result<Credential> {
        Credential::from_headers(&HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]))
    }

    #[test]
    fn every_way_of_sending_leads_to_session_and_user() {
        let token = session(SessionKind::Token);
        let cookie = session(SessionKind::Cookie);
        let basic = STANDARD.encode(format!("token:{token}"));
        let candidates = secret(Means::Session(SessionKind::Token), CANDIDATE);
        let key = secret(Means::AccessKey, CANDIDATE);
        for (name, value, secret, account) in [
            (header::AUTHORIZATION, format!("Token {token}"), &token, CUSTOMER),
            (header::AUTHORIZATION, format!("Token {candidates}"), &candidates, CANDIDATE),
            (header::AUTHORIZATION, format!("ActivationKey {key}"), &key, CANDIDATE),
            (header::AUTHORIZATION, format!("Basic {basic}"), &token, CUSTOMER),
            (header::COOKIE, format!("theme=dark; sessionid={cookie}"), &cookie, CUSTOMER),
            (header::COOKIE, format!("name=é; sessionid=old; sessionid={cookie}"), &cookie, CUSTOMER),
        ] {
            let credential = read(name, &value).unwrap();
            assert_eq!((&credential.secret, credential.account), (secret, account));
            assert_eq!(credential.company.as_str(), "acme");
        }
    }

    #[test]
    fn a_secret_counts_only_the_way_it_was_made_for() {
        let token = session(SessionKind::Token);
        let cookie = session(SessionKind::Cookie);
        let key = secret(Means::AccessKey, CANDIDATE);
        let basic = |pair: String| format!("Basic {}", STANDARD.encode(pair));
        for (name, value) in [
            (header::AUTHORIZATION, format!("Token {cookie}")),
            (header::COOKIE, format!("sessionid={token}")),
            (header::AUTHORIZATION, format!("Bearer {token}")),
            (header::AUTHORIZATION, format!("ActivationKey {token}")),
            (header::AUTHORIZATION, format!("Token {key}")),
            (header::AUTHORIZATION, format!("ActivationKey {}", secret(Means::AccessKey, CUSTOMER))),
            (header::AUTHORIZATION, basic(format!("owner:{token}"))),
            (header::AUTHORIZATION, basic("token:".to_owned())),
            (header::AUTHORIZATION, "Token".to_owned()),
            (header::AUTHORIZATION, "Token ivt_AAAA".to_owned()),
            (header::AUTHORIZATION, "Basic ¡".to_owned()),
        ] {
            let refused = read(name, &value).err().unwrap();
            assert!(matches!(refused, Error::Unauthenticated(REJECTED)), "{value}");
        }
        let none = Credential::from_headers(&HeaderMap::new()).err().unwrap();
        assert!(matches!(none, Error::Unauthenticated(MISSING)));
    }
}
