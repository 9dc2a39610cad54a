//! Evaluations that platform events report, beside those that are saved through the API.

use serde_json::{Value, json};
use shared::event::RecordOutcome::{Applied, Ignored};
use tests::caller::Caller;
use tests::http::Request;

use super::crud::{given, own, result_of, save};
use crate::system::platform_events::{evaluated, report};

#[tokio::test]
async fn of_an_event_and_what_is_saved_the_later_counts() {
    let given = given().await;
    let [one, _] = &given.evaluators;
    let status =
        async |candidate: &str| one.get(candidate).await.expect(200).json()["my_evaluation_status"].clone();
    let now = || given.app.clock().in_days(0);
    let (past, future) = (given.app.clock().in_days(-1), given.app.clock().in_days(1));

    // An event that is older than a draft comes late.
    let candidate = given.interviewed().await;
    save(one, &candidate, json!({ "comment": "Draft" })).await.expect(201);
    assert_eq!(report(&given.app, evaluated(&candidate, one, true, &past)).await, Ignored);
    assert_eq!(status(&candidate).await, "pending");
    // One of the same second, or later, counts, and shows the draft. What was read before is stale.
    let tag = one.get(&own(one, &candidate)).await.expect(200).header("etag").unwrap().to_owned();
    assert_eq!(report(&given.app, evaluated(&candidate, one, true, &now())).await, Applied);
    assert_eq!(status(&candidate).await, "completed");
    let stale = Request::put(&own(one, &candidate)).json(&json!({})).header("if-match", &tag);
    one.send(stale).await.expect_code(412, "precondition_failed");
    assert_eq!(given.owner.get(&own(one, &candidate)).await.expect(200).json()["comment"], "Draft");

    // A save is later than an event with a date in the future, and an event of tomorrow later than the save.
    assert_eq!(report(&given.app, evaluated(&candidate, one, true, &future)).await, Applied);
    save(one, &candidate, json!({ "comment": "Draft" })).await.expect(200);
    assert_eq!(status(&candidate).await, "pending");
    assert_eq!(report(&given.app, evaluated(&candidate, one, true, &now())).await, Applied);
    assert_eq!(status(&candidate).await, "completed");

    // An event completes an evaluation without ratings.
    let bare = given.interviewed().await;
    given.app.evaluate(&bare, &one.uri, true).await;
    let shown = one.get(&own(one, &bare)).await.expect(200).json();
    assert_eq!((&shown["completed"], &shown["ratings"]), (&json!(true), &json!([])));
    let result = given.owner.get(&result_of(&given.project, &bare)).await.expect(200).json();
    assert_eq!(
        (&result["overall_rating"], result["evaluations"].as_array().unwrap().len()),
        (&Value::Null, 1)
    );
    one.delete(&own(one, &bare)).await.expect(204);
    assert_eq!(status(&bare).await, "pending");
}
