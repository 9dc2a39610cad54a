//! How long a project keeps candidates.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::caller::Caller;
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

use crate::companies::retention::{RETENTION, set_retention, start};
use crate::events::feed::read_all;

fn view(uri: &str, days: Option<u32>, from: &str, starts_at: Option<&str>, is_inherited: bool) -> Value {
    json!({ "resource_uri": uri, "days": days, "from": from, "starts_at": starts_at, "is_inherited": is_inherited })
}

#[tokio::test]
async fn a_project_has_the_policy_of_its_company_or_one_of_its_own() {
    let (app, privacy) = start().await;
    let uri = format!("{}retention/", app.owner().await.project(json!({})).await);
    let nothing = view(&uri, None, "last_activity", None, true);
    privacy.get(&uri).await.expect_json(200, nothing.clone());
    privacy.delete(&uri).await.expect(204);
    set_retention(&privacy, RETENTION, json!({ "days": 180, "from": "project_closed" })).await;
    let inherited = view(&uri, Some(180), "project_closed", Some("2026-11-15T10:00:00Z"), true);
    privacy.get(&uri).await.expect_json(200, inherited.clone());

    let own = view(&uri, Some(28), "last_activity", Some("2026-11-15T10:00:00Z"), false);
    let set = privacy.send(Request::put(&uri).json(&json!({ "days": 28 }))).await.expect(200);
    let read = privacy.get(&uri).await.expect(200);
    assert_eq!([set.json(), read.json()], [own.clone(), own.clone()]);
    assert_eq!(set.header("etag"), read.header("etag"));
    let before = app.table().snapshot().await;
    privacy.send(Request::put(&uri).json(&own)).await.expect_json(200, own);
    assert_eq!(app.table().snapshot().await, before);

    let kept = view(&uri, None, "last_activity", None, false);
    privacy.send(Request::put(&uri).json(&json!({ "days": null }))).await.expect_json(200, kept);
    privacy.delete(&uri).await.expect(204);
    privacy.get(&uri).await.expect_json(200, inherited);
    let before = app.table().snapshot().await;
    privacy.delete(&uri).await.expect(204);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn the_first_policy_of_a_project_begins_the_runs_of_its_company() {
    let (app, privacy) = start().await;
    let uri = format!("{}retention/", app.owner().await.project(json!({})).await);
    set_retention(&privacy, &uri, json!({ "days": 28 })).await;
    let company = privacy.get(RETENTION).await.expect(200).json();
    assert_eq!((&company["days"], &company["next_run_at"]), (&Value::Null, &json!("2026-11-09T02:00:00Z")));
}

#[tokio::test]
async fn a_stricter_policy_than_before_starts_after_a_week_whoever_has_set_it() {
    let (app, privacy) = start().await;
    let uri = format!("{}retention/", app.owner().await.project(json!({})).await);
    let starts_at = async || privacy.get(&uri).await.expect(200).json()["starts_at"].clone();
    set_retention(&privacy, RETENTION, json!({ "days": 100 })).await;
    app.clock().advance(TimeDelta::days(30));
    assert_eq!(starts_at().await, "2026-11-15T10:00:00Z");
    // Milder than the company's.
    set_retention(&privacy, &uri, json!({ "days": 200 })).await;
    assert_eq!(starts_at().await, "2026-11-15T10:00:00Z");
    // Back under the company's, which is stricter.
    privacy.delete(&uri).await.expect(204);
    assert_eq!(starts_at().await, app.clock().in_days(7));
    let of_company = privacy.get(RETENTION).await.expect(200).json()["starts_at"].clone();
    assert_eq!(of_company, "2026-11-15T10:00:00Z");
    app.clock().advance(TimeDelta::days(1));
    set_retention(&privacy, &uri, json!({ "days": 99 })).await;
    assert_eq!(starts_at().await, app.clock().in_days(7));
    app.clock().advance(TimeDelta::days(1));
    set_retention(&privacy, &uri, json!({ "days": 101 })).await;
    assert_eq!(starts_at().await, app.clock().in_days(6));
    // The company's own changes reach the project only once it is under the company's policy again.
    set_retention(&privacy, RETENTION, json!({ "days": 7 })).await;
    assert_eq!(starts_at().await, app.clock().in_days(6));
    privacy.delete(RETENTION).await.expect(204);
    privacy.delete(&uri).await.expect(204);
    assert_eq!(starts_at().await, Value::Null);
}

#[tokio::test]
async fn a_policy_that_makes_no_sense_is_refused() {
    let (app, privacy) = start().await;
    let uri = format!("{}retention/", app.owner().await.project(json!({})).await);
    let before = app.table().snapshot().await;
    let bodies =
        [json!({}), json!({ "days": 6, "from": "hire" }), json!({ "days": 3651 }), json!({ "days": "7" })];
    assert_refusals!(send_each(bodies, |body| privacy.send(Request::put(&uri).json(&body))).await, @r#"
        400 {"days":["This field is required."]}
        400 {"days":["Ensure this value is from 7 to 3650."],"from":["\"hire\" is not a valid choice. Use one of: last_activity, project_closed."]}
        400 {"days":["Ensure this value is from 7 to 3650."]}
        400 {"days":["A valid integer is required."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn a_project_that_somebody_has_changed_in_the_meantime_is_not_overwritten() {
    let (app, privacy) = start().await;
    let uri = format!("{}retention/", app.owner().await.project(json!({})).await);
    let stale = privacy.get(&uri).await.expect(200).header("etag").unwrap().to_owned();
    set_retention(&privacy, &uri, json!({ "days": 28 })).await;
    let before = app.table().snapshot().await;
    let put = Request::put(&uri).header("if-match", &stale).json(&json!({ "days": 7 }));
    assert_refusal!(privacy.send(put).await, @r#"412 {"code":"precondition_failed","detail":"The resource no longer matches `If-Match`. Fetch it and try again."}"#);
    let delete = Request::delete(&uri).header("if-match", &stale);
    privacy.send(delete).await.expect_code(412, "precondition_failed");
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn only_those_who_may_manage_privacy_see_it_and_nobody_of_another_company() {
    let (app, privacy) = start().await;
    let manager = app.staff("recruiter").await;
    let project = manager.project(json!({})).await;
    let uri = format!("{project}retention/");
    set_retention(&privacy, &uri, json!({ "days": 28 })).await;
    assert_refusal!(manager.get(&uri).await, @r#"
        403 {
          "code":"permission_denied",
          "detail":"You do not have the permission `manage_privacy` here.",
          "permission":"manage_privacy"
        }
    "#);
    let put = Request::put(&uri).json(&json!({ "days": 7 }));
    assert_refusal!(manager.send(put).await, @r#"
        403 {
          "code":"permission_denied",
          "detail":"You do not have the permission `manage_privacy` here.",
          "permission":"manage_privacy"
        }
    "#);
    app.staff("recruiter").await.get(&uri).await.expect_code(404, "not_found");
    let stranger = app.owner_of("globex").await;
    let before = app.table().snapshot().await;
    for uri in [&uri, &uri.replace("acme", "globex")] {
        stranger.get(uri).await.expect_code(404, "not_found");
        stranger.send(Request::put(uri).json(&json!({ "days": 7 }))).await.expect_code(404, "not_found");
        stranger.delete(uri).await.expect_code(404, "not_found");
    }
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn a_policy_of_its_own_is_a_change_of_the_project() {
    let (app, privacy) = start().await;
    let project = app.owner().await.project(json!({})).await;
    let uri = format!("{project}retention/");
    set_retention(&privacy, &uri, json!({ "days": 28 })).await;
    privacy.delete(&uri).await.expect(204);
    app.settle().await;
    let events = read_all(&privacy, &format!("type=project.updated&resource={project}")).await;
    assert_eq!(events.len(), 2);
    for event in events {
        assert_eq!(event["data"]["changed"], json!(["retention"]));
    }
}
