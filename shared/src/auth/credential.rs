//! Credentials as they travel: opaque to clients, but they lead to the session and its user without a look-up between.

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::clock::Entropy;
use crate::domain::Refusal;
use crate::domain::id::{CompanyId, CustomerId};
use crate::error::{Error, Result};
use crate::store::SessionKind;

/// The name of the session cookie.
pub const COOKIE: &str = "sessionid";
/// Random bytes in a secret: 192 bits.
const RANDOM_BYTES: usize = 24;
/// Bytes of a customer's identifier.
const ID_BYTES: usize = 16;

/// Nothing that could be a credential came with the request.
pub const MISSING: Refusal =
    Refusal { code: "not_authenticated", detail: "Authentication credentials were not provided." };
/// What came is not, or no longer, a credential.
pub const REJECTED: Refusal =
    Refusal { code: "invalid_credential", detail: "The credential is invalid or has expired." };

impl SessionKind {
    /// What a secret of this kind begins with, so that scanners know one when it leaks.
    fn prefix(self) -> &'static str {
        match self {
            Self::Token => "ivt_",
            Self::Cookie => "ivs_",
        }
    }
}

/// A credential that came with a request; whether it is good only the table knows.
#[derive(Clone)]
pub struct Credential {
    /// The text that proves it.
    pub secret: String,
    /// How it came.
    pub kind: SessionKind,
    /// The company that it claims.
    pub company: CompanyId,
    /// The user that it claims.
    pub customer: CustomerId,
}

impl Credential {
    /// A new credential for a user.
    pub fn generate(
        kind: SessionKind,
        company: &CompanyId,
        customer: CustomerId,
        entropy: &dyn Entropy,
    ) -> Self {
        let mut random = [0; RANDOM_BYTES];
        entropy.fill(&mut random);
        let bytes = [customer.to_bytes().as_slice(), &random, company.as_str().as_bytes()].concat();
        let secret = format!("{}{}", kind.prefix(), URL_SAFE_NO_PAD.encode(bytes));
        Self { secret, kind, company: company.clone(), customer }
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
                cookies(headers).find_map(|secret| Self::parse(secret, SessionKind::Cookie))
            }
        };
        found.ok_or(Error::Unauthenticated(REJECTED))
    }

    fn parse(secret: &str, kind: SessionKind) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(secret.strip_prefix(kind.prefix())?).ok()?;
        let (id, rest) = bytes.split_first_chunk::<ID_BYTES>()?;
        let company = std::str::from_utf8(rest.get(RANDOM_BYTES..)?).ok()?.parse().ok()?;
        Some(Self { secret: secret.to_owned(), kind, company, customer: CustomerId::from_bytes(*id) })
    }
}

/// `Token <secret>`, or `Basic <base64 of token:<secret>>`.
fn from_authorization(value: &str) -> Option<Credential> {
    let (scheme, rest) = value.split_once(' ')?;
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("token") {
        Credential::parse(rest, SessionKind::Token)
    } else if scheme.eq_ignore_ascii_case("basic") {
        let pair = String::from_utf8(STANDARD.decode(rest).ok()?).ok()?;
        Credential::parse(pair.strip_prefix("token:")?, SessionKind::Token)
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

    fn generate(kind: SessionKind) -> Credential {
        Credential::generate(kind, &"acme".parse().unwrap(), Id::from_bytes([5; 16]), &SystemEntropy)
    }

    fn read(name: header::HeaderName, value: &str) -> Result<Credential> {
        Credential::from_headers(&HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]))
    }

    #[test]
    fn every_way_of_sending_leads_to_session_and_user() {
        let token = generate(SessionKind::Token).secret;
        let cookie = generate(SessionKind::Cookie).secret;
        let basic = STANDARD.encode(format!("token:{token}"));
        for (name, value, secret) in [
            (header::AUTHORIZATION, format!("Token {token}"), &token),
            (header::AUTHORIZATION, format!("Basic {basic}"), &token),
            (header::COOKIE, format!("theme=dark; sessionid={cookie}"), &cookie),
            (header::COOKIE, format!("name=é; sessionid=old; sessionid={cookie}"), &cookie),
        ] {
            let credential = read(name, &value).unwrap();
            assert_eq!((&credential.secret, credential.customer), (secret, Id::from_bytes([5; 16])));
            assert_eq!(credential.company.as_str(), "acme");
        }
    }

    #[test]
    fn a_secret_counts_only_the_way_it_was_made_for() {
        let token = generate(SessionKind::Token).secret;
        let cookie = generate(SessionKind::Cookie).secret;
        let basic = |pair: String| format!("Basic {}", STANDARD.encode(pair));
        for (name, value) in [
            (header::AUTHORIZATION, format!("Token {cookie}")),
            (header::COOKIE, format!("sessionid={token}")),
            (header::AUTHORIZATION, format!("Bearer {token}")),
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
