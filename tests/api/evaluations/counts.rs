//! Counts of a project's evaluations, and the status of the candidates.

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus::{Interviewed, Interviewing};
use shared::event::RecordOutcome::{Applied, Ignored};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff};
use tests::http::Request;
use tokio::task::JoinSet;

use crate::system::platform_events::{evaluated, given, report};

#[tokio::test]
async fn of_two_evaluations_by_one_evaluator_the_later_counts_however_they_arrive() {
    let (app, owner, [one, two], project) = given().await;
    let [early, late] = ["2026-11-08T10:00:00Z", "2026-11-08T10:00:01Z"];
    for is_taken_back in [false, true] {
        for is_in_order in [false, true] {
            let uri = owner.candidate_at(&project, Interviewed).await;
            let first = evaluated(&uri, &one, is_taken_back, early);
            let second = evaluated(&uri, &one, !is_taken_back, late);
            if is_in_order {
                assert_eq!([report(&app, first).await, report(&app, second).await], [Applied, Applied]);
            } else {
                assert_eq!([report(&app, second).await, report(&app, first).await], [Applied, Ignored]);
            }
            let status = if is_taken_back { "pending" } else { "completed" };
            assert_eq!(one.get(&uri).await.expect(200).json()["my_evaluation_status"], status);
            assert_eq!(two.get(&uri).await.expect(200).json()["my_evaluation_status"], "pending");
        }
    }
    assert_eq!(owner.get(&project).await.expect(200).json()["evaluated_candidates_count"], 2);
}

#[tokio::test]
async fn flags_and_counts_follow_each_evaluation_for_every_team() {
    // After the interview, then after: one; one and two; two alone; nobody.
    for (team_evaluation, evaluated, statuses) in [
        (0, [0, 0, 1, 0, 0], ["pending", "partial", "completed", "partial", "pending"]),
        (1, [0, 1, 1, 1, 0], ["pending", "completed", "completed", "completed", "pending"]),
        (2, [0, 0, 1, 0, 0], ["pending", "partial", "completed", "partial", "pending"]),
    ] {
        let (app, owner, [one, two], project) = given().await;
        let reviewer = app.staff("hiring-manager").await;
        let team = json!({ "team_evaluation": team_evaluation, "reviewers": [reviewer.uri] });
        owner.patch(&project, team).await.expect(200);
        let uri = owner.candidate_at(&project, Interviewing).await;
        let seen = async || {
            let mut seen = Vec::new();
            for caller in [&owner, &one, &two, &reviewer] {
                let shown = caller.get(&project).await.expect(200).json();
                seen.push(
                    ["can_evaluate", "can_see_results", "can_archive"].map(|f| shown[f].as_bool().unwrap()),
                );
            }
            seen
        };
        assert_eq!(seen().await, [[false; 3]; 4], "nothing to evaluate, and one who goes on");
        app.complete(&uri).await;
        let steps = [
            (None, [false; 4]),
            (Some((&one, true)), [true, true, false, true]),
            (Some((&two, true)), [true; 4]),
            (Some((&one, false)), [true, false, true, true]),
            (Some((&two, false)), [false; 4]),
        ];
        for (step, (evaluation, sees_results)) in steps.into_iter().enumerate() {
            if let Some((by, completed)) = evaluation {
                app.evaluate(&uri, &by.uri, completed).await;
            }
            let is_done = evaluated[step] == 1;
            let expected: Vec<_> =
                (0..4).map(|caller| [(1..=2).contains(&caller), sees_results[caller], is_done]).collect();
            assert_eq!(seen().await, expected, "team_evaluation {team_evaluation}, step {step}");
            let shown = owner.get(&project).await.expect(200).json();
            assert_eq!(shown["evaluated_candidates_count"], evaluated[step], "{team_evaluation} {step}");
            let status = owner.get(&uri).await.expect(200).json()["evaluation_status"].clone();
            assert_eq!(status, statuses[step], "{team_evaluation} {step}");
        }
    }
}

/// The project's evaluations as its view shows them: how many candidates are evaluated, `can_archive` and `can_see_results`.
async fn evaluations_of(project: &str, seen_by: &Staff) -> (i64, bool, bool) {
    let shown = seen_by.get(project).await.expect(200).json();
    let flag = |name: &str| shown[name].as_bool().unwrap();
    let evaluated = shown["evaluated_candidates_count"].as_i64().unwrap();
    (evaluated, flag("can_archive"), flag("can_see_results"))
}

