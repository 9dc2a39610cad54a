//! Named tokens that are limited to projects: the events and webhooks of these.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, Token, last_segment};
use tests::http::Request;
use tests::{assert_refusal, assert_refusals};

use crate::events::feed::{FEED, read_all};
use crate::events::webhooks::{URL, WEBHOOKS, webhook};

/// Three projects with a candidate each, and a token for the first two.
struct Projects {
    app: TestApp,
    owner: Staff,
    token_uri: String,
    token: Token,
    own: [String; 2],
    other: String,
}

async fn given() -> Projects {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [one, two, other] =
        [owner.project(json!({})).await, owner.project(json!({})).await, owner.project(json!({})).await];
    for project in [&one, &two, &other] {
        owner.candidate(project, json!({})).await;
    }
    let rights = json!({ "account_type": "hiring-manager", "projects": [one, two] });
    let (token_uri, token) = owner.named_token_with(rights).await;
    app.settle().await;
    Projects { app, owner, token_uri, token, own: [one, two], other }
}

#[tokio::test]
async fn it_reads_the_events_of_one_of_its_projects_at_a_time() {
    let given = given().await;
    let Projects { owner, token, own: [one, two], other, .. } = &given;
    for project in [one, two] {
        let seen = read_all(token, &format!("project={project}")).await;
        assert_eq!(seen, read_all(owner, &format!("project={project}")).await);
        assert!(seen.iter().any(|event| event["type"] == "candidate.created"), "{seen:?}");
        let latest = token.get(&format!("{FEED}?before=latest&project={project}")).await.expect(200).json();
        assert_eq!(latest["objects"].as_array().unwrap().last(), seen.first());
    }
    let unknown = one.replace(last_segment(one), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    let elsewhere = one.replace("/acme/", "/globex/");
    let mut refused = Vec::new();
    for query in [
        String::new(),
        "?project=".to_owned(),
        format!("?project={other}"),
        format!("?project={unknown}"),
        format!("?project={elsewhere}"),
        "?project=x".to_owned(),
        format!("?resource={other}"),
        format!("?after=7&type=label.*&resource={one}"),
    ] {
        refused.push(token.get(&format!("{FEED}{query}")).await);
    }
    assert_refusals!(refused, @r#"8 x 400 {"code":"project_required","detail":"This token reads the events of its projects alone: send the URL of one of them as `project`."}"#);

    let events = read_all(owner, "").await;
    let mut seen = Vec::new();
    for event in &events {
        let uri = format!("{FEED}{}/", event["id"].as_str().unwrap());
        let shown = token.get(&uri).await;
        if shown.status.as_u16() == 200 {
            seen.push(shown.json());
        } else {
            shown.expect_code(404, "not_found");
        }
    }
    let is_of = |event: &&Value, project: &String| {
        event["data"]["resource_uri"].as_str().unwrap().starts_with(project.as_str())
    };
    let own = events.iter().filter(|event| is_of(event, one) || is_of(event, two)).cloned();
    assert_eq!(seen, own.collect::<Vec<_>>());
    assert!(seen.len() >= 4 && seen.len() < events.len(), "{seen:?}");
}

#[tokio::test]
async fn it_gets_the_receipts_of_its_projects_alone() {
    let given = given().await;
    let Projects { app, owner, token, own: [one, _], other, .. } = &given;
    for (project, status) in [(one, 200), (other, 404)] {
        let candidate = owner.candidate(project, json!({})).await;
        owner.delete(&candidate).await.expect(204);
        app.settle().await;
        let events = read_all(owner, &format!("resource={candidate}")).await;
        let erased = events.iter().find(|event| event["type"] == "candidate.erased").unwrap();
        let receipt = format!("{FEED}{}/receipt/", erased["id"].as_str().unwrap());
        owner.get(&receipt).await.expect(200);
        token.get(&receipt).await.expect(status);
    }
}

#[tokio::test]
async fn it_reads_the_webhooks_of_its_projects_and_changes_those_that_it_has_made() {
    let given = given().await;
    let Projects { owner, token_uri, token, own: [one, two], other, .. } = &given;
    let everything = webhook(owner, json!({})).await;
    let wider = webhook(owner, json!({ "projects": [one, other] })).await;
    let theirs = webhook(owner, json!({ "projects": [two] })).await;
    let created = json!({ "url": URL, "projects": [one, two] });
    let created = token.post(WEBHOOKS, created).await.expect(201);
    let own = created.uri("resource_uri");
    assert_eq!(created.json()["created_by"], *token_uri);
    assert_eq!(owner.get(&own).await.expect(200).json()["created_by"], *token_uri);
    let listed = token.get(WEBHOOKS).await.expect(200).json();
    let uris: Vec<_> = listed["objects"].as_array().unwrap().iter().map(|one| &one["resource_uri"]).collect();
    assert_eq!((uris, &listed["meta"]["total_count"]), (vec![&json!(theirs), &json!(own)], &json!(2)));

    let requests = |webhook: &str| {
        [
            Request::patch(webhook).json(&json!({ "description": "Mine" })),
            Request::post(&format!("{webhook}secret/")).json(&json!({ "grace_hours": 0 })),
            Request::post(&format!("{webhook}ping/")),
            Request::post(&format!("{webhook}position/")).json(&json!({ "after": 0 })),
            Request::delete(webhook),
        ]
    };
    let reads = |webhook: &str| [Request::get(webhook), Request::get(&format!("{webhook}deliveries/"))];
    for hidden in [&everything, &wider] {
        for request in requests(hidden).into_iter().chain(reads(hidden)) {
            token.send(request).await.expect_code(404, "not_found");
        }
    }
    for request in reads(&theirs).into_iter().chain(reads(&own)) {
        token.send(request).await.expect(200);
    }
    for request in requests(&theirs) {
        let refused = token.send(request).await.expect_code(403, "permission_denied").json();
        assert_eq!(refused["permission"], "manage_webhooks");
    }
    // Nothing that it makes or changes is sent events of other projects.
    let create =
        async |projects: Value| token.post(WEBHOOKS, json!({ "url": URL, "projects": projects })).await;
    let unknown = one.replace(last_segment(one), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_refusals!(
        [
            token.post(WEBHOOKS, json!({ "url": URL })).await,
            create(json!([])).await,
            create(json!([other])).await,
            create(json!([one, other])).await,
            create(json!([one, unknown])).await,
            token.patch(&own, json!({ "projects": [] })).await,
            token.patch(&own, json!({ "projects": [one, other] })).await,
        ],
        @r#"7 x 400 {"projects":["Name at least one of the token's projects, and no others."]}"#
    );
    token.patch(&own, json!({ "projects": [two] })).await.expect(200);
    // One that an owner has widened is no longer shown to it.
    owner.patch(&own, json!({ "projects": [two, other] })).await.expect(200);
    token.get(&own).await.expect_code(404, "not_found");
    owner.patch(&own, json!({ "projects": [two] })).await.expect(200);
    for request in requests(&own) {
        let call = format!("{request:?}");
        assert!(token.send(request).await.status.is_success(), "{call}");
    }
    assert_refusal!(token.get(&own).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);
    for kept in [&everything, &wider, &theirs] {
        owner.get(kept).await.expect(200);
    }
}

#[tokio::test]
async fn another_token_for_the_same_projects_does_not_change_its_webhooks() {
    let given = given().await;
    let Projects { owner, token, own: [one, two], .. } = &given;
    let rights = json!({ "account_type": "recruiter", "projects": [one, two] });
    let (_, other) = owner.named_token_with(rights).await;
    let made = webhook(token, json!({ "projects": [one] })).await;
    other.get(&made).await.expect(200);
    other.patch(&made, json!({ "url": "https://hooks.example.com/theirs" })).await.expect(403);
    other.post(&format!("{made}secret/"), json!({})).await.expect_code(403, "permission_denied");
    let reading = json!({ "account_type": "recruiter", "projects": [one], "read_only": true });
    let (_, reader) = owner.named_token_with(reading).await;
    reader.get(&made).await.expect(200);
    reader.post(WEBHOOKS, json!({ "url": URL, "projects": [one] })).await.expect_code(403, "read_only_token");
}

#[tokio::test]
async fn it_has_no_event_of_another_project_or_of_the_company_sent_to_its_webhook() {
    let given = given().await;
    let Projects { app, owner, token, own: [one, two], other, .. } = &given;
    owner.post("/companies/acme/labels/", json!({ "text": "Berlin" })).await.expect(201);
    app.settle().await;
    let fields = json!({ "url": URL, "projects": [one] });
    let hook = token.post(WEBHOOKS, fields).await.expect(201).uri("resource_uri");
    let repeat = async |event: &Value| {
        token.post(&format!("{hook}deliveries/"), json!({ "event": event["id"] })).await
    };
    let mut hidden = read_all(owner, "type=label.*").await;
    hidden.extend(read_all(owner, &format!("project={other}")).await);
    // The event is of a project of the token, but not of the webhook.
    hidden.extend(read_all(owner, &format!("project={two}")).await);
    assert!(hidden.len() >= 5, "{hidden:?}");
    for event in &hidden {
        assert_refusal!(repeat(event).await, @r#"400 {"event":["There is no such event, or it has been deleted because of its age."]}"#);
    }
    let shown = read_all(token, &format!("project={one}")).await;
    repeat(&shown[0]).await.expect(202);
}
