//! The first completed version of an evaluation, which later changes leave as it is.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::caller::{Caller, last_segment};
use tests::http::Request;

use crate::evaluations::crud::{EvaluationFixture, given, own, save, veto};
use crate::interviews::reopening::reopening;

/// The evaluation as its author sees it.
async fn seen(by: &impl Caller, target: &str) -> Value {
    by.get(target).await.expect(200).json()
}

/// What is first, without its moment and its ratings.
fn marks(evaluation: &Value) -> [Value; 2] {
    [evaluation["first"]["blind"].clone(), evaluation["first"]["by_token"].clone()]
}

#[tokio::test]
async fn what_was_completed_first_stays_whatever_its_author_writes_later() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, two], question, criterion, .. } = &given;
    let candidate = given.interviewed().await;
    let target = own(one, &candidate);
    let draft = json!({ "ratings": given.ratings(1.0, 1.0), "recommendation": "no" });
    let draft = save(one, &candidate, draft).await.expect(201).json();
    assert_eq!((&draft["first"], &draft["changed_at"]), (&Value::Null, &Value::Null));
    let body = json!({ "ratings": given.ratings(4.0, 3.5), "recommendation": "yes", "comment": "Good.", "completed": true });
    let completed = save(one, &candidate, body.clone()).await.expect(200).json();
    let first = json!({
        "completed_at": completed["completed_at"], "recommendation": "yes",
        "ratings": [
            { "question": question, "criterion": null, "value": 4 },
            { "question": null, "criterion": criterion, "value": 3.5 },
        ],
        "blind": true, "by_token": false,
    });
    assert_eq!((&completed["first"], &completed["changed_at"]), (&first, &Value::Null));
    // The same once more is no change.
    app.clock().advance(TimeDelta::seconds(10));
    assert_eq!(save(one, &candidate, body.clone()).await.expect(200).json(), completed);

    given.rate(two, &candidate, 1.0, 1.0).await.expect(201);
    app.clock().advance(TimeDelta::seconds(10));
    let copied = json!({ "ratings": given.ratings(1.0, 1.0), "recommendation": "no", "completed": true });
    let changed = save(one, &candidate, copied.clone()).await.expect(200).json();
    assert_eq!((&changed["first"], &changed["changed_at"]), (&first, &json!("2026-11-08T10:00:20Z")));
    for reader in [owner, two, &given.reviewer] {
        let list = seen(reader, &format!("{candidate}evaluations/")).await;
        let shown =
            list["objects"].as_array().unwrap().iter().find(|one| one["resource_uri"] == target.as_str());
        assert_eq!(shown.unwrap()["first"], first);
    }
    // A draft that was completed before shows it to its author, and nobody sees the draft.
    app.clock().advance(TimeDelta::seconds(10));
    let draft = save(one, &candidate, json!({ "comment": "Once more." })).await.expect(200).json();
    assert_eq!((&draft["first"], &draft["changed_at"]), (&first, &json!("2026-11-08T10:00:30Z")));
    owner.get(&target).await.expect_code(404, "not_found");
    // A client can send back the evaluation that it read, on another scale too.
    owner.patch(&given.project, json!({ "maximum_score": 10 })).await.expect(200);
    let read = seen(one, &target).await;
    assert_eq!(read["first"]["ratings"][1]["value"], 7);
    let again = one.send(Request::put(&target).json(&read)).await.expect(200).json();
    assert_eq!(again["first"], read["first"]);
    owner.patch(&given.project, json!({ "maximum_score": 5 })).await.expect(200);

    // A deletion keeps it, for nobody to see until its author evaluates again.
    one.delete(&target).await.expect(204);
    one.get(&target).await.expect_code(404, "not_found");
    one.delete(&target).await.expect_code(404, "not_found");
    let conditional = Request::put(&target).json(&copied).header("if-match", "*");
    one.send(conditional).await.expect_code(412, "precondition_failed");
    assert_eq!(seen(owner, &format!("{candidate}evaluations/")).await["meta"]["total_count"], 1);
    let data = owner.get(&format!("{candidate}data/")).await.expect(200).json();
    let kept = &data["first_judgements"];
    assert_eq!(
        kept.as_array().unwrap().len(),
        2,
        "staff still find it in all that is stored about the candidate"
    );
    app.clock().advance(TimeDelta::seconds(10));
    let again = save(one, &candidate, copied).await.expect(201).json();
    assert_eq!((&again["first"], &again["changed_at"]), (&first, &json!("2026-11-08T10:00:40Z")));
}

