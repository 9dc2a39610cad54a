//! How far the evaluators of a project agree, over their first judgements that were made blind.

use serde_json::{Value, json};
use tests::assert_refusal;
use tests::caller::{Caller, Staff};
use tests::http::Request;

use crate::evaluations::crud::{EvaluationFixture, given, own, save};

fn address(project: &str) -> String {
    format!("{project}results/agreement/")
}

/// What two evaluators say of ten candidates: the value of the question, that of the criterion, and the recommendation.
const SAID: [[(f64, f64, &str); 2]; 10] = [
    [(1.0, 2.0, "no"), (1.0, 2.0, "no")],
    [(2.0, 2.0, "no"), (2.5, 2.0, "no")],
    [(3.0, 2.0, "yes"), (3.0, 2.0, "yes")],
    [(3.0, 2.0, "yes"), (4.0, 2.0, "strong_yes")],
    [(4.0, 2.0, "yes"), (4.0, 2.0, "yes")],
    [(5.0, 2.0, "strong_yes"), (5.0, 2.0, "strong_yes")],
    [(0.5, 2.0, "definitely_no"), (1.0, 2.0, "no")],
    [(2.0, 2.0, "no"), (2.0, 2.0, "no")],
    [(4.5, 2.0, "strong_yes"), (4.0, 2.0, "yes")],
    [(3.5, 2.0, "yes"), (3.0, 2.0, "no")],
];

async fn say(given: &EvaluationFixture, by: &Staff, candidate: &str, said: (f64, f64, &str)) {
    let body =
        json!({ "ratings": given.ratings(said.0, said.1), "recommendation": said.2, "completed": true });
    save(by, candidate, body).await.expect(201);
}

/// Ten candidates of whom both evaluators have said what `SAID` says.
async fn said(given: &EvaluationFixture) -> Vec<String> {
    let mut candidates = Vec::new();
    for pair in SAID {
        let candidate = given.interviewed().await;
        for (by, said) in given.evaluators.iter().zip(pair) {
            say(given, by, &candidate, said).await;
        }
        candidates.push(candidate);
    }
    candidates
}

#[tokio::test]
async fn agreement_is_alpha_over_first_blind_judgements_whatever_is_copied_later() {
    let given = given().await;
    let EvaluationFixture { owner, evaluators: [one, two], project, question, criterion, .. } = &given;
    let empty = owner.get(&address(project)).await.expect(200).json();
    let none = json!({ "alpha": null, "units": 0, "raters": 0, "values": 0, "reason": "one_rater" });
    assert_eq!((&empty["overall"], &empty["recommendation"], &empty["counted"]), (&none, &none, &json!(0)));
    let candidates = said(&given).await;
    // By the Python package krippendorff.
    let mut asked = json!({ "question": question, "alpha": 0.9469, "units": 10, "raters": 2, "values": 20, "reason": null });
    let expected = json!({
        "questions": [asked.clone()],
        "criteria": [{ "criterion": criterion, "alpha": null, "units": 10, "raters": 2, "values": 20, "reason": "no_variation" }],
        "overall": { "alpha": 0.9469, "units": 10, "raters": 2, "values": 20, "reason": null },
        "recommendation": { "alpha": 0.7794, "units": 10, "raters": 2, "values": 20, "reason": null },
        "counted": 20,
        "left_out": { "not_blind": 0, "by_token": 0, "single": 0 },
    });
    let read = owner.get(&address(project)).await.expect(200);
    assert_eq!(read.json(), expected);
    assert_eq!(
        owner.get(&address(project)).await.expect(200).body,
        read.body,
        "the same bytes for the same data"
    );

    // One copies the other afterwards, which changes nothing.
    for (candidate, [_, (question, criterion, recommendation)]) in candidates.iter().zip(SAID) {
        let copy = json!({ "ratings": given.ratings(question, criterion), "recommendation": recommendation, "completed": true });
        save(one, candidate, copy).await.expect(200);
    }
    assert_eq!(owner.get(&address(project)).await.expect(200).body, read.body);
    // Nor does another scale, or the end of the project.
    owner.patch(project, json!({ "maximum_score": 10 })).await.expect(200);
    assert_eq!(owner.get(&address(project)).await.expect(200).body, read.body);

    // A deleted criterion leaves it; what is deleted counts no more, and again once it is completed again.
    owner.delete(criterion).await.expect(204);
    two.delete(&own(two, &candidates[0])).await.expect(204);
    let less = owner.get(&address(project)).await.expect(200).json();
    asked["alpha"] = Value::Null;
    asked["reason"] = "too_few_units".into();
    asked["units"] = 9.into();
    asked["values"] = 18.into();
    assert_eq!((&less["criteria"], &less["questions"][0]), (&json!([]), &asked));
    assert_eq!((&less["counted"], &less["left_out"]["single"]), (&json!(18), &json!(1)));
    let again = json!({ "ratings": [{ "question": question, "value": 9 }], "completed": true });
    save(two, &candidates[0], again).await.expect(201);
    let back = owner.get(&address(project)).await.expect(200).json();
    assert_eq!((&back["questions"], &back["counted"]), (&expected["questions"], &json!(20)));
    // People who evaluate no more do not count.
    owner.patch(project, json!({ "evaluators": [one.uri] })).await.expect(200);
    let alone = owner.get(&address(project)).await.expect(200).json();
    assert_eq!(
        (&alone["overall"]["reason"], &alone["left_out"]["single"]),
        (&json!("one_rater"), &json!(10))
    );
}

