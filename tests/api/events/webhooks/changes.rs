//! How webhooks are created, changed and deleted.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use shared::auth::SystemAccess;
use shared::domain::webhook::{DeliveryCursor, DisabledReason, EndpointHealth, Webhook};
use shared::domain::work::WorkState;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, last_segment};
use tests::http::Request;

use super::{URL, WEBHOOKS, at_rest, stored, webhook, write_cursor};
use crate::events::feed::{FEED, read_all};

/// The service with some events, and the number of the last.
pub(super) async fn latest(app: &TestApp, caller: &impl Caller) -> u64 {
    app.settle().await;
    caller.get(FEED).await.expect(200).json()["meta"]["latest"].as_u64().unwrap()
}

#[tokio::test]
async fn a_secret_is_shown_once_and_stored_sealed() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let latest = latest(&app, &owner).await;
    let new = json!({
        "url": "HTTPS://Hooks.Example.com/in?x=1", "description": " Payroll ",
        "types": ["label.*", "candidate.interviewed", "label.*"], "projects": [project],
    });
    let request = Request::post(WEBHOOKS).json(&new).header("idempotency-key", "one");
    let created = owner.send(request.clone()).await.expect(201);
    let (uri, secret) = (created.uri("resource_uri"), created.uri("secret"));
    assert_eq!(created.header("location"), Some(uri.as_str()));
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{secret}");
    let view = json!({
        "id": last_segment(&uri),
        "resource_uri": uri,
        "company": "https://hr.example/api/v3/companies/acme/",
        "url": "https://hooks.example.com/in?x=1",
        "description": "Payroll",
        "types": ["candidate.interviewed", "label.*"],
        "projects": [project],
        "misses_erasures": true,
        "is_enabled": true,
        "disabled_reason": null,
        "status": "ok",
        "failing_since": null,
        "after": latest,
        "behind": 0,
        "waiting_resources": 0,
        "last_delivery_at": null,
        "former_secret_until": null,
        "created_at": "2026-11-08T10:00:00Z",
        "created_by": owner.uri,
    });
    let mut shown = view.clone();
    shown["secret"] = secret.clone().into();
    assert_eq!(created.json(), shown);
    let again = owner.send(request).await.expect(201);
    assert_eq!((again.header("idempotent-replayed"), again.json()), (Some("true"), view.clone()));
    owner.get(&uri).await.expect_json(200, view.clone());
    let list = owner.get(WEBHOOKS).await.expect(200).json();
    assert_eq!((&list["objects"], &list["meta"]["total_count"]), (&json!([view]), &json!(1)));
    let other = owner.post(WEBHOOKS, json!({ "url": URL })).await.expect(201).uri("secret");
    assert_ne!(secret, other);
    let stored = app.table().text().await;
    assert!(!stored.contains("whsec_") && !stored.contains(&secret[6..]), "only a seal is stored");
}

#[tokio::test]
async fn webhooks_tell_whether_deletions_of_candidates_pass_them_by() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let uri = webhook(&owner, json!({})).await;
    for (fields, misses) in [
        (json!({}), false),
        (json!({ "types": ["candidate.*"] }), false),
        (json!({ "types": ["label.*", "candidate.deleted"] }), false),
        (json!({ "types": ["candidate.interviewed"] }), true),
        // Tells when everything is gone, but not of which deletion.
        (json!({ "types": ["candidate.erased"] }), true),
        (json!({ "types": ["label.*"] }), true),
        (json!({ "types": [], "projects": [project] }), true),
        (json!({ "types": ["candidate.*"], "projects": [project] }), true),
        (json!({ "projects": [] }), false),
    ] {
        let shown = owner.patch(&uri, fields.clone()).await.expect(200).json();
        assert_eq!(shown["misses_erasures"], misses, "{fields}");
        assert_eq!(owner.get(WEBHOOKS).await.expect(200).json()["objects"][0], shown);
    }
}

