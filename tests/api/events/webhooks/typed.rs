//! Each type of events, sent to a webhook and compared with what the OpenAPI document says of it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use export_writer::InvocationLimits;
use serde_json::{Value, json};
use shared::domain::history::EventType;
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::document::written;
use tests::http::Request;
use tests::issuer::{CLIENT, CLIENT_SECRET, SigningAlgorithm, SigningKey, TestIssuer};
use tests::schema::Schemas;
use tests::takes::Interviewee;
use tests::videos::{film, recorded};

use super::endpoint::{TestEndpoint, hook, pass};
use crate::system::undeliverable::{bounced, put};
use crate::videos::crud::uploaded;

/// Reaches no webhook of its company: nothing is sent of a company that is deleted.
const UNREACHABLE: [&str; 1] = ["company.deleted"];

/// The document, and the schema of what each type's webhook is sent.
fn documented() -> (Value, BTreeMap<String, String>) {
    let document: Value = serde_json::from_str(&written().unwrap()).unwrap();
    let of_types = document["webhooks"].as_object().unwrap().iter().map(|(name, webhook)| {
        let schema = webhook.pointer("/post/requestBody/content/application~1json/schema/$ref").unwrap();
        (name.clone(), schema.as_str().unwrap().rsplit('/').next().unwrap().to_owned())
    });
    let of_types = of_types.collect();
    (document, of_types)
}

fn types(event: &Value) -> impl Iterator<Item = &str> {
    event["types"].as_array().unwrap().iter().filter_map(Value::as_str)
}

async fn candidates(app: &TestApp, owner: &Staff) {
    let project = owner.running_project(json!({ "external_id": "REQ-8", "evaluators": [owner.uri] })).await;
    for change in [json!({ "name": "Sales" }), json!({ "evaluators": [] })] {
        owner.patch(&project, change).await.expect(200);
    }
    let ada = owner.invite(&project, json!({ "external_id": "4712" })).await;
    app.settle().await;
    assert_eq!(put(app, bounced(app, &ada.email, "Permanent")).await, "applied");
    let person = owner.colleague("recruiter", json!({})).await;
    let share = json!({ "customer": person.uri });
    let share = owner.post(&format!("{}shares/", ada.uri), share).await.expect(201).uri("resource_uri");
    owner.delete(&share).await.expect(204);
    let hold = Request::put(&format!("{}hold/", ada.uri)).json(&json!({ "reason": "A lawsuit." }));
    owner.send(hold).await.expect(200);
    owner.delete(&format!("{}hold/", ada.uri)).await.expect(204);
    let legal = json!({ "kind": "consent", "texts": { "en": "I agree." } });
    let legal = owner.post("/companies/acme/legal/", legal).await.expect(201).json();
    let consent = format!("{}consents/consent/", ada.uri);
    let given = json!({ "version": legal["version"], "language": "en" });
    owner.send(Request::put(&consent).json(&given)).await.expect(200);
    owner.delete(&consent).await.expect(204);
    let erasure = format!("{}erasure-request/", ada.uri);
    ada.send(Request::put(&erasure)).await.expect(200);
    owner.delete(&erasure).await.expect(204);
    owner.delete(&ada.uri).await.expect(204);
}

/// One answer that can be played, and one that cannot.
async fn answers(owner: &Staff) {
    let how = "-f lavfi -i testsrc2=s=64x48:r=5:d=2 -f lavfi -i sine=d=2 -c:v libvpx -deadline realtime -cpu-used 8 -c:a libopus";
    let person = Interviewee::asked_by(owner.clone(), json!({})).await;
    let take = person.record(&[&recorded(how, "webm")]).await;
    person.caption(take, "en", "WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n").await.expect(200);
    let person = Interviewee::asked_by(owner.clone(), json!({})).await;
    person.record(&[b"no film"]).await;
}

