//! The key of a guest link. It is not a [`Credential`](super::Credential): only `/review/` accepts it, and all other routes
//! refuse it without a read.

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{MISSING, RANDOM_BYTES, id, invalid_credential};
use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, GuestLinkId, ProjectId};
use crate::domain::random::RandomSource;
use crate::domain::secret::{PresentedSecret, SecretHash};
use crate::error::{Error, Result};

/// The prefix by which scanners recognise leaked keys.
pub(super) const PREFIX: &str = "ivg_";
pub(super) const SCHEME: &str = "guestkey";

/// The first byte of the reference in a guest's file URLs.
pub(in crate::auth) const GUEST_LINK: u8 = 5;

/// A well-formed key of a guest link that is not authenticated yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::auth) struct GuestKey {
    pub(in crate::auth) company: CompanyId,
    pub(in crate::auth) project: ProjectId,
    pub(in crate::auth) candidate: CandidateId,
    pub(in crate::auth) link: GuestLinkId,
    pub(in crate::auth) hash: SecretHash,
    pub(in crate::auth) secret: PresentedSecret,
}

impl GuestKey {
    /// A new key for a guest link to the answers of `candidate`.
    pub(in crate::auth) fn generate(
        candidate: &Candidate,
        link: GuestLinkId,
        entropy: &dyn RandomSource,
    ) -> String {
        let mut random = [0; RANDOM_BYTES];
        entropy.fill(&mut random);
        let Candidate { company, project, id, .. } = candidate;
        // Starts with the identifiers, so that the service knows which items to read.
        let ids = [project.to_bytes(), id.to_bytes(), link.to_bytes()].concat();
        let bytes = [&ids[..], &random, company.as_str().as_bytes()].concat();
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Parses the Authorization header. Fails unless it contains exactly one guest key.
    pub(in crate::auth) fn from_headers(headers: &HeaderMap) -> Result<Self> {
        let mut values = headers.get_all(header::AUTHORIZATION).into_iter();
        let found = match (values.next(), values.next()) {
            (None, _) => return Err(Error::Unauthenticated(MISSING)),
            (Some(value), None) => value.to_str().ok().and_then(from_authorization),
            (Some(_), Some(_)) => None,
        };
        found.ok_or_else(invalid_credential)
    }

    /// Parses a guest key; `None` if `key` has another format.
    pub(super) fn parse(key: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(key.strip_prefix(PREFIX)?).ok()?;
        let (project, rest) = id(&bytes)?;
        let (candidate, rest) = id(rest)?;
        let (link, rest) = id(rest)?;
        let company = std::str::from_utf8(rest.get(RANDOM_BYTES..)?).ok()?.parse().ok()?;
        let (hash, secret) = (SecretHash::of(key), PresentedSecret::new(key));
        Some(Self { company, project, candidate, link, hash, secret })
    }
}

fn from_authorization(value: &str) -> Option<GuestKey> {
    let (scheme, key) = value.split_once(' ')?;
    GuestKey::parse(key.trim()).filter(|_| scheme.eq_ignore_ascii_case(SCHEME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemEntropy;
    use crate::domain::id::Id;
    use crate::domain::samples;

    #[test]
    fn a_key_names_what_it_opens_and_no_two_are_alike() {
        let candidate = samples::candidate();
        let link = Id::from_bytes([9; 16]);
        let [one, other] = [(); 2].map(|()| GuestKey::generate(&candidate, link, &SystemEntropy));
        assert_ne!(one, other);
        let read = from_authorization(&format!("GuestKey {one}")).unwrap();
        assert_eq!(read, from_authorization(&format!("guestkey  {one} ")).unwrap());
        assert_eq!((read.company, read.project), (candidate.company, candidate.project));
        assert_eq!((read.candidate, read.link), (candidate.id, link));
        assert_eq!(read.hash, SecretHash::of(&one));
        for wrong in [
            format!("Token {one}"),
            one.clone(),
            format!("GuestKey {}", one.trim_start_matches(PREFIX)),
            format!("GuestKey {}", &one[..100]),
            format!("GuestKey {one}="),
            "GuestKey ".to_owned(),
        ] {
            assert_eq!(from_authorization(&wrong), None, "{wrong}");
        }
    }
}