#[tokio::test]
async fn deliveries_begin_at_the_end_of_the_feed_or_where_the_client_says() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    // Before the first number of the company, too.
    let first = webhook(&owner, json!({})).await;
    assert_eq!(owner.get(&first).await.expect(200).json()["after"], 0);
    let latest = latest(&app, &owner).await;
    let everything = webhook(&owner, json!({ "after": 0 })).await;
    let some = webhook(&owner, json!({ "after": latest - 1 })).await;
    let shown = async |uri: &str| {
        let view = owner.get(uri).await.expect(200).json();
        (view["after"].as_u64().unwrap(), view["behind"].as_u64().unwrap())
    };
    assert_eq!(shown(&first).await, (0, latest));
    assert_eq!((shown(&everything).await, shown(&some).await), ((0, latest), (latest - 1, 1)));
    owner.patch(&project, json!({ "name": "Other" })).await.expect(200);
    app.settle().await;
    // The webhooks are events themselves.
    assert_eq!(shown(&some).await, (latest - 1, 4));

    let moved = owner.post(&format!("{some}position/"), json!({ "after": 2 })).await.expect(200).json();
    assert_eq!((&moved["after"], &moved["behind"]), (&json!(2), &json!(latest + 1)));
    assert_eq!(stored(&app, &some).await.1.position_epoch, 1);
}

/// The cursor of an endpoint that has been down for long.
fn down(cursor: DeliveryCursor, now: DateTime<Utc>) -> DeliveryCursor {
    DeliveryCursor {
        health: EndpointHealth {
            suspects: ["a", "b"].map(str::to_owned).into(),
            failures: 9,
            failing_since: Some(now - TimeDelta::days(2)),
            paused_until: Some(now + TimeDelta::days(1)),
            warned_at: Some(now - TimeDelta::days(1)),
            ..EndpointHealth::default()
        },
        work: WorkState::due(now + TimeDelta::days(1)),
        stalled_count: 2,
        ..at_rest(cursor)
    }
}

#[tokio::test]
async fn a_webhook_is_disabled_and_goes_on_at_once_when_it_is_enabled_again() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = webhook(&owner, json!({})).await;
    let now = app.app().now();
    write_cursor(&app, &uri, |cursor| down(cursor, now)).await;
    let shown = owner.get(&uri).await.expect(200);
    let tag = shown.header("etag").unwrap().to_owned();
    let view = shown.json();
    assert_eq!(
        (&view["status"], &view["failing_since"]),
        (&json!("failing"), &json!("2026-11-06T10:00:00Z"))
    );
    assert_eq!(view["waiting_resources"], 2);
    let failing = stored(&app, &uri).await.1;

    let disabled = owner.patch(&uri, json!({ "is_enabled": false })).await.expect(200).json();
    let facts =
        ["is_enabled", "status", "disabled_reason", "failing_since"].map(|name| disabled[name].clone());
    assert_eq!(facts, [json!(false), json!("disabled"), json!("request"), Value::Null]);
    assert_eq!(*stored(&app, &uri).await.1, *failing, "nothing is lost");
    let stale = Request::patch(&uri).json(&json!({ "is_enabled": true })).header("if-match", &tag);
    owner.send(stale).await.expect_code(412, "precondition_failed");

    let enabled = owner.patch(&uri, json!({ "is_enabled": true })).await.expect(200).json();
    let facts =
        ["is_enabled", "status", "disabled_reason", "failing_since"].map(|name| enabled[name].clone());
    assert_eq!(facts, [json!(true), json!("ok"), Value::Null, Value::Null]);
    let resumed = stored(&app, &uri).await.1;
    assert_eq!((&resumed.health, resumed.stalled_count), (&EndpointHealth::default(), 2));
    assert_eq!(resumed.work.due_at, Some(app.app().now()));

    // Another address is tried at once, other changes leave the schedule.
    let now = app.app().now();
    write_cursor(&app, &uri, |cursor| down(cursor, now)).await;
    owner.patch(&uri, json!({ "types": ["label.*"], "url": URL, "is_enabled": true })).await.expect(200);
    assert_eq!(stored(&app, &uri).await.1.health.failures, 9);
    owner.patch(&uri, json!({ "url": "https://other.example/" })).await.expect(200);
    assert_eq!(stored(&app, &uri).await.1.health.failures, 0);
}

