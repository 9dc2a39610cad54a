//! What is not cancelled, and why.

use serde_json::{Value, json};
use tests::assert_refusals;
use tests::caller::Caller;
use tests::http::{Request, send_each};

use super::CancellationFixture;

#[tokio::test]
async fn the_body_is_checked_before_the_candidate() {
    let given = CancellationFixture::start().await;
    let CancellationFixture { app, owner, candidate, .. } = &given;
    app.complete(&candidate.uri).await;
    let before = app.table().snapshot().await;
    let request = |body: Value| Request::post(&format!("{}cancel/", candidate.uri)).json(&body);
    let bodies = [
        json!({}),
        json!({ "reason": " \n", "notify": "yes" }),
        json!({ "reason": null, "notify": null }),
        json!({ "reason": 7, "notify": 1 }),
        json!({ "reason": "x".repeat(201) }),
        json!({ "reason": "Filled", "notfy": true, "deadline": "soon" }),
        json!({ "reason": "x".repeat(200), "notify": false }),
    ];
    assert_refusals!(send_each(bodies, |body| owner.send(request(body))).await, @r#"
    400 {"reason":["This field is required."]}
    400 {"notify":["Must be a valid boolean."],"reason":["This field may not be blank."]}
    400 {"notify":["This field may not be null."],"reason":["This field may not be null."]}
    400 {"notify":["Must be a valid boolean."],"reason":["Not a valid string."]}
    400 {"reason":["Ensure this field has no more than 200 characters."]}
    400 {"notfy":["There is no such field. Did you mean notify?"]}
    400 {"code":"already_interviewed","detail":"The candidate has completed the interview."}
    "#);
    assert_eq!(app.table().snapshot().await, before);
}
