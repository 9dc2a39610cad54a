//! The feed of a company's events: in order, without gaps, for as long as events are kept.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::chaos::Fault;
use tests::http::send_each;
use tests::table::{Contents, Key};
use tests::{assert_refusal, assert_refusals};

pub(crate) const FEED: &str = "/companies/acme/events/";

/// Everything after `next`, and where to read on.
pub(crate) async fn read_on(caller: &impl Caller, next: &mut String) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let page = caller.get(next).await.expect(200).json();
        events.extend(page["objects"].as_array().unwrap().iter().cloned());
        page["meta"]["next"].as_str().unwrap().clone_into(next);
        if page["meta"]["more"] == false {
            return events;
        }
    }
}

pub(crate) async fn read_all(caller: &impl Caller, query: &str) -> Vec<Value> {
    read_on(caller, &mut format!("{FEED}?{query}")).await
}

pub(crate) fn numbers(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
}

fn resources(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["data"]["resource_uri"].as_str().unwrap()).collect()
}

/// The entry with this number.
pub(crate) fn entry(contents: &Contents, number: u64) -> Key {
    let number = AttributeValue::N(number.to_string());
    let (key, _) = contents.iter().find(|(_, item)| item.get("sequence") == Some(&number)).unwrap();
    key.clone()
}

/// A company with some candidates and all events numbered, and the number of the last one.
async fn given(app: &TestApp) -> (Staff, String, u64) {
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    for _ in 0..5 {
        owner.candidate(&project, json!({})).await;
    }
    app.settle().await;
    let latest = owner.get(FEED).await.expect(200).json()["meta"]["latest"].as_u64().unwrap();
    (owner, project, latest)
}

#[tokio::test]
async fn events_are_read_in_pages_of_any_size_in_the_order_of_their_numbers() {
    let app = TestApp::start().await;
    let (owner, _, latest) = given(&app).await;
    let all: Vec<u64> = (1..=latest).collect();
    for size in [1, 2, 3, 7, 100] {
        assert_eq!(numbers(&read_all(&owner, &format!("page_size={size}")).await), all);
        let mut back = read_all(&owner, &format!("before=latest&page_size={size}")).await;
        back.reverse();
        assert_eq!(numbers(&back), all, "from the end");
    }
    assert_eq!(numbers(&read_all(&owner, "after=3").await), all[3..]);
    assert_eq!(numbers(&read_all(&owner, "before=3").await), [2, 1]);
    let first = owner.get(&format!("{FEED}?page_size=1")).await.expect(200).json();
    assert_eq!(first["meta"]["next"], "https://hr.example/api/v3/companies/acme/events/?after=1&page_size=1");
    assert_eq!((&first["meta"]["more"], &first["meta"]["latest"]), (&json!(true), &json!(latest)));
    assert_eq!(first["objects"][0]["types"], json!(["company.created"]));
    assert_eq!(first["objects"][0]["type"], "company.created");
    let id = first["objects"][0]["id"].as_str().unwrap();
    owner.get(&format!("{FEED}{id}/")).await.expect_json(200, first["objects"][0].clone());
}

#[tokio::test]
async fn a_client_that_has_everything_costs_one_round_trip() {
    let app = TestApp::start().await;
    let (owner, project, latest) = given(&app).await;
    let end = format!("{FEED}?after={latest}");
    let idle = owner.get(&end).await.expect(200);
    assert_eq!((idle.log().dynamodb_calls, idle.json()["objects"].clone()), (1, json!([])));
    let new = owner.candidate(&project, json!({})).await;
    app.settle().await;
    let changed = owner.get(&end).await.expect(200);
    assert_eq!(resources(changed.json()["objects"].as_array().unwrap()), [new]);
    assert_eq!(changed.log().dynamodb_calls, 3);
}

