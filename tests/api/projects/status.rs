//! The status of a project: its moves, what refuses them, and the counts and flags that follow its candidates.

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::http::send_each;
use tests::{assert_refusal, assert_refusals};

/// The settings of a project in which candidates need no password.
fn without_passwords() -> Value {
    json!({ "allow_hash_login": true })
}

#[tokio::test]
async fn the_status_has_an_address_of_its_own() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({ "interview_platform": "external" })).await;
    let uri = format!("{project}status/");
    let view = |status: &str| json!({ "resource_uri": uri, "status": status });
    owner.get(&uri).await.expect_json(200, view("10-incomplete"));
    let moved = owner.patch(&uri, json!({ "status": "40-running" })).await;
    let mut expected = view("40-running");
    expected["warnings"] = json!([]);
    let moved = moved.expect_json(200, expected);
    let shown = owner.get(&uri).await.expect_json(200, view("40-running"));
    assert_eq!(moved.header("etag"), shown.header("etag"), "warnings are no part of the resource");
    assert_eq!(owner.get(&project).await.expect(200).json()["status"], "40-running");
}

#[tokio::test]
async fn a_project_that_runs_without_questions_is_warned_of() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({ "interview_platform": "builtin" })).await;
    let warnings =
        async |status: &str| owner.set_status(&project, status).await.expect(200).json()["warnings"].clone();
    let detail = "The project has no questions, so its candidates have no interview to take. Add questions, or set \
                  `interview_platform` to `external` if interviews take place elsewhere.";
    let warning = json!([{ "code": "no_questions", "detail": detail }]);
    // Also where it runs already.
    for _ in 0..2 {
        assert_eq!(warnings("40-running").await, warning);
    }
    assert_eq!(warnings("10-incomplete").await, json!([]));
    owner.post(&format!("{project}questions/"), json!({ "text": "Why us?" })).await.expect(201);
    assert_eq!(warnings("40-running").await, json!([]));
}

#[tokio::test]
async fn it_moves_from_draft_to_running_to_closed_and_back_to_running() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    for status in ["40-running", "10-incomplete", "60-closed", "40-running", "60-closed", "40-running"] {
        owner.set_status(&project, status).await.expect(200);
    }
}

#[tokio::test]
async fn a_closed_project_does_not_become_a_draft() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    owner.set_status(&project, "60-closed").await.expect(200);
    assert_refusal!(owner.set_status(&project, "10-incomplete").await, @r#"400 {"code":"no_transition","detail":"The project cannot move from its current status to this one."}"#);
}

#[tokio::test]
async fn the_same_status_again_is_done_already() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    for status in ["10-incomplete", "40-running", "60-closed"] {
        owner.set_status(&project, status).await.expect(200);
        let before = app.table().snapshot().await;
        let again = owner.set_status(&project, status).await.expect(200);
        assert_eq!(again.log().write_units, 0.0);
        assert_eq!(app.table().snapshot().await, before);
    }
}

#[tokio::test]
async fn a_status_must_be_one_of_the_three() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let uri = format!("{project}status/");
    owner.patch(&uri, json!({})).await.expect_json(400, json!({ "status": ["This field is required."] }));
    let statuses =
        [json!("running"), json!("50-paused"), json!(40), json!(""), Value::Null, json!(["40-running"])];
    assert_refusals!(send_each(statuses, |status| owner.patch(&uri, json!({ "status": status }))).await, @r#"
        400 {"status":["\"running\" is not a valid choice. Use one of: 10-incomplete, 40-running, 60-closed."]}
        400 {"status":["\"50-paused\" is not a valid choice. Use one of: 10-incomplete, 40-running, 60-closed."]}
        2 x 400 {"status":["Not a valid string."]}
        400 {"status":["\"\" is not a valid choice. Use one of: 10-incomplete, 40-running, 60-closed."]}
        400 {"status":["This field may not be null."]}
        "#);
}

#[tokio::test]
async fn the_first_moves_date_the_project() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let dates = async || {
        let project = owner.get(&project).await.expect(200).json();
        [project["activationdate"].clone(), project["closedate"].clone()]
    };
    assert_eq!(dates().await, [Value::Null, Value::Null]);
    owner.set_status(&project, "40-running").await.expect(200);
    assert_eq!(dates().await, [json!("2026-11-08"), Value::Null]);
    app.clock().advance(chrono::TimeDelta::minutes(90));
    owner.set_status(&project, "60-closed").await.expect(200);
    assert_eq!(dates().await, [json!("2026-11-08"), json!("2026-11-08")]);

    let planned = owner.project(json!({ "activationdate": "2027-01-01", "closedate": "2027-02-01" })).await;
    owner.set_status(&planned, "60-closed").await.expect(200);
    let kept = owner.get(&planned).await.expect(200).json();
    assert_eq!([&kept["activationdate"], &kept["closedate"]], ["2027-01-01", "2027-02-01"]);
}

