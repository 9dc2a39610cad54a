//! Drafts of evaluations that several windows save: none overwrites another, and comments wait for their values.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::{Request, Response, send_each};
use tests::{assert_refusal, assert_refusals};

use crate::evaluations::crud::{given, given_in, own, result_of, save};

async fn create(by: &Staff, candidate: &str, comment: &str) -> Response {
    let body = json!({ "comment": comment });
    by.send(Request::put(&own(by, candidate)).json(&body).header("if-none-match", "*")).await
}

#[tokio::test]
async fn of_two_first_drafts_that_may_only_be_created_one_is_refused() {
    let given = given().await;
    let [one, two] = &given.evaluators;
    let candidate = given.interviewed().await;
    let created = create(one, &candidate, "First").await.expect(201);
    let before = given.app.table().snapshot().await;
    let put = |condition: &str| {
        Request::put(&own(one, &candidate)).json(&json!({})).header("if-none-match", condition)
    };
    let mut refusals = vec![create(one, &candidate, "Second").await];
    for condition in ["\"1-a\"", created.header("etag").unwrap(), "*, \"1-a\"", "", "x"] {
        refusals.push(one.send(put(condition)).await);
    }
    refusals.push(one.send(Request::delete(&own(one, &candidate)).header("if-none-match", "*")).await);
    assert_refusals!(refusals, @r#"
        412 {"code":"precondition_failed","detail":"The resource exists already. Fetch it and change it with `If-Match`."}
        5 x 400 {"code":"invalid_if_none_match","detail":"Send `If-None-Match` as `*`, to create the resource only if there is none. To change it, send `If-Match`."}
        400 {"code":"if_none_match_not_supported","detail":"This operation takes no `If-None-Match`. Send the request without it."}
        "#);
    assert_eq!(given.app.table().snapshot().await, before);
    // Drafts of others do not count, and the tag of the answer is that of the next change.
    create(two, &candidate, "Mine").await.expect(201);
    let next = Request::put(&own(one, &candidate)).json(&json!({ "comment": "Second" }));
    let saved = one.send(next.clone().header("if-match", created.header("etag").unwrap())).await.expect(200);
    let again = one.send(next.header("if-match", saved.header("etag").unwrap())).await.expect(200);
    assert_eq!(again.header("etag"), saved.header("etag"), "nothing has changed");
    // Once it is deleted, it may be created again, and no change applies to the former one.
    one.delete(&own(one, &candidate)).await.expect(204);
    let stale = Request::put(&own(one, &candidate)).json(&json!({ "comment": "Stale" }));
    one.send(stale.header("if-match", saved.header("etag").unwrap()))
        .await
        .expect_code(412, "precondition_failed");
    create(one, &candidate, "Anew").await.expect(201);
    // An evaluation that an event has completed is there.
    let completed = given.interviewed().await;
    given.app.evaluate(&completed, &one.uri, true).await;
    create(one, &completed, "Late").await.expect_code(412, "precondition_failed");
}

#[tokio::test]
async fn a_change_of_an_evaluation_that_does_not_exist_creates_none() {
    let given = given().await;
    let [one, _] = &given.evaluators;
    let candidate = given.interviewed().await;
    let change = |condition: &str| {
        Request::put(&own(one, &candidate)).json(&json!({ "comment": "Mine" })).header("if-match", condition)
    };
    let before = given.app.table().snapshot().await;
    let mut refusals = Vec::new();
    // No evaluation has had the second one.
    for condition in ["*", "\"0-a\"", "\"1-a\""] {
        refusals.push(one.send(change(condition)).await);
    }
    refusals.push(one.send(change("*").header("if-none-match", "*")).await);
    refusals.push(one.send(Request::delete(&own(one, &candidate)).header("if-match", "*")).await);
    assert_refusals!(refusals, @r#"
        3 x 412 {"code":"precondition_failed","detail":"There is no resource for `If-Match`. Create it with `If-None-Match: *`."}
        412 {"code":"precondition_failed","detail":"The resource no longer matches `If-Match`. Fetch it and try again."}
        404 {"code":"not_found","detail":"Not found."}
        "#);
    assert_eq!(given.app.table().snapshot().await, before);
    create(one, &candidate, "Mine").await.expect(201);
    one.send(change("*")).await.expect(200);
    one.delete(&own(one, &candidate)).await.expect(204);
    one.send(change("*")).await.expect_code(412, "precondition_failed");
    one.get(&own(one, &candidate)).await.expect(404);
    // An evaluation that an event has completed is there.
    let completed = given.interviewed().await;
    given.app.evaluate(&completed, &one.uri, true).await;
    let change = Request::put(&own(one, &completed)).json(&json!({ "comment": "Late" }));
    one.send(change.header("if-match", "*")).await.expect(200);
}

#[tokio::test]
async fn a_first_draft_that_another_window_creates_meanwhile_is_not_overwritten() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let given = given_in(app).await;
    let [one, _] = &given.evaluators;
    let candidate = given.interviewed().await;
    let held = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        held.reached().await;
        create(one, &candidate, "First").await.expect(201);
        held.resume();
    };
    let (slow, ()) = tokio::join!(create(one, &candidate, "Slow"), meanwhile);
    slow.expect_code(412, "precondition_failed");
    assert_eq!(one.get(&own(one, &candidate)).await.expect(200).json()["comment"], "First");
    save(one, &candidate, json!({ "comment": "Without a condition" })).await.expect(200);
}