async fn staff(app: &TestApp, owner: &Staff) {
    let colleague = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    colleague.activate().await;
    owner.patch(&colleague.uri, json!({ "position": "Lead" })).await.expect(200);
    let listed = owner.get("/companies/acme/customers/?page_size=100").await.expect(200).json();
    let mut all = listed["objects"].as_array().unwrap().clone();
    for one in &mut all {
        one["pk_attribute"] = json!("username");
    }
    let others = all.iter().filter(|one| one["resource_uri"] != json!(colleague.uri)).cloned().collect();
    // Customers who are missing from a list are deactivated, and activated by the next one that has them.
    for list in [others, all] {
        owner.post("/companies/acme/customers/batch-import/", Value::Array(list)).await.expect(200);
    }
    owner.delete(&colleague.uri).await.expect(204);
}

async fn things(app: &TestApp, owner: &Staff) {
    let label = owner.label("Principal").await;
    owner.patch(&label, json!({ "text": "Staff" })).await.expect(200);
    owner.delete(&label).await.expect(204);
    let token = owner.post("/companies/acme/tokens/", json!({ "name": "Report" })).await.expect(201);
    owner.delete(&token.uri("resource_uri")).await.expect(204);
    let video = uploaded(owner, &film()).await;
    uploaded(owner, b"no film").await;
    app.settle().await;
    owner.patch(&video, json!({ "name": "Hello" })).await.expect(200);
    owner.delete(&video).await.expect(204);
    owner.patch("/companies/acme/", json!({ "city": "London" })).await.expect(200);
    let issuer = TestIssuer::start(&[&SigningKey::new("first", SigningAlgorithm::Es256)]).await;
    let provider = json!({
        "issuer": issuer.url, "client_id": CLIENT, "client_secret": CLIENT_SECRET, "domains": ["acme.example"],
    });
    owner.again().await.send(Request::put("/companies/acme/sign-in/").json(&provider)).await.expect(200);
    app.write_exports(InvocationLimits::SCHEDULED).await.unwrap();
    let exports = owner.get("/companies/acme/exports/").await.expect(200).json();
    owner.delete(exports["objects"][0]["resource_uri"].as_str().unwrap()).await.expect(204);
    let other = super::webhook(owner, json!({})).await;
    for change in [json!({ "description": "Payroll" }), json!({ "is_enabled": false })] {
        owner.patch(&other, change).await.expect(200);
    }
    owner.delete(&other).await.expect(204);
}

#[tokio::test]
async fn what_is_sent_of_each_type_fits_the_schemas_of_its_types() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let webhook = hook(&owner, &endpoint, json!({})).await;
    owner.post(&format!("{webhook}ping/"), json!({})).await.expect(202);
    app.fill_with_everything(&owner).await;
    candidates(&app, &owner).await;
    answers(&owner).await;
    staff(&app, &owner).await;
    things(&app, &owner).await;
    app.settle().await;
    let policy = json!({ "days": 7, "from": "last_activity" });
    owner.send(Request::put("/companies/acme/retention/").json(&policy)).await.expect(200);
    app.clock().advance(TimeDelta::days(30));
    app.erase_due().await;
    app.settle().await;
    pass(&app, [1; 3]).await;

    let (document, schemas) = documented();
    let checked = Schemas::of(&document);
    let mut reached = BTreeSet::new();
    let mut problems = BTreeSet::new();
    for arrival in endpoint.arrivals() {
        for name in types(&arrival.event) {
            reached.insert(name.to_owned());
            problems.extend(checked.problems(&schemas[name], &arrival.event));
        }
        problems.extend(checked.problems("FeedEvent", &arrival.event));
    }
    assert!(problems.is_empty(), "{problems:#?}");
    let missed = EventType::ALL.map(EventType::as_str).into_iter().filter(|name| !reached.contains(*name));
    assert_eq!(missed.collect::<Vec<_>>(), UNREACHABLE);
}

#[test]
fn each_example_fits_the_schemas_of_its_types() {
    let (document, schemas) = documented();
    let checked = Schemas::of(&document);
    for (name, webhook) in document["webhooks"].as_object().unwrap() {
        let example = webhook.pointer("/post/requestBody/content/application~1json/example").unwrap();
        assert!(types(example).any(|one| one == name), "{name}: {example}");
        let problems = types(example).flat_map(|one| checked.problems(&schemas[one], example));
        assert_eq!(problems.collect::<Vec<_>>(), Vec::<String>::new(), "{name}");
    }
}
