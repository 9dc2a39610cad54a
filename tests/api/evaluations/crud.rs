//! Evaluations through the API: drafts, blind reading, and what is refused.

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus::{Confirmed, Interviewed};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::http::{Request, Response, send_each};
use tests::{assert_refusal, assert_refusals};

pub(crate) struct EvaluationFixture {
    pub(crate) app: TestApp,
    pub(crate) owner: Staff,
    pub(crate) evaluators: [Staff; 2],
    pub(crate) reviewer: Staff,
    pub(crate) project: String,
    pub(crate) question: String,
    pub(crate) criterion: String,
}

pub(crate) async fn given() -> EvaluationFixture {
    given_in(TestApp::start().await).await
}

pub(crate) async fn given_in(app: TestApp) -> EvaluationFixture {
    let owner = app.owner().await;
    let hire = async || app.staff("hiring-manager").await;
    let (evaluators, reviewer) = ([hire().await, hire().await], hire().await);
    let fields = json!({
        "allow_hash_login": true, "veto_enabled": true,
        "evaluators": [evaluators[0].uri, evaluators[1].uri], "reviewers": [reviewer.uri],
    });
    let project = owner.running_project(fields).await;
    let [question, criterion] =
        [("questions", json!({ "text": "Why us?" })), ("criteria", json!({ "name": "Listening" }))];
    let make = async |(list, fields): (&str, Value)| {
        owner.post(&format!("{project}{list}/"), fields).await.expect(201).uri("resource_uri")
    };
    let (question, criterion) = (make(question).await, make(criterion).await);
    EvaluationFixture { app, owner, evaluators, reviewer, project, question, criterion }
}

impl EvaluationFixture {
    pub(crate) async fn interviewed(&self) -> String {
        self.owner.candidate_at(&self.project, Interviewed).await
    }

    /// Ratings of the question and of the criterion.
    pub(crate) fn ratings(&self, question: f64, criterion: f64) -> Value {
        json!([
            { "question": self.question, "value": question, "comment": "Clear." },
            { "criterion": self.criterion, "value": criterion },
        ])
    }

    /// Completes an evaluation with these ratings.
    pub(crate) async fn rate(&self, by: &Staff, candidate: &str, question: f64, criterion: f64) -> Response {
        let body = json!({ "ratings": self.ratings(question, criterion), "completed": true });
        save(by, candidate, body).await
    }

    pub(crate) async fn results(&self, by: &impl Caller, query: &str) -> Value {
        by.get(&format!("{}results/{query}", self.project)).await.expect(200).json()
    }
}

pub(crate) fn own(by: &Staff, candidate: &str) -> String {
    format!("{candidate}evaluations/{}/", by.id())
}

pub(crate) async fn save(by: &Staff, candidate: &str, body: Value) -> Response {
    by.send(Request::put(&own(by, candidate)).json(&body)).await
}

pub(crate) async fn veto(by: &Staff, candidate: &str) -> Response {
    by.post(&format!("{candidate}vetos/"), json!({ "comment": "The certificates are forged." })).await
}

pub(crate) fn result_of(project: &str, candidate: &str) -> String {
    format!("{project}results/{}/", last_segment(candidate))
}

/// The page that shows the candidate to staff.
fn page_of(project: &str, candidate: &str) -> String {
    format!("https://hr.example/result/acme/{}/{}/", last_segment(project), last_segment(candidate))
}

