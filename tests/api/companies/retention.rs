//! How long a company keeps candidates.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Token};
use tests::http::{Request, Response, send_each};
use tests::{assert_refusal, assert_refusals};

use crate::events::feed::read_all;

pub(crate) const RETENTION: &str = "/companies/acme/retention/";

/// The service, and somebody who may do what an owner may and whose credential outlives months.
pub(crate) async fn start() -> (TestApp, Token) {
    let app = TestApp::start().await;
    let (_, token) = app.owner().await.named_token("Privacy").await;
    (app, token)
}

pub(crate) async fn set_retention(caller: &impl Caller, uri: &str, body: Value) -> Value {
    caller.send(Request::put(uri).json(&body)).await.expect(200).json()
}

async fn put_if_match(caller: &impl Caller, tag: &str, body: Value) -> Response {
    caller.send(Request::put(RETENTION).header("if-match", tag).json(&body)).await
}

fn etag(response: &Response) -> String {
    response.header("etag").unwrap().to_owned()
}

fn kept(next_run_at: &Value) -> Value {
    json!({
        "resource_uri": "https://hr.example/api/v3/companies/acme/retention/",
        "days": null,
        "from": "last_activity",
        "request_days": 30,
        "notice_days": 14,
        "starts_at": null,
        "next_run_at": next_run_at,
        "last_run": null,
    })
}

