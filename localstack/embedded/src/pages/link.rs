//! Where the links in mails lead: pages in place of the web application's, which say how to go on by `curl`.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::{PAGE_POLICY, Pages, rendered};

/// What the examples choose.
const PASSWORD: &str = "correct horse battery";
const JSON: &str = "-H 'Content-Type: application/json'";

#[derive(Template)]
#[template(path = "link.html")]
struct Link<'a> {
    title: &'static str,
    /// What the web application would do here.
    purpose: &'static str,
    key: Option<&'a str>,
    /// What to do, and the commands that do it.
    steps: Vec<(&'static str, String)>,
}

/// A candidate registers with a password.
pub(super) async fn register(State(pages): State<Pages>, Path(key): Path<String>) -> Response {
    shown(&[&key], || {
        let password = format!(
            "curl -sw '\\n' -X PATCH $CANDIDATE -H \"$AUTH\" {JSON} -d '{{\"password\": \"{PASSWORD}\"}}'"
        );
        let [read, advance] = as_candidate(&pages, &key);
        Link {
            title: "Registration of a candidate",
            purpose: "Here, candidates see who invites them, choose a password and confirm.",
            key: Some(&key),
            steps: vec![
                ("See who is invited, and to what", read),
                ("Choose a password", password),
                ("Confirm, which ends the key: the candidate then logs in by email and password", advance),
            ],
        }
    })
}

/// A candidate takes the interview without a password.
pub(super) async fn open(
    State(pages): State<Pages>,
    Path((company, key)): Path<(String, String)>,
) -> Response {
    shown(&[&company, &key], || {
        let [read, advance] = as_candidate(&pages, &key);
        Link {
            title: "Interview of a candidate",
            purpose: "Here, candidates of a project that asks for no password confirm and take their interview.",
            key: Some(&key),
            steps: vec![
                ("See who is invited, and to what", read),
                ("Confirm; once more begins the interview", advance),
            ],
        }
    })
}

/// A candidate who has registered takes the interview.
pub(super) async fn start(State(pages): State<Pages>, Path(company): Path<String>) -> Response {
    shown(&[&company], || {
        let login =
            format!(r#"{{"company": "{company}", "username": "ada@example.com", "password": "{PASSWORD}"}}"#);
        Link {
            title: "Login of a candidate",
            purpose: "Here, candidates who have registered log in and take their interview.",
            key: None,
            steps: vec![(
                "Log in, with the candidate's own email and password",
                post(&pages, "api-token-auth", &login),
            )],
        }
    })
}

/// A member of staff activates their account.
pub(super) async fn activate(State(pages): State<Pages>, Path(key): Path<String>) -> Response {
    shown(&[&key], || {
        let chosen = format!(r#"{{"activation_key": "{key}", "password": "{PASSWORD}"}}"#);
        Link {
            title: "Activation of an account",
            purpose: "Here, staff choose the password of their new account.",
            key: Some(&key),
            steps: vec![("Choose a password, which ends the key", post(&pages, "api-activate", &chosen))],
        }
    })
}

/// A user who has forgotten their password chooses another.
pub(super) async fn reset(State(pages): State<Pages>, Path(key): Path<String>) -> Response {
    shown(&[&key], || {
        let chosen = format!(r#"{{"key": "{key}", "password": "{PASSWORD}"}}"#);
        let command = post(&pages, "api-password-reset/confirm", &chosen);
        Link {
            title: "Another password",
            purpose: "Here, users who have forgotten their password choose another.",
            key: Some(&key),
            steps: vec![(
                "Choose another password, which ends the key and all sessions; 204 says that it is done",
                command,
            )],
        }
    })
}

/// How a candidate with a key sees themselves and what they are invited to, and how they advance.
fn as_candidate(pages: &Pages, key: &str) -> [String; 2] {
    let whoami = format!("{}/whoami/candidate/", api(pages));
    let read = format!(
        "AUTH='Authorization: ActivationKey {key}'\n\
         CANDIDATE=$(curl -s {whoami} -H \"$AUTH\" | grep -o 'http[^\"]*/candidates/[^/\"]*/' | head -n 1)\n\
         curl -sw '\\n' {whoami} -H \"$AUTH\""
    );
    [read, "curl -sw '\\n' -X PATCH ${CANDIDATE}status/advance/ -H \"$AUTH\"".to_owned()]
}

fn post(pages: &Pages, route: &str, body: &str) -> String {
    format!("curl -sw '\\n%{{http_code}}\\n' {}/{route}/ {JSON} -d '{body}'", api(pages))
}

fn api(pages: &Pages) -> &str {
    pages.app.config().base_url.as_str().trim_end_matches('/')
}

/// The page, unless a part of the path is none of a link's: what it shows is pasted into shells.
fn shown<'a>(parts: &[&str], link: impl FnOnce() -> Link<'a>) -> Response {
    let is_plain =
        |part: &&str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if parts.iter().all(is_plain) {
        rendered(&link(), PAGE_POLICY)
    } else {
        StatusCode::NOT_FOUND.into_response()
    }
}
