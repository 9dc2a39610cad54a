use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::*;

#[test]
fn the_url_of_an_issuer_is_kept_as_it_is_written() {
    for issuer in [
        "https://token.actions.githubusercontent.com",
        "https://accounts.google.com",
        "https://gitlab.example.com/",
        "https://oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE",
        "https://issuer.example:8443/tenant",
    ] {
        let parsed = IssuerUrl::parse(issuer, AllowedTargets::Public).unwrap();
        assert_eq!(parsed.as_str(), issuer);
        let stored = serde_json::to_string(&parsed).unwrap();
        assert_eq!(serde_json::from_str::<IssuerUrl>(&stored).unwrap(), parsed);
    }
    for refused in [
        "https://Issuer.example",
        "https://issuer.example:443",
        "https://issuer.example/a/../b",
        "https://issuer.example/?x=1",
        "https://issuer.example?",
        "https://issuer.example/#",
        "http://issuer.example",
        "https://10.0.0.1",
        "https://localhost",
        "issuer.example",
        "",
    ] {
        assert!(IssuerUrl::parse(refused, AllowedTargets::Public).is_err(), "{refused}");
    }
    assert!(IssuerUrl::parse("http://127.0.0.1:9/", AllowedTargets::Loopback).is_ok());
}

#[test]
fn the_configuration_is_below_the_issuer_and_names_it() {
    for (issuer, url) in [
        ("https://a.example", "https://a.example/.well-known/openid-configuration"),
        ("https://a.example/", "https://a.example/.well-known/openid-configuration"),
        ("https://a.example/t", "https://a.example/t/.well-known/openid-configuration"),
    ] {
        let issuer = IssuerUrl::parse(issuer, AllowedTargets::Public).unwrap();
        assert_eq!(issuer.configuration_url().unwrap().as_str(), url);
    }
    let issuer = IssuerUrl::parse("https://a.example", AllowedTargets::Public).unwrap();
    let keys = |named: &str, keys: &str| {
        let configuration = serde_json::json!({ "issuer": named, "jwks_uri": keys, "more": 1 });
        issuer.keys_url(configuration.to_string().as_bytes()).map(String::from)
    };
    assert_eq!(keys("https://a.example", "https://b.example/k"), Ok("https://b.example/k".to_owned()));
    assert_eq!(keys("https://a.example/", "https://b.example/k"), Err(IssuerFault::OtherIssuer));
    for wrong in ["file:///etc/passwd", "ftp://b.example/", "https://me@b.example/", "keys"] {
        assert_eq!(keys("https://a.example", wrong), Err(IssuerFault::NoDiscovery), "{wrong}");
    }
    assert_eq!(issuer.keys_url(b"<html>"), Err(IssuerFault::NoDiscovery));
}

/// JWTs signed with RSA keys of 1,024 and 2,048 bits, with the moduli. Made with OpenSSL.
const BY_RSA: &str = include_str!("rsa.txt");

#[test]
fn keys_of_rsa_have_at_least_2048_bits() {
    let accepted = BY_RSA.lines().map(|line| {
        let (modulus, jwt) = line.split_once(' ').unwrap();
        let jwk = serde_json::json!({ "kty": "RSA", "kid": "k", "n": modulus, "e": "AQAB" });
        let keys = IssuerKeys::parse(serde_json::json!({ "keys": [jwk] }).to_string().as_bytes()).unwrap();
        PresentedJwt::parse(jwt).unwrap().verify(&keys).is_some()
    });
    assert_eq!(accepted.collect::<Vec<_>>(), [false, true]);
}

#[test]
fn keys_that_are_longer_than_any_that_verifies_are_left_out() {
    let encoded = |length: usize| URL_SAFE_NO_PAD.encode(vec![0xff; length]);
    let is_kept = |id: usize, modulus: usize, exponent: usize| {
        let jwk = serde_json::json!({
            "kty": "RSA", "kid": "k".repeat(id), "n": encoded(modulus), "e": encoded(exponent),
        });
        IssuerKeys::parse(serde_json::json!({ "keys": [jwk] }).to_string().as_bytes()).is_ok()
    };
    assert!(is_kept(500, 1024, 8));
    for (id, modulus, exponent) in [(501, 256, 3), (1, 1025, 3), (1, 256, 9)] {
        assert!(!is_kept(id, modulus, exponent), "{id} {modulus} {exponent}");
    }
}