/// The secrets that sign deliveries to a webhook.
async fn opened(app: &TestApp, uri: &str) -> Vec<String> {
    let (webhook, _) = stored(app, uri).await;
    let secrets =
        SystemAccess::of(app.app()).store.open_signing_secrets(&webhook, app.app().now()).await.unwrap();
    secrets.iter().map(|secret| secret.reveal()).collect()
}

#[tokio::test]
async fn a_former_secret_is_valid_for_the_grace_that_the_client_chooses() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = webhook(&owner, json!({})).await;
    let rotate = format!("{uri}secret/");
    let first = opened(&app, &uri).await.remove(0);
    let request = Request::post(&rotate).json(&json!({})).header("idempotency-key", "one");
    let rotated = owner.send(request.clone()).await.expect(200);
    let second = rotated.uri("secret");
    assert_eq!(rotated.json()["former_secret_until"], "2026-11-09T10:00:00Z");
    assert!(owner.send(request).await.expect(200).json().get("secret").is_none(), "shown once");
    let valid = async || opened(&app, &uri).await;
    assert_eq!(valid().await, [second.as_str(), &first]);
    let third = owner.post(&rotate, json!({ "grace_hours": 1 })).await.expect(200).uri("secret");
    assert_eq!(valid().await, [third.as_str(), &second], "one former secret at most");
    app.clock().advance(TimeDelta::hours(1));
    assert_eq!(valid().await, [third]);
    assert_eq!(owner.get(&uri).await.expect(200).json()["former_secret_until"], Value::Null);
    let last = owner.post(&rotate, json!({ "grace_hours": 0 })).await.expect(200).uri("secret");
    assert_eq!(valid().await, [last]);
}

#[tokio::test]
async fn a_company_has_twenty_webhooks_at_most() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let mut last = String::new();
    for _ in 0..18 {
        last = webhook(&owner, json!({})).await;
    }
    let create = async || owner.post(WEBHOOKS, json!({ "url": URL })).await;
    let (a, b, c, d) = tokio::join!(create(), create(), create(), create());
    let (made, refused): (Vec<_>, Vec<_>) =
        [a, b, c, d].into_iter().partition(|response| response.status.as_u16() == 201);
    assert_eq!(made.len(), 2);
    for response in refused {
        assert_refusal!(response, @r#"400 {"code":"too_many_webhooks","detail":"A company may have 20 webhooks. Delete one first."}"#);
    }
    owner.delete(&last).await.expect(204);
    owner.delete(&last).await.expect_code(404, "not_found");
    assert_eq!(owner.get(WEBHOOKS).await.expect(200).json()["meta"]["total_count"], 19);
    create().await.expect(201);
}

#[tokio::test]
async fn webhooks_belong_to_their_company() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let stranger = app.owner_of("globex").await;
    let own = webhook(&owner, json!({})).await;
    let theirs = stranger.post("/companies/globex/webhooks/", json!({ "url": URL })).await.expect(201);
    let theirs = theirs.uri("resource_uri");
    let as_ours = format!("{WEBHOOKS}{}/", last_segment(&theirs));
    let before = app.table().snapshot().await;
    for uri in [
        theirs.as_str(),
        &as_ours,
        &format!("{WEBHOOKS}01ARZ3NDEKTSV4RRFFQ69G5FAV/"),
        &format!("{WEBHOOKS}x/"),
    ] {
        owner.get(uri).await.expect_code(404, "not_found");
        owner.delete(uri).await.expect_code(404, "not_found");
        owner.patch(uri, json!({ "is_enabled": false })).await.expect_code(404, "not_found");
        for (part, body) in [("secret", json!({})), ("ping", json!({})), ("position", json!({ "after": 0 }))]
        {
            owner.post(&format!("{uri}{part}/"), body).await.expect_code(404, "not_found");
        }
        owner.get(&format!("{uri}deliveries/")).await.expect_code(404, "not_found");
    }
    assert_eq!(app.table().snapshot().await, before);
    owner.get(&own).await.expect(200);
}

