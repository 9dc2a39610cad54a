//! Tests of credentials.

use axum::http::HeaderValue;

use super::*;
use crate::clock::SystemEntropy;
use crate::domain::id::Id;

const CUSTOMER: Account = Account::Customer { customer: Id::from_bytes([5; 16]) };
const CANDIDATE: Account =
    Account::Candidate { project: Id::from_bytes([6; 16]), candidate: Id::from_bytes([7; 16]) };

fn secret(kind: SecretKind, account: Account) -> String {
    kind.generate(&CredentialClaim::own("acme".parse().unwrap(), account), &SystemEntropy)
}

fn session(kind: SessionKind) -> String {
    secret(SecretKind::Session(kind), CUSTOMER)
}

fn read(name: header::HeaderName, value: &str) -> Result<Credential> {
    Credential::from_headers(&HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]))
}

#[test]
fn every_way_of_sending_leads_to_session_and_user() {
    let token = session(SessionKind::Token);
    let cookie = session(SessionKind::Cookie);
    let basic = STANDARD.encode(format!("token:{token}"));
    let candidates = secret(SecretKind::Session(SessionKind::Token), CANDIDATE);
    let key = secret(SecretKind::AccessKey, CANDIDATE);
    for (name, value, secret, account) in [
        (header::AUTHORIZATION, format!("Token {token}"), &token, CUSTOMER),
        (header::AUTHORIZATION, format!("Token {candidates}"), &candidates, CANDIDATE),
        (header::AUTHORIZATION, format!("ActivationKey {key}"), &key, CANDIDATE),
        (header::AUTHORIZATION, format!("Basic {basic}"), &token, CUSTOMER),
        (header::COOKIE, format!("theme=dark; sessionid={cookie}"), &cookie, CUSTOMER),
        (header::COOKIE, format!("name=é; sessionid=; sessionid={cookie}"), &cookie, CUSTOMER),
        (header::COOKIE, format!("sessionid={cookie}; sessionid={cookie}"), &cookie, CUSTOMER),
        (header::COOKIE, format!("sessionid=0mv3k2; sessionid={cookie}"), &cookie, CUSTOMER),
        (header::COOKIE, format!("sessionid={cookie}; sessionid=\"x=y\"; sessionid=z"), &cookie, CUSTOMER),
    ] {
        let credential = read(name, &value).unwrap();
        let claim = credential.claim().unwrap();
        assert_eq!((&credential.hash, claim.account), (&SecretHash::of(secret), account));
        assert_eq!((claim.company.as_str(), claim.on_behalf_by), ("acme", None));
    }
}

#[test]
fn a_reference_leads_back_to_its_credential() {
    let acme = "acme".parse().unwrap();
    for secret in [
        session(SessionKind::Token),
        secret(SecretKind::Session(SessionKind::Token), CANDIDATE),
        new_token_value(&SystemEntropy),
    ] {
        let credential = Credential::token(&secret).unwrap();
        let reference = credential.to_reference();
        // A reference does not contain the secret.
        let credential = Credential { secret: None, ..credential };
        assert_eq!(Credential::from_reference(&reference, &acme).as_ref(), Some(&credential));
        for length in 0..reference.len() {
            assert_ne!(Credential::from_reference(&reference[..length], &acme).as_ref(), Some(&credential));
        }
    }
    let cookie = Credential::session(SessionKind::Cookie, &session(SessionKind::Cookie)).unwrap();
    let reference = cookie.to_reference();
    assert_eq!(Credential::from_reference(&reference, &acme), Some(Credential { secret: None, ..cookie }));
    let key = Credential::access_key(&secret(SecretKind::AccessKey, CANDIDATE)).unwrap();
    let reference = key.to_reference();
    assert_eq!(Credential::from_reference(&reference, &acme), Some(Credential { secret: None, ..key }));
}

#[test]
fn a_secret_counts_only_the_way_it_was_made_for() {
    let token = session(SessionKind::Token);
    let cookie = session(SessionKind::Cookie);
    let key = secret(SecretKind::AccessKey, CANDIDATE);
    let basic = |pair: String| format!("Basic {}", STANDARD.encode(pair));
    for (name, value) in [
        (header::AUTHORIZATION, format!("Token {cookie}")),
        (header::COOKIE, format!("sessionid={token}")),
        (header::AUTHORIZATION, format!("GuestKey {token}")),
        (header::AUTHORIZATION, format!("ActivationKey {token}")),
        (header::AUTHORIZATION, format!("Token {key}")),
        (header::AUTHORIZATION, format!("ActivationKey {}", secret(SecretKind::AccessKey, CUSTOMER))),
        (header::AUTHORIZATION, basic(format!("owner:{token}"))),
        (header::AUTHORIZATION, basic("token:".to_owned())),
        (header::COOKIE, format!("sessionid={cookie}; sessionid={}", session(SessionKind::Cookie))),
        (header::COOKIE, format!("sessionid=ivs_old; sessionid={cookie}")),
        (header::COOKIE, format!("sessionid=0mv3k2; sessionid={token}")),
        (header::AUTHORIZATION, "Token".to_owned()),
        (header::AUTHORIZATION, "Token ivt_AAAA".to_owned()),
        (header::AUTHORIZATION, "Basic ¡".to_owned()),
    ] {
        let refused = read(name, &value).err().unwrap();
        assert!(matches!(refused, Error::Unauthenticated(INVALID_CREDENTIAL)), "{value}");
    }
    for value in [format!("Bearer {token}"), format!("Digest {token}"), token, String::new()] {
        let refused = read(header::AUTHORIZATION, &value).err().unwrap();
        assert!(matches!(refused, Error::Unauthenticated(UNKNOWN_SCHEME)), "{value}");
    }
    let none = Credential::from_headers(&HeaderMap::new()).err().unwrap();
    assert!(matches!(none, Error::Unauthenticated(MISSING)));
    let foreign = read(header::COOKIE, "sessionid=0mv3k2; sessionid=").err().unwrap();
    assert!(matches!(foreign, Error::Unauthenticated(MISSING)));
}
