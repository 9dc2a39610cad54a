//! Refusals of each action on a candidate, in their words, and that nothing changes by them.

use std::future::Future;

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus::{
    self, Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped,
};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, Token};
use tests::http::Response;

const NO_TRANSITION: (&str, &str) =
    ("no_transition", "You cannot advance the candidate from the current status.");
const NOT_RUNNING: (&str, &str) =
    ("project_not_running", "The project is not running. Set its status to `40-running` first.");
const EMAIL_MISSING: (&str, &str) = ("email_missing", "The candidate has no email address. Set one first.");
const DEADLINE_MISSING: (&str, &str) = ("deadline_missing", "The candidate has no deadline. Set one first.");
const DEADLINE_PASSED: (&str, &str) =
    ("deadline_passed", "The candidate's deadline has passed. Set a later one first.");
const PASSWORD_MISSING: (&str, &str) = ("password_missing", "Set a password before you confirm.");
const NOT_IMPLEMENTED: (&str, &str) = (
    "not_implemented",
    "Candidates complete interviews on the interview platform. This endpoint cannot mark them as completed.",
);
const NOT_SKIPPABLE: (&str, &str) = (
    "no_transition",
    "Candidates who have started or completed the interview, or are already skipped, cannot be skipped.",
);
const NOT_REMINDABLE: (&str, &str) = ("no_reminder", "Only invited or confirmed candidates can be reminded.");

/// Makes sure that a request is refused in these words and changes nothing.
async fn assert_refused(
    app: &TestApp,
    (code, detail): (&str, &str),
    request: impl Future<Output = Response>,
) {
    let before = app.table().snapshot().await;
    request.await.expect_json(400, json!({ "detail": detail, "code": code }));
    assert_eq!(app.table().snapshot().await, before, "something has changed");
}

/// The service, its owner, and a running project in which candidates need no password.
async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    (app, owner, project)
}

/// A new candidate who is ready to be invited but for what `fields` say.
async fn almost_ready(owner: &Staff, project: &str, fields: Value) -> String {
    let ready = json!({ "email": "ada@mail.example", "deadline": owner.app().clock().in_days(7) });
    let uri = owner.candidate(project, ready).await;
    owner.patch(&uri, fields).await.expect(200);
    uri
}

/// A candidate who is invited and has logged in by the password that it chose.
async fn registered(owner: &Staff, project: &str) -> (String, Token) {
    let invited = owner.invite(project, json!({})).await;
    let token = invited.register().await;
    (invited.uri, token)
}

#[tokio::test]
async fn a_manager_cannot_advance_from_statuses_of_the_candidate_or_of_no_one() {
    let (app, owner, project) = given().await;
    for status in [Invited, Confirmed, Interviewing, Interviewed, Skipped] {
        let uri = owner.candidate_at(&project, status).await;
        assert_refused(&app, NO_TRANSITION, owner.advance(&uri)).await;
    }
}

#[tokio::test]
async fn candidates_cannot_advance_from_statuses_of_a_manager_or_of_no_one() {
    let (app, owner, project) = given().await;
    for status in [Expired, Aborted, Interviewed] {
        let (uri, token) = registered(&owner, &project).await;
        if status == Expired {
            owner.set_deadline(&uri, &app.clock().in_days(0)).await.expect(200);
            app.expire_overdue().await;
            owner.set_deadline(&uri, &app.clock().in_days(7)).await.expect(200);
        } else {
            token.advance(&uri).await.expect(200);
            token.advance(&uri).await.expect(200);
            match status {
                Aborted => app.abort(&uri).await,
                _ => app.complete(&uri).await,
            }
        }
        // The session has ended.
        let token = relogged(&app, &owner, &uri, token).await;
        assert_eq!(token.get(&uri).await.expect(200).json()["status"], status.as_str());
        assert_refused(&app, NO_TRANSITION, token.advance(&uri)).await;
    }
}

