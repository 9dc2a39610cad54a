//! Variables that are missing, invalid, or allowed only in a local deployment.

use super::*;

pub(crate) fn read(overrides: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let defaults = [
        ("BASE_URL", "https://hr.example/api/v3/"),
        ("TABLE_NAME", "interviews"),
        ("AWS_REGION", "eu-central-1"),
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
    ];
    Config::from_variables(|name| {
        let found = overrides.iter().chain(&defaults).find(|(key, _)| *key == name)?;
        Some(found.1.to_owned())
    })
}

#[test]
fn defaults_follow_from_the_required_variables() {
    let config = read(&[]).unwrap();
    assert_eq!(config.base_url.as_str(), "https://hr.example/api/v3");
    assert_eq!(config.suite_url.as_str(), "https://hr.example/");
    assert_eq!(config.session_idle_minutes, 120);
    assert!(config.aws.dynamodb_endpoint.is_none() && config.mail_sender.is_none() && !config.is_local);
}

#[test]
fn metrics_need_a_release() {
    let namespace = ("METRICS_NAMESPACE", "interviews");
    assert_eq!(read(&[namespace]).err().unwrap().variable, "RELEASE");
    let config = read(&[namespace, ("RELEASE", "v3.1.0")]).unwrap();
    assert_eq!(
        (config.metrics_namespace.as_deref(), config.release.as_deref()),
        (Some("interviews"), Some("v3.1.0"))
    );
    assert_eq!(read(&[]).unwrap().release, None);
}

#[test]
fn one_endpoint_serves_every_service_unless_a_service_has_its_own() {
    let config = read(&[
        ("AWS_ENDPOINT_URL", "http://localhost:4566"),
        ("AWS_ENDPOINT_URL_SES", "http://localhost:1"),
    ])
    .unwrap();
    assert_eq!(config.aws.s3_endpoint.as_deref(), Some("http://localhost:4566"));
    assert_eq!(config.aws.ses_endpoint.as_deref(), Some("http://localhost:1"));
}

#[test]
fn passwords_are_hashed_at_full_cost_unless_dynamodb_is_on_this_computer() {
    assert!(!read(&[]).unwrap().weak_password_hashes);
    let weak = ("WEAK_PASSWORD_HASHES", "1");
    for local in ["http://127.0.0.1:8000", "http://localhost:4566", "http://[::1]:8000"] {
        assert!(read(&[weak, ("AWS_ENDPOINT_URL_DYNAMODB", local)]).unwrap().weak_password_hashes);
    }
    for other in ["", "https://dynamodb.eu-central-1.amazonaws.com", "http://localhost.example", "localhost"]
    {
        let refused = read(&[weak, ("AWS_ENDPOINT_URL_DYNAMODB", other)]).err().unwrap();
        assert_eq!(refused.variable, "WEAK_PASSWORD_HASHES", "{other:?}");
    }
    let local = ("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:8000");
    assert!(read(&[("WEAK_PASSWORD_HASHES", "yes"), local]).is_err());
}

#[test]
fn events_are_sent_to_public_names_unless_dynamodb_is_on_this_computer() {
    assert_eq!(read(&[]).unwrap().outgoing_targets, AllowedTargets::Public);
    let loopback = ("OUTGOING_TARGETS", "loopback");
    let local = ("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:8000");
    assert_eq!(read(&[loopback, local]).unwrap().outgoing_targets, AllowedTargets::Loopback);
    let remote = ("AWS_ENDPOINT_URL_DYNAMODB", "https://dynamodb.eu-central-1.amazonaws.com");
    for wrong in [&[loopback][..], &[loopback, remote], &[("OUTGOING_TARGETS", "any"), local]] {
        assert_eq!(read(wrong).err().unwrap().variable, "OUTGOING_TARGETS");
    }
}

#[test]
fn mails_have_a_sender_where_one_is_set() {
    let sender = read(&[("MAIL_SENDER", "jobs@acme.example")]).unwrap().mail_sender;
    assert_eq!(sender.unwrap().as_str(), "jobs@acme.example");
}

#[test]
fn a_bad_variable_is_named() {
    for (variable, value) in [
        ("FORMER_RECEIPT_KEYS", "x"),
        ("RECOVERY_DAYS", "36"),
        ("LOG_RETENTION_DAYS", "0"),
        ("BASE_URL", ""),
        ("BASE_URL", "https://hr.example/"),
        ("BASE_URL", "https://hr.example/x/api/v3"),
        ("BASE_URL", "https://hr.example/api/v3?x"),
        ("BASE_URL", "ftp://hr.example/api/v3"),
        ("TABLE_NAME", ""),
        ("SESSION_IDLE_MINUTES", "0"),
        ("ALLOWED_ORIGINS", "*"),
        ("ALLOWED_ORIGINS", "https://app.example,*"),
        ("ALLOWED_ORIGINS", "https://app.example/"),
        ("ALLOWED_ORIGINS", "https://app.example:443"),
        ("ALLOWED_ORIGINS", "app.example"),
        ("ALLOWED_ORIGINS", "null"),
        ("SECURITY_CONTACT", "security@acme.example"),
        ("SECURITY_CONTACT", "http://acme.example/security"),
        ("MAIL_SENDER", "Acme <jobs@acme.example>"),
    ] {
        assert_eq!(read(&[(variable, value)]).err().unwrap().variable, variable, "{value:?}");
    }
}
