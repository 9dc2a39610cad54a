//! Events tell the client's keys, so that receivers need not ask whose they are.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::auth::SystemAccess;
use shared::domain::answers::Answers;
use shared::domain::media::conversion::Conversion;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::logs;
use tests::takes::Interviewee;

use super::feed::read_all;
use super::webhooks::endpoint::{TestEndpoint, hook};

/// The types of events with the keys that they tell.
fn told(events: &[Value]) -> Vec<(&str, Option<&str>, Option<&str>)> {
    events
        .iter()
        .map(|event| {
            let data = &event["data"];
            let key = |name: &str| data.get(name).map(|key| key.as_str().unwrap());
            (event["type"].as_str().unwrap(), key("external_id"), key("project_external_id"))
        })
        .collect()
}

#[tokio::test]
async fn events_have_the_keys_of_their_moment() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    hook(&owner, &endpoint, json!({})).await;
    let project = owner.project(json!({ "external_id": "REQ-1" })).await;
    let [ada, grace] = [
        owner.candidate(&project, json!({ "external_id": "one" })).await,
        owner.candidate(&project, json!({})).await,
    ];
    app.settle().await;
    owner.patch(&ada, json!({ "external_id": "two" })).await.expect(200);
    owner.patch(&ada, json!({ "phone": "1" })).await.expect(200);
    owner.patch(&project, json!({ "external_id": "REQ-2" })).await.expect(200);
    app.settle().await;
    owner.patch(&ada, json!({ "external_id": null })).await.expect(200);
    owner.patch(&grace, json!({ "external_id": "two" })).await.expect(200);
    owner.post(&format!("{project}questions/"), json!({ "text": "Why us?" })).await.expect(201);
    app.settle().await;
    owner.patch(&project, json!({ "external_id": "" })).await.expect(200);
    owner.patch(&grace, json!({ "phone": "1" })).await.expect(200);
    app.settle().await;

    let of = async |uri: &str| read_all(&owner, &format!("resource={uri}")).await;
    let events = of(&ada).await;
    assert_eq!(
        told(&events),
        [
            ("candidate.created", Some("one"), Some("REQ-1")),
            ("candidate.updated", Some("two"), Some("REQ-2")),
            ("candidate.updated", Some("two"), Some("REQ-2")),
            ("candidate.updated", None, Some("REQ-2")),
        ]
    );
    assert_eq!(events[1]["data"]["changed"], json!(["external_id"]), "its name alone");
    assert_eq!(events[1]["data"]["previous"], json!({}));
    assert_eq!(
        told(&of(&grace).await),
        [
            ("candidate.created", None, Some("REQ-1")),
            ("candidate.updated", Some("two"), Some("REQ-2")),
            ("candidate.updated", Some("two"), None),
        ]
    );
    let of_project = of(&project).await;
    assert_eq!(
        told(&of_project),
        [
            ("project.created", Some("REQ-1"), None),
            ("project.updated", Some("REQ-2"), None),
            ("project.updated", Some("REQ-2"), None),
            ("project.updated", None, None),
        ]
    );
    let others =
        [&owner.uri, "https://hr.example/api/v3/companies/acme/"].map(|uri| format!("resource={uri}"));
    for others in others {
        assert!(told(&read_all(&owner, &others).await).iter().all(|(_, own, of)| own.or(*of).is_none()));
    }
    // The history of the candidate shows them as well, and webhooks are sent what the feed shows.
    let history = owner.get(&format!("{ada}events/")).await.expect(200).json();
    assert_eq!(told(history["objects"].as_array().unwrap()), told(&events));
    endpoint.assert_has_all(&owner, "").await;
}

#[tokio::test]
async fn a_deletion_tells_the_key_until_the_erasure_has_taken_it_from_everywhere() {
    const KEY: &str = "Wintergoldhähnchen";
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({ "external_id": "REQ-1" })).await;
    let ada = owner.candidate(&project, json!({ "external_id": KEY })).await;
    app.settle().await;
    let where_found = || {
        let items = app.items().into_iter().filter(|item| item.to_string().contains(KEY));
        items
            .map(|item| item["sk"].as_str().map_or_else(|| item["sk"]["S"].to_string(), str::to_owned))
            .collect::<Vec<_>>()
    };
    owner.delete(&ada).await.expect(204);
    // The key is in the two events; the candidate is gone, and the marker of the key never held it.
    assert_eq!(where_found().len(), 2, "{:?}", where_found());
    app.settle().await;
    assert_eq!(where_found(), [""; 0]);
    let events = read_all(&owner, &format!("resource={ada}")).await;
    assert_eq!(
        told(&events),
        [
            ("candidate.created", None, Some("REQ-1")),
            ("candidate.deleted", None, Some("REQ-1")),
            ("candidate.erased", None, Some("REQ-1")),
        ]
    );
    // No line of the log has ever had it.
    owner.get(&format!("{project}candidates/?external_id={KEY}")).await.expect(200);
    assert!(!logs::take_lines("request").iter().any(|line| format!("{line:?}").contains(KEY)));
}

/// Has the conversion of a take fail, as the function that converts takes would note it.
async fn fail_conversion(app: &TestApp, person: &Interviewee, take: u64) {
    let system = SystemAccess::of(app.app());
    let [project, candidate] = [2, 0].map(|from_end| {
        let segments: Vec<&str> = person.candidate.uri.trim_end_matches('/').rsplit('/').collect();
        segments[from_end].to_owned()
    });
    let (company, project) = ("acme".parse().unwrap(), project.parse().unwrap());
    let answers = system.store.answers(&company, project, candidate.parse().unwrap()).await.unwrap().unwrap();
    let (of, _) = answers.takes().find(|(of, _)| u64::from(of.number) == take).unwrap();
    let after =
        Answers::clone(&answers).with_take(of, |take| take.end_conversion(Conversion::failed("Broken.")));
    system.commit(system.store.update_answers(&answers, &after, system.now)).await.unwrap();
}

#[tokio::test]
async fn events_of_an_interview_tell_whose_it_is() {
    let app = TestApp::start().await;
    let person = Interviewee::asked(&app, json!({})).await;
    let owner = &person.owner;
    let candidate = &*person.candidate.uri;
    let project = candidate.split("candidates/").next().unwrap();
    owner.patch(candidate, json!({ "external_id": "Wiedehopf" })).await.expect(200);
    owner.patch(project, json!({ "external_id": "REQ-1" })).await.expect(200);
    let take = person.record(&[b"part"]).await;
    fail_conversion(&app, &person, take).await;
    app.settle().await;
    let interview = format!("resource={candidate}interview/");
    let events = read_all(owner, &interview).await;
    assert_eq!(told(&events), [("answer.failed", Some("Wiedehopf"), Some("REQ-1"))]);
    owner.delete(candidate).await.expect(204);
    app.settle().await;
    app.clock().advance(TimeDelta::hours(1));
    app.sweep().await;
    app.settle().await;
    let events = read_all(&owner.new_token().await, &interview).await;
    assert_eq!(told(&events), [("answer.failed", None, Some("REQ-1"))]);
    assert!(!app.items().iter().any(|item| item.to_string().contains("Wiedehopf")));
}