#[tokio::test]
async fn the_first_version_tells_whether_others_could_be_read() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, two], project, .. } = &given;
    // An evaluator without another role is blind until then, whatever others have said.
    let candidate = given.interviewed().await;
    given.rate(two, &candidate, 1.0, 1.0).await.expect(201);
    let mine = given.rate(one, &candidate, 2.0, 2.0).await.expect(201).json();
    assert_eq!(marks(&mine), [json!(true), json!(false)]);

    // A veto or an event shows them what others say, and makes no first version.
    for by_veto in [true, false] {
        let candidate = given.interviewed().await;
        if by_veto {
            veto(one, &candidate).await.expect(201);
        } else {
            app.evaluate(&candidate, &one.uri, true).await;
        }
        assert_eq!(seen(one, &own(one, &candidate)).await["first"], Value::Null);
        let alone = given.rate(one, &candidate, 2.0, 2.0).await.expect(200).json();
        assert_eq!(marks(&alone), [json!(true), json!(false)], "there was nothing to read");

        let candidate = given.interviewed().await;
        given.rate(two, &candidate, 1.0, 1.0).await.expect(201);
        if by_veto {
            veto(one, &candidate).await.expect(201);
        } else {
            app.evaluate(&candidate, &one.uri, true).await;
        }
        let reader = given.rate(one, &candidate, 2.0, 2.0).await.expect(200).json();
        assert_eq!(marks(&reader), [json!(false), json!(false)]);
    }

    // Owners and managers count as readers, but not where nothing was said.
    let manager = app.staff("hiring-manager").await;
    let roles = json!({ "evaluators": [one.uri, two.uri, owner.uri, manager.uri], "interview_managers": [manager.uri] });
    owner.patch(project, roles).await.expect(200);
    for judge in [owner, &manager] {
        let candidate = given.interviewed().await;
        let alone = given.rate(judge, &candidate, 2.0, 2.0).await.expect(201).json();
        assert_eq!(marks(&alone), [json!(true), json!(false)]);
        let candidate = given.interviewed().await;
        given.rate(two, &candidate, 1.0, 1.0).await.expect(201);
        let reader = given.rate(judge, &candidate, 2.0, 2.0).await.expect(201).json();
        assert_eq!(marks(&reader), [json!(false), json!(false)]);
    }
    // So do those for whom a named token writes, which knows what they may read.
    let (_, token) = owner.named_token("Tracking").await;
    for (judge, is_blind) in [(one, true), (&manager, false)] {
        let candidate = given.interviewed().await;
        given.rate(two, &candidate, 1.0, 1.0).await.expect(201);
        let body = json!({ "ratings": given.ratings(3.0, 3.0), "completed": true });
        let written = token.send(Request::put(&own(judge, &candidate)).json(&body)).await.expect(201).json();
        assert_eq!(marks(&written), [json!(is_blind), json!(true)]);
    }
}

#[tokio::test]
async fn whoever_acts_on_behalf_of_an_evaluator_is_not_blind() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, two], project, .. } = &given;
    app.table().set_customer(&owner.uri, "authenticate_on_behalf", AttributeValue::Bool(true)).await;
    let login = json!({ "company": "acme", "username": one.username });
    let acting = app.token(&owner.post("/api-token-auth/", login).await.expect(200).uri("token"));
    let body = json!({ "ratings": given.ratings(3.0, 3.0), "completed": true });
    let alone = given.interviewed().await;
    let written = acting.send(Request::put(&own(one, &alone)).json(&body)).await.expect(201).json();
    assert_eq!(marks(&written), [json!(true), json!(false)], "there was nothing to read");
    let candidate = given.interviewed().await;
    given.rate(two, &candidate, 1.0, 1.0).await.expect(201);
    let written = acting.send(Request::put(&own(one, &candidate)).json(&body)).await.expect(201).json();
    assert_eq!(marks(&written), [json!(false), json!(false)]);
    let (_, token) = owner.named_token("Tracking").await;
    let agreement = token.get(&format!("{project}results/agreement/")).await.expect(200).json();
    assert_eq!(agreement["left_out"], json!({ "by_token": 0, "not_blind": 1, "single": 2 }));
    // The author changes nothing about that later.
    let own_words = json!({ "ratings": given.ratings(2.0, 2.0), "completed": true });
    let changed = save(one, &candidate, own_words).await.expect(200).json();
    assert_eq!(marks(&changed), [json!(false), json!(false)]);
}

#[tokio::test]
async fn a_reopened_interview_is_judged_anew() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, _], project, .. } = &given;
    owner.patch(project, json!({ "interview_platform": "builtin" })).await.expect(200);
    let candidate = given.interviewed().await;
    given.rate(one, &candidate, 1.0, 1.0).await.expect(201);
    let request =
        || reopening(&candidate, json!({ "reason": "No sound.", "deadline": app.clock().in_days(9) }));
    owner.send(request()).await.expect_code(400, "already_evaluated");
    one.delete(&own(one, &candidate)).await.expect(204);
    // The part that is left is no evaluation.
    owner.send(request()).await.expect(200);
    app.clock().advance(TimeDelta::hours(1));
    app.complete(&candidate).await;
    let anew = given.rate(one, &candidate, 5.0, 5.0).await.expect(201).json();
    assert_eq!(anew["first"]["ratings"][0]["value"], 5);
    assert_eq!(anew["changed_at"], Value::Null);
}

#[tokio::test]
async fn erasure_leaves_nothing_of_a_first_version_whose_evaluation_is_deleted() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, _], .. } = &given;
    let candidate = given.interviewed().await;
    given.rate(one, &candidate, 1.0, 1.0).await.expect(201);
    one.delete(&own(one, &candidate)).await.expect(204);
    let holds = |items: &std::collections::BTreeMap<tests::table::Key, Value>| {
        items.keys().any(|(_, sk)| sk.starts_with(last_segment(&candidate)))
    };
    assert!(holds(&app.table().snapshot().await));
    owner.delete(&candidate).await.expect(204);
    app.settle().await;
    assert!(!holds(&app.table().snapshot().await));
}
