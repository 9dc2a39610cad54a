//! The links in mails.

use super::*;
use crate::domain::samples;
use crate::domain::secret::PasswordHash;
use crate::domain::text::{Email, Username};

fn project(allow_hash_login: bool) -> Project {
    let mut project = samples::project();
    project.settings.allow_hash_login = allow_hash_login;
    project
}

fn candidate(key: Option<&str>, has_password: bool) -> Candidate {
    let access_key = key.map(samples::access_key);
    let password_hash = has_password.then(|| PasswordHash::new("$argon2id$".to_owned()));
    let mut candidate = Candidate { access_key, password_hash, ..samples::candidate() };
    candidate.profile.email = Some(Email::parse("ada@mail.example").unwrap());
    candidate
}

fn link(suite: &str, candidate: &Candidate, allow_hash_login: bool) -> InterviewLink {
    let key = candidate.access_key.as_ref().map(|key| key.sealed.as_str());
    InterviewLink::new(&Url::parse(suite).unwrap(), candidate, &project(allow_hash_login), key)
}

#[test]
fn a_link_leads_to_the_candidates_next_step() {
    const REGISTER: &str = "https://hr.example/register/aB3-_x";
    const OPEN: &str = "https://hr.example/interview/acme/aB3-_x";
    const START: &str = "https://hr.example/interview/acme/";
    let key = Some("aB3-_x");
    for (key, has_password, allow_hash_login, expected) in [
        (key, false, false, REGISTER),
        // Has a password but has not confirmed.
        (key, true, false, REGISTER),
        (key, true, true, REGISTER),
        (key, false, true, OPEN),
        (None, true, false, START),
        (None, true, true, START),
    ] {
        let link = link("https://hr.example", &candidate(key, has_password), allow_hash_login);
        let case = match link {
            InterviewLink::Register(_) => REGISTER,
            InterviewLink::Open(_) => OPEN,
            InterviewLink::Start(_) => START,
        };
        assert_eq!((link.url(), case), (expected, expected), "{has_password} {allow_hash_login}");
        assert_eq!(link.is_secret(), link.url().contains("aB3-_x"));
    }
}

#[test]
fn only_who_has_a_name_to_log_in_with_needs_a_password() {
    let mut one = candidate(Some("aB3-_x"), false);
    one.profile.email = None;
    assert!(link("https://hr.example", &one, false).url().starts_with("https://hr.example/interview/"));
    one.profile.username = Some(Username::parse("ada").unwrap());
    assert!(link("https://hr.example", &one, false).url().starts_with("https://hr.example/register/"));
}

#[test]
fn a_link_leads_into_the_web_application_wherever_it_is_mounted() {
    for (suite, root) in [
        ("https://hr.example", "https://hr.example"),
        ("https://hr.example/", "https://hr.example"),
        ("https://hr.example/app", "https://hr.example/app"),
        ("http://localhost:8080/app/", "http://localhost:8080/app"),
    ] {
        let new = candidate(Some("aB3-_x"), false);
        assert_eq!(link(suite, &new, false).url(), format!("{root}/register/aB3-_x"));
        assert_eq!(link(suite, &new, true).url(), format!("{root}/interview/acme/aB3-_x"));
        assert_eq!(link(suite, &candidate(None, true), false).url(), format!("{root}/interview/acme/"));
    }
}

#[test]
fn a_key_cannot_leave_its_segment() {
    let candidate = candidate(Some("../a?b#c\"<"), false);
    for (allow_hash_login, page) in [(false, "register"), (true, "interview/acme")] {
        let link = link("https://hr.example/", &candidate, allow_hash_login);
        assert_eq!(link.url(), format!("https://hr.example/{page}/..%2Fa%3Fb%23c%22%3C"));
    }
}

#[test]
fn links_lead_into_the_web_application() {
    let suite = Url::parse("https://hr.example/app").unwrap();
    assert_eq!(activation_link(&suite, "aB3-_x"), "https://hr.example/app/activate/aB3-_x");
    assert_eq!(
        reset_link(&suite, "../a?b#c\"<"),
        "https://hr.example/app/reset-password/..%2Fa%3Fb%23c%22%3C"
    );
}