#[tokio::test]
async fn advancing_is_refused_without_a_required_deadline() {
    let (app, owner, project) = given().await;
    let none = json!({ "deadline": null });
    let uri = almost_ready(&owner, &project, none.clone()).await;
    assert_refused(&app, DEADLINE_MISSING, owner.advance(&uri)).await;
    for status in [Expired, Aborted] {
        let uri = owner.candidate_at(&project, status).await;
        owner.patch(&uri, none.clone()).await.expect(200);
        assert_refused(&app, DEADLINE_MISSING, owner.advance(&uri)).await;
    }
    // To confirm it needs none, only to begin.
    let (uri, token) = registered(&owner, &project).await;
    owner.patch(&uri, none).await.expect(200);
    token.advance(&uri).await.expect(200);
    assert_refused(&app, DEADLINE_MISSING, token.advance(&uri)).await;
}

#[tokio::test]
async fn advancing_is_refused_after_the_deadline() {
    let (app, owner, project) = given().await;
    let soon = (app.clock().in_days(1), TimeDelta::days(1));
    let new = almost_ready(&owner, &project, json!({ "deadline": soon.0 })).await;
    let [expired, aborted] =
        [owner.candidate_at(&project, Expired).await, owner.candidate_at(&project, Aborted).await];
    let (invited, by_invited) = registered(&owner, &project).await;
    let (confirmed, by_confirmed) = registered(&owner, &project).await;
    by_confirmed.advance(&confirmed).await.expect(200);
    for uri in [&expired, &aborted, &invited, &confirmed] {
        owner.set_deadline(uri, &soon.0).await.expect(200);
    }
    let sessions_live = TimeDelta::minutes(100);
    app.clock().advance(soon.1 - sessions_live);
    let owner = owner.new_token().await;
    let by_invited = relogged(&app, &owner, &invited, by_invited).await;
    let by_confirmed = relogged(&app, &owner, &confirmed, by_confirmed).await;

    // No sweep runs; the rule holds all the same, from that very second on and later.
    app.clock().advance(sessions_live);
    for later in [0, 1, 60] {
        app.clock().advance(TimeDelta::seconds(later));
        for uri in [&new, &expired, &aborted] {
            assert_refused(&app, DEADLINE_PASSED, owner.advance(uri)).await;
        }
        assert_refused(&app, DEADLINE_PASSED, by_invited.advance(&invited)).await;
        assert_refused(&app, DEADLINE_PASSED, by_confirmed.advance(&confirmed)).await;
    }
    // A second before, all of it is done.
    app.clock().advance(TimeDelta::seconds(-62));
    for uri in [&new, &expired, &aborted] {
        owner.advance(uri).await.expect(200);
    }
    by_invited.advance(&invited).await.expect(200);
    by_confirmed.advance(&confirmed).await.expect(200);
}

/// The candidate at `uri` logged in anew, whose session has ended.
async fn relogged(app: &TestApp, owner: &impl Caller, uri: &str, stale: Token) -> Token {
    stale.get("/whoami/").await.expect(401);
    let email = owner.get(uri).await.expect(200).uri("email");
    let login = app.anonymous().log_in("acme", &email, tests::caller::PASSWORD).await;
    app.token(&login.expect(200).uri("token"))
}

#[tokio::test]
async fn an_invitation_is_refused_without_an_address() {
    let (app, owner, project) = given().await;
    let uri = almost_ready(&owner, &project, json!({ "email": null })).await;
    assert_refused(&app, EMAIL_MISSING, owner.advance(&uri)).await;
    // A candidate who goes on with the interview needs none.
    for status in [Expired, Aborted] {
        let uri = owner.candidate_at(&project, status).await;
        let later = json!({ "email": null, "deadline": app.clock().in_days(9) });
        owner.patch(&uri, later).await.expect(200);
        if status == Expired {
            assert_refused(&app, EMAIL_MISSING, owner.advance(&uri)).await;
        } else {
            owner.advance(&uri).await.expect(200);
        }
    }
}

#[tokio::test]
async fn confirming_is_refused_without_a_required_password() {
    let (app, owner, _) = given().await;
    let project = owner.running_project(json!({})).await;
    let invited = owner.invite(&project, json!({})).await;
    assert_refused(&app, PASSWORD_MISSING, invited.advance(&invited.uri)).await;
    invited.choose_password().await;
    invited.advance(&invited.uri).await.expect(200);
}