#[tokio::test]
async fn a_comment_without_a_value_is_kept_and_counts_for_nothing() {
    let given = given().await;
    let (owner, [one, two]) = (&given.owner, &given.evaluators);
    let candidate = given.interviewed().await;
    let remark = json!({ "question": given.question, "value": null, "comment": "Listen to it again." });
    let remarks = json!([remark, { "criterion": given.criterion, "value": null, "comment": "Later." }]);
    let shown = |target: &str, value: Value, comment: &str| {
        let [question, criterion] = [&given.question, &given.criterion]
            .map(|uri| if uri == target { json!(uri) } else { Value::Null });
        json!({ "question": question, "criterion": criterion, "value": value, "comment": comment })
    };
    let question = shown(&given.question, Value::Null, "Listen to it again.");
    let draft = save(one, &candidate, json!({ "ratings": remarks })).await.expect(201).json();
    let both = json!([question, shown(&given.criterion, Value::Null, "Later.")]);
    assert_eq!(draft["ratings"], both);
    let read = one.get(&own(one, &candidate)).await.expect(200).json();
    assert_eq!(read["ratings"], both);
    // An evaluation that was read can be sent back, and changes nothing.
    let tag = |response: Response| response.header("etag").unwrap().to_owned();
    let before = tag(one.get(&own(one, &candidate)).await);
    assert_eq!(tag(save(one, &candidate, read).await.expect(200)), before);
    assert_refusal!(save(one, &candidate, json!({ "ratings": remarks, "completed": true })).await, @r#"400 {"code":"nothing_rated","detail":"Rate at least one question or criterion before you complete the evaluation."}"#);
    let before = given.app.table().snapshot().await;
    let bodies = [
        json!({ "ratings": [{ "question": given.question, "value": null }] }),
        json!({ "ratings": [{ "question": given.question, "value": null, "comment": " \n" }] }),
        json!({ "ratings": [{ "question": given.question, "comment": "Later." }] }),
        json!({ "ratings": [{ "value": null, "comment": "Later." }] }),
        json!({ "ratings": [remark, { "question": given.question, "value": 1 }] }),
        json!({ "ratings": [{ "question": given.question, "value": null, "comment": "x".repeat(501) }] }),
        json!({ "ratings": vec![remark.clone(); 51] }),
    ];
    assert_refusals!(send_each(bodies, |body| save(one, &candidate, body)).await, @r#"
        2 x 400 {"ratings":["A rating without a value needs a comment."]}
        400 {"ratings":["Expected objects with value."]}
        400 {"ratings":["Expected objects with either question or criterion."]}
        400 {"ratings":["Each question and criterion may be rated only once."]}
        400 {"ratings":["Ensure this field has no more than 500 characters."]}
        400 {"ratings":["Ensure this list has no more than 50 items."]}
        "#);
    assert_eq!(given.app.table().snapshot().await, before);

    // Completed, it is in no mean and no result, and others read it in the evaluation.
    let ratings = json!([remark, { "criterion": given.criterion, "value": 3 }]);
    save(one, &candidate, json!({ "ratings": ratings, "completed": true })).await.expect(200);
    two.get(&own(one, &candidate)).await.expect_code(403, "evaluate_first");
    given.rate(two, &candidate, 4.0, 5.0).await.expect(201);
    let rated = json!([shown(&given.criterion, json!(3), ""), question]);
    for reader in [owner, one, two, &given.reviewer] {
        assert_eq!(reader.get(&own(one, &candidate)).await.expect(200).json()["ratings"], rated);
    }
    let result = two.get(&result_of(&given.project, &candidate)).await.expect(200).json();
    // 3 of one, the mean of 4 and 5 of the other.
    assert_eq!(result["overall_rating"], 3.75);
    assert_eq!(result["question_results"][0]["average_rating"], 4);
    assert_eq!(result["criteria_results"][0]["average_rating"], 4);
    let ratings = result["ratings"].as_array().unwrap();
    assert!(ratings.len() == 3 && ratings.iter().all(|one| one["value"].is_number()), "{result}");
    assert_eq!(given.results(owner, "?ordering=overall_rating").await["objects"][0], result);
    let data = owner.get(&format!("{candidate}data/")).await.expect(200).json();
    let text = data["evaluations"].to_string();
    assert!(text.contains("\"value\":null") && text.contains("Listen to it again."), "{text}");
}
