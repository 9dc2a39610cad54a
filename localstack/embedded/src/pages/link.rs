//! Targets of the links in mails, in place of the web application's pages: they show how to continue with `curl`. Those of
//! invitations also show the company's legal texts, and let the candidate accept them and go on.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::{INVITATION_POLICY, PAGE_POLICY, Pages, rendered};

/// The password in examples.
const PASSWORD: &str = "correct horse battery";
const LEGAL_TEXTS: &str = "Read the current legal texts, and accept the versions that are required";
const JSON: &str = "-H 'Content-Type: application/json'";

#[derive(Template)]
#[template(path = "link.html")]
struct Link<'a> {
    title: &'static str,
    /// The purpose of the web application's page.
    purpose: &'static str,
    key: Option<&'a str>,
    /// The form of an invitation.
    invitation: Option<InvitationForm<'a>>,
    /// Descriptions and commands.
    steps: Vec<(&'static str, String)>,
}

/// The form in which a candidate accepts legal texts and goes on.
struct InvitationForm<'a> {
    api: &'a str,
    key: &'a str,
    needs_password: bool,
}

/// The script of the form.
pub(super) async fn invitation_script() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];
    (kind, include_str!("../../templates/invitation.js")).into_response()
}

/// A candidate registers with a password.
pub(super) async fn register(State(pages): State<Pages>, Path(key): Path<String>) -> Response {
    shown(&[&key], || {
        let password = format!(
            "curl -sw '\\n' -X PATCH $CANDIDATE -H \"$AUTH\" {JSON} -d '{{\"password\": \"{PASSWORD}\"}}'"
        );
        let [read, accept, advance] = as_candidate(&pages, &key);
        Link {
            title: "Candidate registration",
            purpose: "Here, candidates see who invites them, accept legal texts, choose a password and confirm.",
            key: Some(&key),
            invitation: Some(InvitationForm { api: api(&pages), key: &key, needs_password: true }),
            steps: vec![
                ("Show the invited candidate and the project", read),
                (LEGAL_TEXTS, accept),
                ("Choose a password", password),
                ("Confirm. This revokes the key; log in with email and password from then on", advance),
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
        let [read, accept, advance] = as_candidate(&pages, &key);
        Link {
            title: "Candidate interview",
            purpose: "Here, candidates of a project without passwords accept legal texts, confirm and take their interview.",
            key: Some(&key),
            invitation: Some(InvitationForm { api: api(&pages), key: &key, needs_password: false }),
            steps: vec![
                ("Show the invited candidate and the project", read),
                (LEGAL_TEXTS, accept),
                ("Confirm; repeat this to start the interview", advance),
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
            title: "Candidate login",
            purpose: "Here, candidates who have registered log in and take their interview.",
            key: None,
            invitation: None,
            steps: vec![(
                "Log in, with the candidate's own email and password",
                post(&pages, "api-token-auth", &login),
            )],
        }
    })
}

/// A staff user activates their account.
pub(super) async fn activate(State(pages): State<Pages>, Path(key): Path<String>) -> Response {
    shown(&[&key], || {
        let chosen = format!(r#"{{"activation_key": "{key}", "password": "{PASSWORD}"}}"#);
        Link {
            title: "Account activation",
            purpose: "Here, staff choose the password of their new account.",
            key: Some(&key),
            invitation: None,
            steps: vec![("Choose a password. This revokes the key", post(&pages, "api-activate", &chosen))],
        }
    })
}

/// A user chooses a new password.
pub(super) async fn reset(State(pages): State<Pages>, Path(key): Path<String>) -> Response {
    shown(&[&key], || {
        let chosen = format!(r#"{{"key": "{key}", "password": "{PASSWORD}"}}"#);
        let command = post(&pages, "api-password-reset/confirm", &chosen);
        Link {
            title: "New password",
            purpose: "Here, users who have forgotten their password choose a new one.",
            key: Some(&key),
            invitation: None,
            steps: vec![(
                "Choose a new password. This revokes the key and all sessions; 204 means success",
                command,
            )],
        }
    })
}

/// Commands with which a candidate reads their own data, accepts a legal text, and advances.
fn as_candidate(pages: &Pages, key: &str) -> [String; 3] {
    let whoami = format!("{}/whoami/candidate/", api(pages));
    let read = format!(
        "AUTH='Authorization: ActivationKey {key}'\n\
         CANDIDATE=$(curl -s {whoami} -H \"$AUTH\" | grep -o 'http[^\"]*/candidates/[^/\"]*/' | head -n 1)\n\
         curl -sw '\\n' {whoami} -H \"$AUTH\""
    );
    let accept = format!(
        "curl -sw '\\n' \"${{CANDIDATE%%projects/*}}legal/?current=true\"\n\
         curl -sw '\\n' -X PUT ${{CANDIDATE}}consents/consent/ -H \"$AUTH\" {JSON} -d '{{\"version\": 1, \"language\": \"en\"}}'"
    );
    [read, accept, "curl -sw '\\n' -X PATCH ${CANDIDATE}status/advance/ -H \"$AUTH\"".to_owned()]
}

fn post(pages: &Pages, route: &str, body: &str) -> String {
    format!("curl -sw '\\n%{{http_code}}\\n' {}/{route}/ {JSON} -d '{body}'", api(pages))
}

fn api(pages: &Pages) -> &str {
    pages.app.config().base_url.as_str().trim_end_matches('/')
}

/// The page, unless a part of the path contains unexpected characters: people paste the commands into shells.
fn shown<'a>(parts: &[&str], link: impl FnOnce() -> Link<'a>) -> Response {
    let is_plain =
        |part: &&str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if parts.iter().all(is_plain) {
        let link = link();
        let policy = if link.invitation.is_some() { INVITATION_POLICY } else { PAGE_POLICY };
        rendered(&link, policy)
    } else {
        StatusCode::NOT_FOUND.into_response()
    }
}