#[tokio::test]
async fn evaluations_are_left_out_for_their_first_reason() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, two], project, .. } = &given;
    let (_, token) = owner.named_token("Tracking").await;
    let candidate = given.interviewed().await;
    given.rate(one, &candidate, 1.0, 1.0).await.expect(201);
    app.evaluate(&candidate, &two.uri, true).await;
    given.rate(two, &candidate, 1.0, 1.0).await.expect(200);
    let candidate = given.interviewed().await;
    given.rate(one, &candidate, 1.0, 1.0).await.expect(201);
    let body = json!({ "ratings": given.ratings(3.0, 3.0), "completed": true });
    token.send(Request::put(&own(two, &candidate)).json(&body)).await.expect(201);
    // Evaluations that only an event has completed have no judgement.
    let candidate = given.interviewed().await;
    app.evaluate(&candidate, &one.uri, true).await;
    let found = token.get(&address(project)).await.expect(200).json();
    assert_eq!(found["counted"], 0);
    assert_eq!(found["left_out"], json!({ "not_blind": 1, "by_token": 1, "single": 2 }));
}

#[tokio::test]
async fn those_who_evaluate_see_agreement_once_they_have_nothing_open() {
    let given = given().await;
    let EvaluationFixture { owner, evaluators: [one, two], reviewer, project, .. } = &given;
    let roles = json!({ "evaluators": [one.uri, two.uri, owner.uri] });
    owner.patch(project, roles).await.expect(200);
    owner.get(&address(project)).await.expect(200);
    let candidate = given.interviewed().await;
    assert_refusal!(owner.get(&address(project)).await, @r#"403 {"code":"evaluate_first","detail":"Complete your own evaluations of the project's candidates first."}"#);
    reviewer.get(&address(project)).await.expect(200);
    given.rate(owner, &candidate, 1.0, 1.0).await.expect(201);
    owner.get(&address(project)).await.expect(200);
    one.get(&address(project)).await.expect_code(403, "permission_denied");
}

#[tokio::test]
async fn agreement_is_one_read_of_the_evaluations_and_refused_beyond_ten_thousand_candidates() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, two], project, .. } = &given;
    for _ in 0..3 {
        let candidate = given.interviewed().await;
        for by in [one, two] {
            given.rate(by, &candidate, 1.0, 1.0).await.expect(201);
        }
    }
    let read = owner.get(&address(project)).await.expect(200);
    assert_eq!(read.log().dynamodb_calls, 3, "the project, evaluations, results");
    app.leave_unsound("a count is written past the service");
    let snapshot = app.table().snapshot().await;
    let (_, shard) = snapshot
        .iter()
        .find(|((_, _), item)| item.get("status:interviewed").is_some_and(Value::is_number))
        .expect("a shard of counts");
    let mut shard = shard.clone();
    shard["status:interviewed"] = json!(10_001);
    app.table().load(&[shard]).await;
    assert_refusal!(owner.get(&address(project)).await, @r#"400 {"code":"too_many_candidates","detail":"Agreement is computed over at most 10,000 interviewed candidates. Compute it from an export of the company."}"#);
}