#[tokio::test]
async fn the_history_tells_of_webhooks_and_holds_neither_address_nor_secret() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = webhook(&owner, json!({ "description": "Kanarienvogel" })).await;
    owner
        .patch(&uri, json!({ "url": "https://kanarienvogel.example/", "types": ["label.*"] }))
        .await
        .expect(200);
    owner.post(&format!("{uri}secret/"), json!({})).await.expect(200);
    owner.patch(&uri, json!({ "is_enabled": false, "description": "" })).await.expect(200);
    owner.patch(&uri, json!({ "is_enabled": true })).await.expect(200);
    owner.post(&format!("{uri}position/"), json!({ "after": 0 })).await.expect(200);
    owner.delete(&uri).await.expect(204);
    app.settle().await;
    let events = read_all(&owner, &format!("resource={uri}")).await;
    let told: Vec<(Value, Value)> =
        events.iter().map(|event| (event["types"].clone(), event["data"]["changed"].clone())).collect();
    let expected = [
        (json!(["webhook.created"]), json!([])),
        (json!(["webhook.updated"]), json!(["types", "url"])),
        (json!(["webhook.updated"]), json!(["secret"])),
        (
            json!(["webhook.disabled", "webhook.updated"]),
            json!(["description", "disabled_reason", "is_enabled"]),
        ),
        (json!(["webhook.updated"]), json!(["disabled_reason", "is_enabled"])),
        (json!(["webhook.deleted"]), json!([])),
    ];
    assert_eq!(told, expected);
    let disabled = &events[3]["data"];
    assert_eq!((&disabled["is_enabled"], &disabled["disabled_reason"]), (&json!(false), &json!("request")));
    let mut histories = app.table().snapshot().await;
    histories.retain(|(pk, _), _| pk.starts_with("HISTORY#"));
    let text = json!(histories.into_values().collect::<Vec<_>>()).to_string().to_lowercase();
    for private in ["kanarienvogel", "hooks.example", "whsec_"] {
        assert!(!text.contains(private), "{private}");
    }
}

#[tokio::test]
async fn changes_do_not_lose_to_the_function_that_sends_events() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let uri = webhook(&owner, json!({})).await;
    for change in 0..2 {
        write_cursor(&app, &uri, at_rest).await;
        let held = chaos.pause_about("TransactWriteItems", "CURSOR");
        let meanwhile = async {
            held.reached().await;
            write_cursor(&app, &uri, |mut cursor| {
                cursor.health.last_accepted_at = Some(app.app().now());
                cursor
            })
            .await;
            held.resume();
        };
        let request = async {
            match change {
                0 => owner.post(&format!("{uri}position/"), json!({ "after": 0 })).await.expect(200),
                _ => owner.patch(&uri, json!({ "url": "https://other.example/" })).await.expect(200),
            }
        };
        let (answer, ()) = tokio::join!(request, meanwhile);
        assert_eq!(answer.json()["last_delivery_at"], "2026-11-08T10:00:00Z");
        let cursor = stored(&app, &uri).await.1;
        assert_eq!((cursor.position_epoch, cursor.health.last_accepted_at), (1, Some(app.app().now())));
    }
}

#[tokio::test]
async fn a_reason_to_disable_comes_from_the_service_too() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = webhook(&owner, json!({})).await;
    let system = SystemAccess::of(app.app());
    let (webhook, cursor) = stored(&app, &uri).await;
    let gone = Webhook::clone(&webhook).disabled(DisabledReason::Gone);
    let same = DeliveryCursor::clone(&cursor);
    let transaction = system.store.update_webhook(&webhook, &gone, &cursor, &same);
    system.commit(transaction).await.unwrap();
    let shown = owner.get(&uri).await.expect(200).json();
    assert_eq!((&shown["status"], &shown["disabled_reason"]), (&json!("disabled"), &json!("gone")));
    owner.patch(&uri, json!({ "is_enabled": false })).await.expect(200);
    assert_eq!(owner.get(&uri).await.expect(200).json()["disabled_reason"], "gone");
    app.settle().await;
    let last = read_all(&owner, &format!("resource={uri}")).await.pop().unwrap();
    assert_eq!((&last["types"], &last["by"]["kind"]), (&json!(["webhook.disabled"]), &json!("system")));
}