#[tokio::test]
async fn open_candidates_keep_a_project_from_closing() {
    use CandidateStatus::{Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped};
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for (status, closes) in [
        (New, true),
        (Invited, false),
        (Confirmed, false),
        (Interviewing, false),
        // There is no evaluator, so nobody is fully evaluated.
        (Interviewed, false),
        (Expired, true),
        (Aborted, true),
        (Skipped, true),
    ] {
        let project = owner.running_project(without_passwords()).await;
        for _ in 0..3 {
            owner.candidate(&project, json!({})).await;
        }
        owner.candidate_at(&project, status).await;

        let shown = owner.get(&project).await.expect(200).json();
        assert_eq!(shown["can_archive"], closes, "{status:?}");
        let before = app.table().snapshot().await;
        let response = owner.set_status(&project, "60-closed").await;
        if closes {
            response.expect(200);
        } else {
            assert_refusal!(response, @r#"400 {"code":"cannot_archive","detail":"The project cannot be closed while candidates are invited, confirmed, interviewing or not fully evaluated."}"#);
            assert_eq!(app.table().snapshot().await, before, "{status:?}");
        }
    }
}

#[tokio::test]
async fn interviewed_candidates_must_be_fully_evaluated_before_the_end() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [one, two] = [app.staff("hiring-manager").await.uri, app.staff("hiring-manager").await.uri];
    for (team_evaluation, completed_by, closes) in [
        (0, vec![], false),
        (0, vec![&*one], false),
        (0, vec![&*one, &*two], true),
        (1, vec![], false),
        (1, vec![&*two], true),
        (2, vec![&*one], false),
        (2, vec![&*one, &*two], true),
    ] {
        let fields = json!({
            "evaluators": [one, two], "team_evaluation": team_evaluation, "allow_hash_login": true,
        });
        let project = owner.running_project(fields).await;
        let candidate = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
        for by in &completed_by {
            app.evaluate(&candidate, by, true).await;
        }
        let shown = owner.get(&project).await.expect(200).json();
        assert_eq!(shown["can_archive"], closes, "{team_evaluation} {completed_by:?}");
        assert_eq!(shown["evaluated_candidates_count"], i32::from(closes));
        let status = if closes { 200 } else { 400 };
        owner.set_status(&project, "60-closed").await.expect(status);
    }
}

#[tokio::test]
async fn only_new_candidates_let_a_project_become_a_draft_again() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for status in CandidateStatus::ALL {
        let project = owner.running_project(without_passwords()).await;
        owner.candidate(&project, json!({})).await;
        owner.candidate_at(&project, status).await;
        let response = owner.set_status(&project, "10-incomplete").await;
        match status {
            CandidateStatus::New => response.expect(200),
            _ => response.expect_code(400, "candidates_not_new"),
        };
    }
}

#[tokio::test]
async fn counts_follow_every_candidate() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(without_passwords()).await;
    for (count, status) in CandidateStatus::ALL.into_iter().enumerate() {
        for _ in 0..=count {
            owner.candidate_at(&project, status).await;
        }
    }
    let shown = owner.get(&project).await.expect(200).json();
    for (field, count) in [
        ("candidates_count", 36),
        ("invited_candidates_count", 2),
        ("confirmed_candidates_count", 3),
        ("interviewing_candidates_count", 4),
        ("interviewed_candidates_count", 5),
        ("expired_candidates_count", 6),
        ("aborted_candidates_count", 7),
        ("skipped_candidates_count", 8),
        ("evaluated_candidates_count", 0),
    ] {
        assert_eq!(shown[field], count, "{field}");
    }
}

#[tokio::test]
async fn flags_depend_on_the_caller() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [one, two] = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
    let reviewer = app.staff("hiring-manager").await;
    let fields = json!({
        "evaluators": [one.uri, two.uri], "reviewers": [reviewer.uri], "allow_hash_login": true,
    });
    let project = owner.running_project(fields).await;
    let candidate = owner.candidate_at(&project, CandidateStatus::Interviewing).await;
    let everybody = [&owner, &one, &two, &reviewer];
    let flags = async |name: &str| {
        let mut flags = Vec::new();
        for caller in everybody {
            flags.push(caller.get(&project).await.expect(200).json()[name].as_bool().unwrap());
        }
        flags
    };
    assert_eq!(flags("can_evaluate").await, [false; 4], "nobody is interviewed");

    app.complete(&candidate).await;
    assert_eq!(flags("can_evaluate").await, [false, true, true, false]);
    assert_eq!(flags("can_see_results").await, [false; 4], "nobody has evaluated");

    app.evaluate(&candidate, &one.uri, true).await;
    assert_eq!(flags("can_see_results").await, [true, true, false, true], "two has yet to evaluate");
}
