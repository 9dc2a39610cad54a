//! Vetos.

use platform_events::Outcome::Ignored;
use serde_json::json;
use tests::caller::Caller;

use crate::events::{evaluated, report};
use crate::scorecards::{given, own, result_of, save, veto};

#[tokio::test]
async fn a_veto_completes_the_evaluation_and_others_stay_blind() {
    let given = given().await;
    let (owner, [one, two]) = (&given.owner, &given.evaluators);
    let candidate = given.interviewed().await;
    let created = veto(one, &candidate).await.expect(201);
    let read = one.get(&created.uri("resource_uri")).await.expect(200);
    assert_eq!(created.header("etag"), read.header("etag"));
    let expected = json!({
        "resource_uri": created.uri("resource_uri"), "comment": "The certificates are forged.",
        "candidate": candidate, "evaluator": one.uri,
    });
    assert_eq!(
        (created.json(), created.header("location")),
        (expected.clone(), expected["resource_uri"].as_str())
    );
    veto(one, &candidate).await.expect_code(400, "already_vetoed");
    assert_eq!(owner.get(&candidate).await.expect(200).json()["evaluation_status"], "completed");
    let shown = two.get(&candidate).await.expect(200).json();
    assert_eq!(
        (&shown["evaluation_status"], &shown["my_evaluation_status"]),
        (&json!("completed"), &json!("pending"))
    );
    let project = owner.get(&given.project).await.expect(200).json();
    assert_eq!((&project["evaluated_candidates_count"], &project["can_archive"]), (&json!(1), &json!(true)));

    let lists = [format!("{candidate}vetos/"), format!("{}vetos/", given.project)];
    for list in &lists {
        for caller in [owner, one, &given.reviewer] {
            let list = caller.get(list).await.expect(200).json();
            assert_eq!((&list["meta"]["total_count"], &list["objects"]), (&json!(1), &json!([expected])));
        }
        let hidden = two.get(list).await.expect(200).json();
        assert_eq!((&hidden["meta"]["total_count"], &hidden["objects"]), (&json!(0), &json!([])));
    }
    owner.get(&created.uri("resource_uri")).await.expect_json(200, expected.clone());
    two.get(&created.uri("resource_uri")).await.expect_code(403, "evaluate_first");
    two.get(&result_of(&given.project, &candidate)).await.expect_code(403, "evaluate_first");

    // The author's evaluation is completed, can get ratings, and cannot be taken back, not by an event either.
    let evaluation = one.get(&own(one, &candidate)).await.expect(200).json();
    assert_eq!((&evaluation["completed"], &evaluation["ratings"]), (&json!(true), &json!([])));
    save(one, &candidate, json!({})).await.expect_code(400, "vetoed");
    one.delete(&own(one, &candidate)).await.expect_code(400, "vetoed");
    given.rate(one, &candidate, 1.0, 2.0).await.expect(200);
    let taken_back = evaluated(&candidate, one, false, &given.app.clock().in_days(1));
    assert_eq!(report(&given.app, taken_back).await, Ignored);
    let result = owner.get(&result_of(&given.project, &candidate)).await.expect(200).json();
    assert_eq!((&result["overall_rating"], &result["vetos"]), (&json!(1.5), &json!([expected])));
    given.rate(two, &candidate, 5.0, 5.0).await.expect(201);
    two.get(&created.uri("resource_uri")).await.expect_json(200, expected.clone());

    // A former evaluator no longer counts.
    owner.patch(&given.project, json!({ "evaluators": [two.uri] })).await.expect(200);
    let result = owner.get(&result_of(&given.project, &candidate)).await.expect(200).json();
    assert_eq!((&result["overall_rating"], &result["vetos"]), (&json!(5), &json!([])));
    owner.patch(&given.project, json!({ "evaluators": [], "veto_enabled": false })).await.expect(200);
    owner.get(&result_of(&given.project, &candidate)).await.expect_code(404, "not_found");
    assert_eq!(given.results(owner, "").await["meta"]["total_count"], 0);
    assert_eq!(owner.get(&candidate).await.expect(200).json()["evaluation_status"], "pending");
}