#[tokio::test]
async fn filters_select_events_by_type_resource_project_and_author() {
    let app = TestApp::start().await;
    let (owner, project, _) = given(&app).await;
    let (token, service) = owner.named_token("Payroll").await;
    let other = service
        .post("/companies/acme/projects/", json!({ "name": "Other", "interview_managers": [owner.uri] }))
        .await
        .expect(201);
    let other = other.uri("resource_uri");
    let ada = owner.candidate(&other, json!({})).await;
    owner.post(&format!("{other}questions/"), json!({ "text": "Why us?" })).await.expect(201);
    owner.set_deadline(&ada, "2027-01-01T00:00:00Z").await.expect(200);
    app.settle().await;
    let types = async |query: &str| -> Vec<String> {
        let events = read_all(&owner, query).await;
        let types = events.iter().flat_map(|event| event["types"].as_array().unwrap());
        types.map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types("type=candidate.created").await.len(), 6);
    assert_eq!(types("type=candidate.*").await.len(), 7);
    assert_eq!(types(&format!("resource={ada}")).await, ["candidate.created", "candidate.deadline_changed"]);
    let in_project =
        ["project.created", "project.updated", "candidate.created", "candidate.deadline_changed"];
    assert_eq!(types(&format!("project={other}")).await, in_project);
    assert_eq!(types(&format!("resource={other}")).await, ["project.created", "project.updated"]);
    assert_eq!(types(&format!("type=candidate.*&project={project}")).await.len(), 5);
    assert_eq!(types(&format!("by={token}")).await, ["project.created"]);
    assert_eq!(types("by=operator").await, ["company.created", "customer.created", "customer.confirmed"]);
    assert_eq!(types("by=system").await, [""; 0]);
    let queries = [
        "type=candidate.born",
        "type=candid*",
        "type=*",
        "resource=7",
        "resource=https://hr.example/api/v3/companies/globex/",
        "project=7",
        "by=unknown",
        "after=-1",
        "after=1000",
        "before=first",
        "after=1&before=3",
        "page_size=101",
    ];
    assert_refusals!(send_each(queries, async |query| owner.get(&format!("{FEED}?{query}")).await).await, @r#"
        400 {"type":["\"candidate.born\" is not a type of events. Use one such as candidate.invited, or candidate.*"]}
        400 {"type":["\"candid*\" is not a type of events. Use one such as candidate.invited, or candidate.*"]}
        400 {"type":["\"*\" is not a type of events. Use one such as candidate.invited, or candidate.*"]}
        400 {"resource":["\"7\" is not the URL of a resource under https://hr.example/api/v3/companies/acme/."]}
        400 {"resource":["\"https://hr.example/api/v3/companies/globex/\" is not the URL of a resource under https://hr.example/api/v3/companies/acme/."]}
        400 {"project":["\"7\" is not a URL under https://hr.example/api/v3/companies/acme/projects/."]}
        400 {"by":["\"unknown\" is not the URL of a resource under https://hr.example/api/v3/companies/acme/."]}
        400 {"after":["A valid number is required."]}
        400 {"after":["`after` is beyond the latest event, number 13."]}
        400 {"before":["A valid number is required."]}
        400 {"before":["Send `after` or `before`, not both."]}
        400 {"page_size":["Use a whole number from 1 to 100."]}
        "#);
}

#[tokio::test]
async fn a_filter_that_fits_little_leaves_pages_short_and_goes_on() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for number in 0..520 {
        owner.label(&format!("label {number}")).await;
    }
    app.settle().await;
    let page = owner.get(&format!("{FEED}?type=candidate.created&page_size=100")).await.expect(200).json();
    assert_eq!((&page["objects"], &page["meta"]["more"]), (&json!([]), &json!(true)));
    assert!(page["meta"]["next"].as_str().unwrap().contains("after=500&"), "{page}");
    assert_eq!(read_all(&owner, "type=candidate.created&page_size=100").await.len(), 0);
    assert_eq!(read_all(&owner, "type=label.created&page_size=100").await.len(), 520);
}

#[tokio::test]
async fn a_change_that_is_committed_late_comes_after_those_before_it() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (owner, project, latest) = given(&app).await;
    let mut next = format!("{FEED}?after={latest}");
    let held = chaos.pause_about("TransactWriteItems", "Latecomer");
    let meanwhile = async {
        held.reached().await;
        let early = owner.candidate(&project, json!({ "first_name": "Early" })).await;
        app.settle().await;
        assert_eq!(resources(&read_on(&owner, &mut next).await), [early]);
        held.resume();
        next
    };
    let late = owner.candidate(&project, json!({ "first_name": "Latecomer" }));
    let (late, mut next) = tokio::join!(late, meanwhile);
    assert_eq!(read_on(&owner, &mut next).await, [json!(null); 0]);
    app.settle().await;
    assert_eq!(resources(&read_on(&owner, &mut next).await), [late]);
}

