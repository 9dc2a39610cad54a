//! The secrets of tokens that clients get in exchange for JWTs.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{CredentialKind, RANDOM_BYTES, id};
use crate::domain::id::{CompanyId, TokenId};
use crate::domain::random::RandomSource;

/// The prefix by which scanners recognise leaked tokens.
pub(super) const PREFIX: &str = "ivx_";

/// A new secret for a token that acts as the named `token`.
pub(in crate::auth) fn generate(company: &CompanyId, token: TokenId, entropy: &dyn RandomSource) -> String {
    let mut random = [0; RANDOM_BYTES];
    entropy.fill(&mut random);
    // Contains the named token's identifier, so that one read finds both, and this token ends when the named one does.
    let bytes = [&token.to_bytes()[..], &random, company.as_str().as_bytes()].concat();
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// Parses the secret of an exchanged token; `None` if it has another format.
pub(super) fn parse(secret: &str) -> Option<CredentialKind> {
    let bytes = URL_SAFE_NO_PAD.decode(secret.strip_prefix(PREFIX)?).ok()?;
    let (token, rest) = id(&bytes)?;
    let company = std::str::from_utf8(rest.get(RANDOM_BYTES..)?).ok()?.parse().ok()?;
    Some(CredentialKind::ExchangedToken(company, token))
}