#[tokio::test]
async fn without_a_policy_candidates_are_kept() {
    let (app, privacy) = start().await;
    let before = app.table().snapshot().await;
    privacy.get(RETENTION).await.expect_json(200, kept(&Value::Null));
    privacy.delete(RETENTION).await.expect(204);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn a_policy_is_set_shown_and_deleted() {
    let (app, privacy) = start().await;
    let policy = json!({ "days": 180, "from": "project_closed", "request_days": 7, "notice_days": 0 });
    let shown = json!({
        "resource_uri": "https://hr.example/api/v3/companies/acme/retention/",
        "days": 180,
        "from": "project_closed",
        "request_days": 7,
        "notice_days": 0,
        "starts_at": "2026-11-15T10:00:00Z",
        // The night is that of UTC, because the company has no time zone.
        "next_run_at": "2026-11-09T02:00:00Z",
        "last_run": null,
    });
    let set = privacy.send(Request::put(RETENTION).json(&policy)).await.expect(200);
    let read = privacy.get(RETENTION).await.expect(200);
    assert_eq!([set.json(), read.json()], [shown.clone(), shown.clone()]);
    assert_eq!(etag(&set), etag(&read));

    app.clock().advance(TimeDelta::hours(1));
    let before = app.table().snapshot().await;
    let again = privacy.send(Request::put(RETENTION).json(&shown)).await.expect(200);
    assert_eq!((again.log().write_units, etag(&again)), (0.0, etag(&read)));
    assert_eq!(app.table().snapshot().await, before);

    privacy.delete(RETENTION).await.expect(204);
    privacy.get(RETENTION).await.expect_json(200, kept(&json!("2026-11-09T02:00:00Z")));
    // Fields that are not sent have their defaults.
    set_retention(&privacy, RETENTION, json!({ "days": 28, "request_days": 7 })).await;
    let defaults = set_retention(&privacy, RETENTION, json!({ "days": 28 })).await;
    assert_eq!(
        [&defaults["from"], &defaults["request_days"], &defaults["notice_days"]],
        [&json!("last_activity"), &json!(30), &json!(14)]
    );
}

#[tokio::test]
async fn the_first_policy_begins_the_runs_and_later_ones_leave_them() {
    let (app, privacy) = start().await;
    app.owner().await.patch("/companies/acme/", json!({ "timezone": "America/New_York" })).await.expect(200);
    let first = set_retention(&privacy, RETENTION, json!({ "days": null })).await;
    assert_eq!(first["next_run_at"], "2026-11-09T07:00:00Z");
    app.clock().advance(TimeDelta::days(3));
    let second = set_retention(&privacy, RETENTION, json!({ "days": 180 })).await;
    assert_eq!(second["next_run_at"], first["next_run_at"], "a run that is overdue is not put off");
}

#[tokio::test]
async fn a_policy_that_makes_no_sense_is_refused() {
    let (app, privacy) = start().await;
    set_retention(&privacy, RETENTION, json!({ "days": 180 })).await;
    let before = app.table().snapshot().await;
    let bodies = [
        json!({}),
        json!({ "from": "project_closed", "request_days": 10 }),
        json!({ "days": 6 }),
        json!({ "days": 3651 }),
        json!({ "days": "180" }),
        json!({ "days": 180.5 }),
        json!({ "days": -1, "from": "hire", "request_days": 31, "notice_days": 91 }),
        json!({ "days": 180, "from": null, "request_days": null, "notice_days": null }),
        json!([]),
    ];
    assert_refusals!(send_each(bodies, |body| privacy.send(Request::put(RETENTION).json(&body))).await, @r#"
        2 x 400 {"days":["This field is required."]}
        2 x 400 {"days":["Ensure this value is from 7 to 3650."]}
        2 x 400 {"days":["A valid integer is required."]}
        400 {
          "days":["Ensure this value is from 7 to 3650."],
          "from":["\"hire\" is not a valid choice. Use one of: last_activity, project_closed."],
          "notice_days":["Ensure this value is from 0 to 90."],
          "request_days":["Ensure this value is from 0 to 30."]
        }
        400 {
          "from":["This field may not be null."],
          "notice_days":["This field may not be null."],
          "request_days":["This field may not be null."]
        }
        400 {"non_field_errors":["Invalid data. Expected an object."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn a_policy_that_somebody_has_changed_in_the_meantime_is_not_overwritten() {
    let (app, privacy) = start().await;
    let none = etag(&privacy.get(RETENTION).await.expect(200));
    let first = etag(&put_if_match(&privacy, &none, json!({ "days": 180 })).await.expect(200));
    let second = etag(&put_if_match(&privacy, &first, json!({ "days": 90 })).await.expect(200));
    assert_ne!(first, second);
    let before = app.table().snapshot().await;
    for stale in [&none, &first] {
        assert_refusal!(put_if_match(&privacy, stale, json!({ "days": 7 })).await, @r#"412 {"code":"precondition_failed","detail":"The resource no longer matches `If-Match`. Fetch it and try again."}"#);
        let delete = privacy.send(Request::delete(RETENTION).header("if-match", stale)).await;
        delete.expect_code(412, "precondition_failed");
    }
    assert_eq!(app.table().snapshot().await, before);
    privacy.send(Request::delete(RETENTION).header("if-match", &second)).await.expect(204);
}

#[tokio::test]
async fn a_tag_follows_the_policy_and_not_its_runs() {
    let (app, privacy) = start().await;
    let tag = {
        set_retention(&privacy, RETENTION, json!({ "days": 180 })).await;
        etag(&privacy.get(RETENTION).await.expect(200))
    };
    let number = |number: u32| AttributeValue::N(number.to_string());
    let counts = [("looked_at", 30), ("erased", 9), ("held", 3), ("soon", 5), ("waiting", 7)];
    let counts = counts.map(|(name, count)| (name.to_owned(), number(count)));
    let last = HashMap::from([
        ("at".to_owned(), AttributeValue::S("2026-11-09T02:03:04Z".to_owned())),
        ("counts".to_owned(), AttributeValue::M(HashMap::from(counts))),
    ]);
    let run = ("COMPANY#acme".to_owned(), "RETENTION#RUN".to_owned());
    app.table().set(&run, "last", AttributeValue::M(last)).await;
    let read = privacy.get(RETENTION).await.expect(200);
    assert_eq!(
        read.json()["last_run"],
        json!({ "at": "2026-11-09T02:03:04Z", "looked_at": 30, "erased": 9, "held": 3, "soon": 5, "waiting": 7 })
    );
    assert_eq!(etag(&read), tag);
    put_if_match(&privacy, &tag, json!({ "days": 90 })).await.expect(200);
}

#[tokio::test]
async fn a_first_or_stricter_policy_starts_after_a_week() {
    let (app, privacy) = start().await;
    let mut starts = Vec::new();
    for (days_later, policy) in [
        (0, json!({ "days": 180, "from": "project_closed" })),
        // Milder, while the first one waits.
        (1, json!({ "days": 365, "from": "project_closed" })),
        (1, json!({ "days": 364, "from": "project_closed" })),
        // Back to the milder one, of which nobody was told later.
        (1, json!({ "days": 365, "from": "project_closed" })),
        // In force.
        (10, json!({ "days": 400, "from": "project_closed" })),
        // From last activity, many are due earlier although the days are more.
        (1, json!({ "days": 500, "from": "last_activity" })),
        (1, json!({ "days": 500, "from": "project_closed" })),
        (1, json!({ "days": null })),
        (1, json!({ "days": 3650 })),
    ] {
        app.clock().advance(TimeDelta::days(days_later));
        let set = set_retention(&privacy, RETENTION, policy).await;
        starts.push(set["starts_at"].as_str().map_or("never".to_owned(), |at| at[..10].to_owned()));
    }
    assert_eq!(
        starts,
        [
            "2026-11-15",
            "2026-11-15",
            "2026-11-17",
            "2026-11-17",
            "2026-11-17",
            "2026-11-29",
            "2026-11-29",
            "never",
            "2026-12-02",
        ]
    );
    // After a deletion every policy is a first one.
    privacy.delete(RETENTION).await.expect(204);
    app.clock().advance(TimeDelta::days(30));
    let set = set_retention(&privacy, RETENTION, json!({ "days": 3650 })).await;
    assert_eq!(set["starts_at"], app.clock().in_days(7));
}

#[tokio::test]
async fn a_change_of_the_policy_is_an_event() {
    let (app, privacy) = start().await;
    set_retention(&privacy, RETENTION, json!({ "days": 180 })).await;
    set_retention(&privacy, RETENTION, json!({ "days": 180, "notice_days": 7 })).await;
    privacy.delete(RETENTION).await.expect(204);
    app.settle().await;
    let events = read_all(
        &privacy,
        "type=retention.updated&resource=https://hr.example/api/v3/companies/acme/retention/",
    )
    .await;
    let changed: Vec<&Value> = events.iter().map(|event| &event["data"]["changed"]).collect();
    assert_eq!(changed[1..], [&json!(["notice_days"]), &json!(["days", "notice_days", "starts_at"])]);
    for event in &events {
        assert_eq!(event["types"], json!(["retention.updated"]));
        assert_eq!(event["data"]["resource_uri"], "https://hr.example/api/v3/companies/acme/retention/");
    }
    assert_eq!(events.len(), 3);
}

#[tokio::test]
async fn concurrent_first_policies_leave_one_policy_and_one_run() {
    let (app, privacy) = start().await;
    let project = app.owner().await.project(json!({})).await;
    let own = format!("{project}retention/");
    let set = async |uri: &str, days: u32| set_retention(&privacy, uri, json!({ "days": days })).await;
    let (one, other, of_project) = tokio::join!(set(RETENTION, 30), set(RETENTION, 60), set(&own, 90));
    let read = privacy.get(RETENTION).await.expect(200).json();
    assert!(read == one || read == other, "{read}");
    assert_eq!(privacy.get(&own).await.expect(200).json(), of_project);
}