#[tokio::test]
async fn only_evaluations_by_evaluators_of_the_project_count() {
    for team_evaluation in [0, 1] {
        let (app, owner, [one, two], project) = given().await;
        let team = json!({ "evaluators": [one.uri], "team_evaluation": team_evaluation });
        owner.patch(&project, team).await.expect(200);
        let uri = owner.candidate_at(&project, Interviewed).await;
        let evaluators = async |evaluators: &[&Staff]| {
            let uris: Vec<&str> = evaluators.iter().map(|one| one.uri.as_str()).collect();
            // The answer shows what follows from the change, and so does every later one.
            let answer = owner.patch(&project, json!({ "evaluators": uris })).await.expect(200);
            assert_eq!(answer.log().dynamodb_calls, 2, "a read and a write, whoever was evaluated");
            assert_eq!(answer.json(), owner.get(&project).await.expect(200).json());
            app.assert_sound();
        };
        let status = async || owner.get(&uri).await.expect(200).json()["evaluation_status"].clone();

        app.evaluate(&uri, &two.uri, true).await;
        assert_eq!(evaluations_of(&project, &owner).await, (0, false, false), "two is none of them");
        assert_eq!(status().await, "pending");
        assert_refusal!(owner.set_status(&project, "60-closed").await, @r#"400 {"code":"cannot_archive","detail":"The project cannot be closed while candidates are invited, confirmed, interviewing or not fully evaluated."}"#);

        app.evaluate(&uri, &one.uri, true).await;
        assert_eq!(evaluations_of(&project, &owner).await, (1, true, true));
        assert_eq!(status().await, "completed");
        assert_eq!(one.get(&uri).await.expect(200).json()["my_evaluation_status"], "completed");

        let three = app.staff("hiring-manager").await;
        evaluators(&[&three]).await;
        assert_eq!(evaluations_of(&project, &owner).await, (0, false, false), "one is replaced by three");
        assert_eq!(evaluations_of(&project, &three).await, (0, false, false));
        assert_eq!(status().await, "pending");
        assert_eq!(three.get(&uri).await.expect(200).json()["my_evaluation_status"], "pending");

        evaluators(&[&two]).await;
        assert_eq!(evaluations_of(&project, &owner).await, (1, true, true), "two evaluated before");
        assert_eq!(evaluations_of(&project, &two).await, (1, true, true));
        assert_eq!(two.get(&uri).await.expect(200).json()["my_evaluation_status"], "completed");

        evaluators(&[&one, &two, &three]).await;
        let (evaluated, status_of_three) =
            if team_evaluation == 0 { (0, "partial") } else { (1, "completed") };
        assert_eq!(evaluations_of(&project, &owner).await, (evaluated, evaluated == 1, true));
        assert_eq!(status().await, status_of_three);

        evaluators(&[]).await;
        assert_eq!(evaluations_of(&project, &owner).await, (0, false, false), "nobody evaluates");
        assert_eq!(status().await, "pending");
        assert_refusal!(owner.set_status(&project, "60-closed").await, @r#"400 {"code":"cannot_archive","detail":"The project cannot be closed while candidates are invited, confirmed, interviewing or not fully evaluated."}"#);

        evaluators(&[&one]).await;
        owner.set_status(&project, "60-closed").await.expect(200);
    }
}

#[tokio::test]
async fn the_first_evaluation_by_a_person_keeps_if_match_of_the_project() {
    let (app, owner, [one, _], project) = given().await;
    let uri = owner.candidate_at(&project, Interviewed).await;
    let seen = owner.get(&project).await.expect(200);
    app.evaluate(&uri, &one.uri, true).await;
    let change = Request::patch(&project).json(&json!({ "contact_person": "Ada" }));
    owner.send(change.header("if-match", seen.header("etag").unwrap())).await.expect(200);
}

#[tokio::test]
async fn roles_given_and_taken_one_by_one_move_counts_as_well() {
    let (app, owner, [one, two], project) = given().await;
    owner.patch(&project, json!({ "evaluators": [one.uri], "team_evaluation": 0 })).await.expect(200);
    let uri = owner.candidate_at(&project, Interviewed).await;
    app.evaluate(&uri, &one.uri, true).await;
    let role = json!({ "customer": two.uri, "role": "evaluator" });
    let role = owner.post(&format!("{project}roles/"), role).await.expect(201).uri("resource_uri");
    assert_eq!(evaluations_of(&project, &owner).await, (0, false, true));
    owner.delete(&role).await.expect(204);
    assert_eq!(evaluations_of(&project, &owner).await, (1, true, true));
    owner.delete(&one.uri).await.expect(204);
    assert_eq!(evaluations_of(&project, &owner).await, (0, false, false), "the evaluator has left");
}

#[tokio::test]
async fn a_deleted_candidate_takes_its_evaluations_along() {
    let (app, owner, [one, two], project) = given().await;
    let [uri, other] =
        [owner.candidate_at(&project, Interviewed).await, owner.candidate_at(&project, Interviewed).await];
    for by in [&one, &two] {
        app.evaluate(&uri, &by.uri, true).await;
    }
    assert_eq!(evaluations_of(&project, &owner).await, (1, false, true));
    owner.delete(&uri).await.expect(204);
    assert_eq!(evaluations_of(&project, &owner).await, (0, false, false));
    owner.delete(&other).await.expect(204);
    assert_eq!(evaluations_of(&project, &owner).await, (0, true, false));
}

#[tokio::test]
async fn a_project_closes_by_the_evaluations_of_that_moment() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let other = app.staff("hiring-manager").await;
    for (by, completed, status) in [(&owner, false, 400), (&other, true, 200)] {
        let fields = json!({ "allow_hash_login": true, "evaluators": [owner.uri], "team_evaluation": 1 });
        let project = owner.running_project(fields).await;
        let uri = owner.candidate_at(&project, Interviewed).await;
        app.evaluate(&uri, &other.uri, false).await;
        app.evaluate(&uri, &owner.uri, true).await;
        let closing = chaos.pause("TransactWriteItems");
        let meanwhile = async {
            closing.reached().await;
            app.evaluate(&uri, &by.uri, completed).await;
            closing.resume();
        };
        let (response, ()) = tokio::join!(owner.set_status(&project, "60-closed"), meanwhile);
        let response = response.expect(status);
        if status == 400 {
            assert_eq!(response.json()["code"], "cannot_archive");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_are_exact_while_evaluators_change_and_evaluate() {
    let (app, owner, [one, two], project) = given().await;
    let three = app.staff("hiring-manager").await;
    let mut candidates = Vec::new();
    for _ in 0..6 {
        candidates.push(owner.candidate_at(&project, Interviewed).await);
    }
    let mut evaluations = JoinSet::new();
    for by in [&one, &two, &three] {
        let (app, by, candidates) = (app.clone(), by.uri.clone(), candidates.clone());
        evaluations.spawn(async move {
            for uri in candidates {
                app.evaluate(&uri, &by, true).await;
            }
        });
    }
    for evaluators in [vec![&three.uri], vec![&one.uri, &two.uri], vec![], vec![&one.uri]] {
        let change = json!({ "evaluators": evaluators, "team_evaluation": 0 });
        let status = owner.patch(&project, change).await.status.as_u16();
        assert!([200, 409].contains(&status), "{status}");
    }
    evaluations.join_all().await;
    app.assert_sound();
    for (evaluators, evaluated) in [(vec![], 0), (vec![&two.uri], 6), (vec![&one.uri, &three.uri], 6)] {
        owner.patch(&project, json!({ "evaluators": evaluators })).await.expect(200);
        assert_eq!(evaluations_of(&project, &owner).await, (evaluated, evaluated == 6, evaluated == 6));
    }
}

#[tokio::test]
async fn the_list_of_projects_shows_the_same_counts_and_flags() {
    let (app, owner, [one, _], project) = given().await;
    let uri = owner.candidate_at(&project, Interviewed).await;
    app.evaluate(&uri, &one.uri, true).await;
    let shown = one.get(&project).await.expect(200).json();
    let listed = one.get("/companies/acme/projects/").await.expect(200).json()["objects"][0].clone();
    for field in ["evaluated_candidates_count", "can_evaluate", "can_see_results", "can_archive"] {
        assert_eq!(listed[field], shown[field], "{field}");
        assert!(![json!(0), json!(false), Value::Null].contains(&shown[field]), "{field}");
    }
}