#[tokio::test]
async fn advancing_is_refused_unless_the_project_is_running() {
    let (app, owner, running) = given().await;
    let draft = owner.project(json!({})).await;
    let uri = almost_ready(&owner, &draft, json!({})).await;
    assert_refused(&app, NOT_RUNNING, owner.advance(&uri)).await;

    let new = almost_ready(&owner, &running, json!({})).await;
    let [expired, aborted] =
        [owner.candidate_at(&running, Expired).await, owner.candidate_at(&running, Aborted).await];
    owner.set_deadline(&expired, &app.clock().in_days(7)).await.expect(200);
    owner.set_status(&running, "60-closed").await.expect(200);
    for uri in [new, expired, aborted] {
        assert_refused(&app, NOT_RUNNING, owner.advance(&uri)).await;
    }
}

#[tokio::test]
async fn an_interview_is_not_completed_by_advancing() {
    let (app, owner, project) = given().await;
    let (uri, token) = registered(&owner, &project).await;
    token.advance(&uri).await.expect(200);
    token.advance(&uri).await.expect(200);
    assert_refused(&app, NOT_IMPLEMENTED, token.advance(&uri)).await;
    // Nor by a key, nor after the deadline.
    let by_key = owner.invite(&project, json!({})).await;
    by_key.advance(&by_key.uri).await.expect(200);
    by_key.advance(&by_key.uri).await.expect(200);
    assert_refused(&app, NOT_IMPLEMENTED, by_key.advance(&by_key.uri)).await;
    owner.set_deadline(&uri, "2001-01-01T00:00:00Z").await.expect(200);
    assert_refused(&app, NOT_IMPLEMENTED, token.advance(&uri)).await;
}

#[tokio::test]
async fn candidates_who_have_started_or_are_skipped_cannot_be_skipped() {
    let (app, owner, project) = given().await;
    for status in CandidateStatus::ALL {
        let uri = owner.candidate_at(&project, status).await;
        match status {
            Interviewing | Interviewed | Skipped => {
                assert_refused(&app, NOT_SKIPPABLE, owner.skip(&uri)).await;
            }
            New | Invited | Confirmed | Expired | Aborted => {
                let skipped = owner.skip(&uri).await.expect(200).json();
                assert_eq!(skipped["status"], "skipped", "{status:?}");
                assert_eq!([&skipped["activation_key"], &skipped["interview_key"]], ["", ""]);
                owner.get(&uri).await.expect_json(200, skipped);
            }
        }
    }
    let counted = owner.get(&project).await.expect(200).json();
    assert_eq!([&counted["candidates_count"], &counted["skipped_candidates_count"]], [8, 6]);
}

#[tokio::test]
async fn only_invited_or_confirmed_candidates_are_reminded() {
    let (app, owner, project) = given().await;
    for status in CandidateStatus::ALL {
        let uri = owner.candidate_at(&project, status).await;
        let shown = owner.get(&uri).await.expect(200).json();
        if matches!(status, Invited | Confirmed) {
            owner.remind(&uri).await.expect_json(200, shown);
        } else {
            assert_refused(&app, NOT_REMINDABLE, owner.remind(&uri)).await;
        }
    }
}

#[tokio::test]
async fn a_reminder_is_refused_after_the_deadline_or_without_an_address() {
    let (app, owner, project) = given().await;
    for status in [Invited, Confirmed] {
        let uri = owner.candidate_at(&project, status).await;
        owner.set_deadline(&uri, &app.clock().in_days(0)).await.expect(200);
        assert_refused(&app, DEADLINE_PASSED, owner.remind(&uri)).await;
        if status == Confirmed {
            let nobody = json!({ "email": null, "deadline": app.clock().in_days(1) });
            owner.patch(&uri, nobody).await.expect(200);
            assert_refused(&app, EMAIL_MISSING, owner.remind(&uri)).await;
        }
    }
}