#[tokio::test]
async fn two_evaluators_rate_blindly_and_the_results_follow() {
    let given = given().await;
    let (owner, [one, two]) = (&given.owner, &given.evaluators);
    let candidate = given.interviewed().await;

    // A draft is seen by its author alone and counts for nothing.
    let draft = json!({ "ratings": given.ratings(4.0, 3.5), "comment": "Later more." });
    let saved = save(one, &candidate, draft).await.expect(201);
    assert_eq!(saved.header("location"), Some(own(one, &candidate).as_str()));
    let mut expected = json!({
        "id": last_segment(&own(one, &candidate)),
        "resource_uri": own(one, &candidate), "candidate": candidate, "evaluator": one.uri,
        "ratings": [
            { "question": given.question, "criterion": null, "value": 4, "comment": "Clear." },
            { "question": null, "criterion": given.criterion, "value": 3.5, "comment": "" },
        ],
        "maximum_score": 5, "recommendation": null, "comment": "Later more.",
        "completed": false, "completed_at": null, "first": null, "changed_at": null,
    });
    assert_eq!(saved.json(), expected);
    one.get(&own(one, &candidate)).await.expect_json(200, expected.clone());
    for caller in [owner, &given.reviewer] {
        caller.get(&own(one, &candidate)).await.expect_code(404, "not_found");
        let list = caller.get(&format!("{candidate}evaluations/")).await.expect(200).json();
        assert_eq!(list["meta"]["total_count"], 0);
    }
    assert_eq!(given.results(owner, "").await["meta"]["total_count"], 0);
    assert_refusal!(owner.get(&result_of(&given.project, &candidate)).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);

    // Completed, others see it; not who has yet to evaluate.
    let body = json!({ "ratings": given.ratings(4.0, 3.5), "comment": "Good.", "recommendation": "yes", "completed": true });
    let completed = save(one, &candidate, body).await.expect(200).json();
    expected["comment"] = "Good.".into();
    expected["recommendation"] = "yes".into();
    expected["completed"] = true.into();
    expected["completed_at"] = completed["completed_at"].clone();
    assert!(completed["completed_at"].is_string());
    expected["first"] = json!({
        "completed_at": completed["completed_at"], "recommendation": "yes",
        "ratings": [
            { "question": given.question, "criterion": null, "value": 4 },
            { "question": null, "criterion": given.criterion, "value": 3.5 },
        ],
        "blind": true, "by_token": false,
    });
    for caller in [owner, one, &given.reviewer] {
        caller.get(&own(one, &candidate)).await.expect_json(200, expected.clone());
        let list = caller.get(&format!("{candidate}evaluations/")).await.expect(200).json();
        assert_eq!(list["objects"], json!([expected]));
    }
    assert_refusal!(two.get(&own(one, &candidate)).await, @r#"403 {"code":"evaluate_first","detail":"Complete your own evaluation of this candidate first."}"#);
    assert_refusal!(two.get(&result_of(&given.project, &candidate)).await, @r#"403 {"code":"evaluate_first","detail":"Complete your own evaluation of this candidate first."}"#);
    let list = two.get(&format!("{candidate}evaluations/")).await.expect(200).json();
    assert_eq!((&list["objects"], &list["meta"]["total_count"]), (&json!([]), &json!(0)));
    let hidden = given.results(two, "").await;
    assert_eq!(hidden["meta"]["total_count"], 1);
    assert_eq!(hidden["objects"][0]["interview_suite_url"], page_of(&given.project, &candidate));
    for field in ["overall_rating", "question_results", "criteria_results", "ratings", "evaluations", "vetos"]
    {
        assert_eq!(hidden["objects"][0][field], Value::Null, "{field}");
    }

    given.rate(two, &candidate, 5.0, 4.5).await.expect(201);
    let mut result = json!({
        "id": last_segment(&result_of(&given.project, &candidate)),
        "resource_uri": result_of(&given.project, &candidate), "candidate": candidate,
        "interview_suite_url": page_of(&given.project, &candidate),
        "overall_rating": 4.25, "maximum_score": 5,
        "question_results": [{ "question": given.question, "question_text": "Why us?", "average_rating": 4.5 }],
        "criteria_results": [{ "criterion": given.criterion, "average_rating": 4 }],
        "vetos": [],
    });
    let shown = owner.get(&result_of(&given.project, &candidate)).await.expect(200).json();
    assert_eq!(
        (shown["ratings"].as_array().unwrap().len(), shown["evaluations"].as_array().unwrap().len()),
        (4, 2)
    );
    assert_eq!(shown["evaluations"][0]["recommendation"], "yes");
    assert_eq!(shown["ratings"][0]["evaluator"], one.uri);
    for field in ["ratings", "evaluations"] {
        result[field] = shown[field].clone();
    }
    for caller in [owner, one, two, &given.reviewer] {
        caller.get(&result_of(&given.project, &candidate)).await.expect_json(200, result.clone());
        assert_eq!(given.results(caller, "").await["objects"], json!([result]));
    }
    let project = owner.get(&given.project).await.expect(200).json();
    assert_eq!((&project["evaluated_candidates_count"], &project["can_archive"]), (&json!(1), &json!(true)));

    // Taken back, it counts no more and leaves a draft to nobody.
    one.delete(&own(one, &candidate)).await.expect(204);
    one.get(&own(one, &candidate)).await.expect_code(404, "not_found");
    one.delete(&own(one, &candidate)).await.expect_code(404, "not_found");
    assert_eq!(given.results(owner, "").await["objects"][0]["overall_rating"], 4.75);
    assert_eq!(owner.get(&candidate).await.expect(200).json()["evaluation_status"], "partial");
}

#[tokio::test]
async fn wrong_evaluations_and_vetoes_are_refused_and_change_nothing() {
    let given = given().await;
    let (owner, [one, two]) = (&given.owner, &given.evaluators);
    let candidate = given.interviewed().await;
    let unfinished = owner.candidate_at(&given.project, Confirmed).await;
    let other = owner.running_project(json!({ "evaluators": [one.uri], "allow_hash_login": true })).await;
    let foreign = owner.post(&format!("{other}questions/"), json!({ "text": "x" })).await.expect(201);
    let foreign = foreign.uri("resource_uri");
    let elsewhere = owner.candidate_at(&other, Interviewed).await;
    given.app.evaluate(&elsewhere, &owner.uri, true).await;
    let (_, token) = owner.named_token("Tracking").await;
    let stranger = given.app.owner_of("globex").await;
    let before = given.app.table().snapshot().await;
    let rating = |value: Value| json!({ "question": given.question, "value": value });
    let bodies = [
        json!({ "ratings": [{ "question": foreign, "value": 1 }] }),
        json!({ "ratings": [{ "question": given.criterion, "value": 1 }] }),
        json!({ "ratings": [{ "value": 1 }] }),
        json!({ "ratings": [{ "question": given.question }] }),
        json!({ "ratings": [{ "question": given.question, "criterion": given.criterion, "value": 1 }] }),
        json!({ "ratings": [rating(json!(1)), rating(json!(2))] }),
        json!({ "ratings": [rating(json!(5.1))] }),
        json!({ "ratings": [rating(json!(-1))] }),
        json!({ "ratings": [rating(json!(3.25))] }),
        json!({ "ratings": [rating(json!("4"))] }),
        json!({ "ratings": [{ "question": given.question, "value": 1, "comment": "x".repeat(501) }] }),
        json!({ "ratings": vec![rating(json!(1)); 51] }),
        json!({ "recommendation": "maybe", "comment": "x".repeat(2001), "completed": 1 }),
    ];
    assert_refusals!(send_each(bodies, |body| save(one, &candidate, body)).await, @r#"
        400 {"ratings":["\"https://hr.example/api/v3/companies/acme/projects/[id]/questions/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/projects/[id]/questions/."]}
        400 {"ratings":["\"https://hr.example/api/v3/companies/acme/projects/[id]/criteria/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/projects/[id]/questions/."]}
        2 x 400 {"ratings":["Expected objects with either question or criterion."]}
        400 {"ratings":["Expected objects with value."]}
        400 {"ratings":["Each question and criterion may be rated only once."]}
        2 x 400 {"ratings":["Ensure each value is from 0 to 5."]}
        400 {"ratings":["Ensure that values have at most one decimal."]}
        400 {"ratings":["A valid number is required."]}
        400 {"ratings":["Ensure this field has no more than 500 characters."]}
        400 {"ratings":["Ensure this list has no more than 50 items."]}
        400 {
          "comment":["Ensure this field has no more than 2000 characters."],
          "completed":["Must be a valid boolean."],
          "recommendation":["\"maybe\" is not a valid choice. Use one of: definitely_no, no, yes, strong_yes."]
        }
        "#);
    assert_refusal!(save(one, &candidate, json!({ "completed": true })).await, @r#"400 {"code":"nothing_rated","detail":"Rate at least one question or criterion before you complete the evaluation."}"#);
    assert_refusal!(given.rate(one, &unfinished, 1.0, 1.0).await, @r#"400 {"code":"not_interviewed","detail":"The candidate has not completed the interview. Until then, save the evaluation as a draft."}"#);
    assert_refusal!(veto(one, &unfinished).await, @r#"400 {"code":"not_interviewed","detail":"The candidate has not completed the interview. Until then, save the evaluation as a draft."}"#);
    assert_refusal!(veto(one, &elsewhere).await, @r#"400 {"code":"veto_disabled","detail":"The project allows no vetoes. Set its `veto_enabled` first."}"#);
    let comments = ["Fourteen chars", &"x".repeat(601), "  "];
    let vetoes = format!("{candidate}vetos/");
    assert_refusals!(send_each(comments, |text| one.post(&vetoes, json!({ "comment": text }))).await, @r#"
        400 {"comment":["Ensure this field has at least 15 characters."]}
        400 {"comment":["Ensure this field has no more than 600 characters."]}
        400 {"comment":["This field may not be blank."]}
        "#);
    // Only evaluators write, and only their own.
    for caller in [owner, &given.reviewer] {
        save(caller, &candidate, json!({})).await.expect_code(403, "permission_denied");
        veto(caller, &candidate).await.expect_code(403, "permission_denied");
    }
    let for_two = Request::put(&own(two, &candidate)).json(&json!({}));
    assert_refusal!(one.send(for_two).await, @r#"
        403 {
          "code":"permission_denied",
          "detail":"You do not have the permission `evaluate` here.",
          "permission":"evaluate"
        }
    "#);
    one.delete(&own(two, &candidate)).await.expect_code(403, "permission_denied");
    two.delete(&own(two, &candidate)).await.expect_code(404, "not_found");
    two.get(&own(two, &candidate)).await.expect_code(404, "not_found");
    let for_owner = Request::put(&own(owner, &candidate)).json(&json!({}));
    assert_refusal!(token.send(for_owner).await, @r#"400 {"code":"not_evaluator","detail":"This customer is not an evaluator of the project."}"#);
    assert_refusal!(token.delete(&own(owner, &elsewhere)).await, @r#"400 {"code":"not_evaluator","detail":"This customer is not an evaluator of the project."}"#);
    token.post(&format!("{candidate}vetos/"), json!({})).await.expect_code(403, "permission_denied");
    stranger.get(&format!("{candidate}evaluations/")).await.expect_code(404, "not_found");
    assert_refusal!(owner.get(&format!("{}results/?ordering=name", given.project)).await, @r#"400 {"ordering":["\"name\" is not a valid choice. Use one of: overall_rating, -overall_rating."]}"#);
    assert_eq!(given.app.table().snapshot().await, before);
    assert_eq!(stranger.get(&format!("{}results/", given.project)).await.status, 404);
}

#[tokio::test]
async fn a_named_token_writes_for_an_evaluator() {
    let given = given().await;
    let (_, token) = given.owner.named_token("Tracking").await;
    let candidate = given.interviewed().await;
    let target = own(&given.evaluators[0], &candidate);
    let draft = Request::put(&target).json(&json!({ "comment": "Draft" }));
    token.send(draft).await.expect(201);
    assert_eq!(token.get(&target).await.expect(200).json()["comment"], "Draft");
    let list = token.get(&format!("{candidate}evaluations/")).await.expect(200).json();
    assert_eq!(list["objects"], json!([]));
    given.owner.get(&target).await.expect_code(404, "not_found");
    let body = json!({ "ratings": given.ratings(3.0, 3.0), "completed": true });
    token.send(Request::put(&target).json(&body)).await.expect(200);
    assert_eq!(given.owner.get(&target).await.expect(200).json()["evaluator"], given.evaluators[0].uri);
    token.delete(&target).await.expect(204);
}

#[tokio::test]
async fn of_two_saves_of_one_draft_with_if_match_one_is_refused() {
    let given = given().await;
    let [one, two] = &given.evaluators;
    let candidate = given.interviewed().await;
    save(one, &candidate, json!({ "comment": "First" })).await.expect(201);
    let tag = one.get(&own(one, &candidate)).await.expect(200).header("etag").unwrap().to_owned();
    let put = |text: &str| {
        Request::put(&own(one, &candidate)).json(&json!({ "comment": text })).header("if-match", &tag)
    };
    // Changes by others do not count.
    let candidates_tag = given.owner.get(&candidate).await.expect(200).header("etag").unwrap().to_owned();
    save(two, &candidate, json!({})).await.expect(201);
    let (left, right) = tokio::join!(one.send(put("Left")), one.send(put("Right")));
    let mut statuses = [left.status.as_u16(), right.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);
    // Drafts do not change the candidate for others.
    let change =
        Request::patch(&candidate).json(&json!({ "phone": "1" })).header("if-match", &candidates_tag);
    given.owner.send(change).await.expect(200);
    // The tag of an answer is that of the next read, also when nothing changes, after a deletion, and a veto.
    let mut tags = Vec::new();
    for _ in 0..2 {
        let saved = save(one, &candidate, json!({ "comment": "Same" })).await.expect(200);
        let read = one.get(&own(one, &candidate)).await.expect(200);
        assert_eq!(saved.header("etag"), read.header("etag"));
        tags.push(read.header("etag").unwrap().to_owned());
    }
    assert_eq!(tags[0], tags[1], "nothing has changed");
    one.delete(&own(one, &candidate)).await.expect(204);
    let again = save(one, &candidate, json!({ "comment": "Again" })).await.expect(201);
    let read = one.get(&own(one, &candidate)).await.expect(200);
    assert_eq!(again.header("etag"), read.header("etag"));
    // Also of what an event has completed before.
    let bare = given.interviewed().await;
    given.app.evaluate(&bare, &one.uri, true).await;
    let saved = given.rate(one, &bare, 1.0, 1.0).await.expect(200);
    let read = one.get(&own(one, &bare)).await.expect(200);
    assert_eq!(saved.header("etag"), read.header("etag"));
    one.send(put("Old")).await.expect_code(412, "precondition_failed");
    veto(one, &candidate).await.expect(201);
    let stale = Request::delete(&own(one, &candidate)).header("if-match", again.header("etag").unwrap());
    one.send(stale).await.expect_code(412, "precondition_failed");
}

#[tokio::test]
async fn a_deleted_candidate_leaves_nothing_that_was_written_about_them() {
    let given = given().await;
    let [one, two] = &given.evaluators;
    let [candidate, other] = [given.interviewed().await, given.interviewed().await];
    for candidate in [&candidate, &other] {
        given.rate(one, candidate, 1.0, 1.0).await.expect(201);
        save(two, candidate, json!({ "comment": "Draft" })).await.expect(201);
        veto(one, candidate).await.expect(201);
    }
    given.owner.delete(&candidate).await.expect(204);
    given.app.settle().await;
    let id = last_segment(&candidate);
    let items = given.app.table().snapshot().await;
    let left: Vec<_> = items.keys().filter(|(_, sk)| sk.contains(id)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(items.keys().filter(|(_, sk)| sk.starts_with(last_segment(&other))).count(), 2);
    assert_eq!(given.results(&given.owner, "").await["meta"]["total_count"], 1);
    let vetos = given.owner.get(&format!("{}vetos/", given.project)).await.expect(200).json();
    assert_eq!(vetos["meta"]["total_count"], 1);
}

#[tokio::test]
async fn reads_are_one_round_trip_and_changes_two() {
    let given = given().await;
    let (owner, [one, two]) = (&given.owner, &given.evaluators);
    let candidate = given.interviewed().await;
    let calls = |response: Response| response.log().dynamodb_calls;
    let draft = json!({ "ratings": given.ratings(4.0, 3.5) });
    assert_eq!(calls(save(one, &candidate, draft).await.expect(201)), 2);
    assert_eq!(calls(given.rate(one, &candidate, 4.0, 3.5).await.expect(200)), 2);
    assert_eq!(calls(veto(two, &candidate).await.expect(201)), 2);
    assert_eq!(calls(one.get(&own(one, &candidate)).await.expect(200)), 1);
    // In parallel with the caller, what was written about the candidate.
    let veto = owner.get(&format!("{candidate}vetos/")).await.expect(200).json()["objects"][0].clone();
    for target in [
        &format!("{candidate}evaluations/"),
        &format!("{candidate}vetos/"),
        veto["resource_uri"].as_str().unwrap(),
        &result_of(&given.project, &candidate),
    ] {
        assert_eq!(calls(owner.get(target).await.expect(200)), 2, "{target}");
    }
    for target in ["results/", "results/?ordering=overall_rating", "vetos/"] {
        let target = format!("{}{target}", given.project);
        assert_eq!(calls(owner.get(&target).await.expect(200)), 3, "{target}");
    }
    assert_eq!(calls(one.delete(&own(one, &candidate)).await.expect(204)), 2);
}