#[tokio::test]
async fn a_reader_stops_before_a_number_that_the_index_does_not_show_yet() {
    let app = TestApp::start().await;
    let (owner, _, latest) = given(&app).await;
    let whole = app.table().contents().await;
    let mut lagging = whole.clone();
    let item = lagging.get_mut(&entry(&whole, latest - 2)).unwrap();
    item.retain(|name, _| !name.starts_with("by_status"));
    app.table().restore(&lagging).await;
    let mut next = format!("{FEED}?page_size=3");
    assert_eq!(numbers(&read_on(&owner, &mut next).await), (1..=latest - 3).collect::<Vec<_>>());
    assert_eq!(read_on(&owner, &mut next).await.len(), 0, "however often it asks");
    app.table().restore(&whole).await;
    assert_eq!(numbers(&read_on(&owner, &mut next).await), [latest - 2, latest - 1, latest]);
}

#[tokio::test]
async fn events_expire_and_a_reader_who_has_missed_some_is_told() {
    let app = TestApp::start_with(&[("EVENT_RETENTION_DAYS", "1")]).await;
    let (owner, project, _) = given(&app).await;
    let service = owner.named_token("Sync").await.1;
    app.settle().await;
    let latest = service.get(FEED).await.expect(200).json()["meta"]["latest"].as_u64().unwrap();
    let after = async |number: u64| service.get(&format!("{FEED}?after={number}")).await;
    let expired = async |number: u64, first: u64| {
        let gone = after(number).await.expect(410).json();
        assert_eq!((&gone["code"], &gone["first"]), (&json!("events_expired"), &json!(first)));
    };
    let old = service.get(FEED).await.expect(200).json()["objects"][0]["id"].as_str().unwrap().to_owned();
    app.clock().advance(TimeDelta::hours(25));
    let new = json!({ "first_name": "Ada", "last_name": "Byron" });
    let candidate = service.post(&format!("{project}candidates/"), new).await.expect(201).uri("resource_uri");
    app.settle().await;
    assert_eq!(numbers(&read_all(&service, "").await), [latest + 1], "from the beginning is never too early");
    assert_eq!(numbers(&read_all(&service, &format!("after={latest}")).await), [latest + 1]);
    expired(1, latest + 1).await;
    expired(latest - 1, latest + 1).await;
    assert_refusal!(service.get(&format!("{FEED}{old}/")).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);
    assert_eq!(numbers(&read_all(&service, "before=latest").await), [latest + 1]);
    service.patch(&candidate, json!({ "phone": "1" })).await.expect(200);
    app.settle().await;

    app.clock().advance(TimeDelta::hours(25));
    expired(1, latest + 3).await;
    assert_eq!(numbers(&read_all(&service, "").await), [0; 0]);
    assert_eq!(after(latest + 2).await.expect(200).json()["objects"], json!([]));
    let history = service.get(&format!("{candidate}events/")).await.expect(200).json();
    assert_eq!(history["objects"], json!([]));

    // DynamoDB deletes them some time later.
    app.leave_unsound("entries expire one by one");
    let entries = app.table().contents().await.into_keys().filter(|(pk, _)| pk.starts_with("HISTORY#"));
    for key in entries {
        app.table().erase(&key).await;
    }
    expired(latest, latest + 3).await;
    assert_eq!(numbers(&read_all(&service, "").await), [0; 0]);
}

#[tokio::test]
async fn a_history_is_complete_at_once() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let ada = owner.candidate(&project, json!({})).await;
    for phone in ["1", "2", "3"] {
        owner.patch(&ada, json!({ "phone": phone })).await.expect(200);
    }
    let history = async |query: &str| owner.get(&format!("{ada}events/{query}")).await.expect(200).json();
    let before = history("").await;
    let shown = |page: &Value, name: &str| -> Vec<Value> {
        page["objects"].as_array().unwrap().iter().map(|event| event[name].clone()).collect()
    };
    assert_eq!(shown(&before, "sequence"), [(); 4].map(|()| Value::Null));
    let [created, updated] = ["created", "updated"].map(|name| json!([format!("candidate.{name}")]));
    assert_eq!(shown(&before, "types"), [created, updated.clone(), updated.clone(), updated]);
    assert_eq!(before["objects"][1]["data"]["changed"], json!(["phone"]));
    let page = history("?page_size=3").await;
    let next = page["meta"]["next"].as_str().unwrap();
    assert_eq!(owner.get(next).await.expect(200).json()["objects"].as_array().unwrap().len(), 1);
    // The answer to a change may be lost; the change is noted once.
    chaos.next("TransactWriteItems", Fault::AnswerLost);
    owner.patch(&ada, json!({ "phone": "4" })).await.expect(200);
    app.settle().await;
    let after = history("").await;
    assert_eq!(after["meta"]["total_count"], 5);
    assert!(shown(&after, "sequence").iter().all(Value::is_u64), "{after}");
}
