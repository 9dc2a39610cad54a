//! Many requests for the same keys at once: each key has one owner, and whoever loses learns who that is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::Response;
use tokio::task::JoinSet;

use crate::candidates::import::import;

const KEYS: usize = 10;

fn named(key: usize) -> Value {
    json!({ "first_name": "Ada", "last_name": "Byron", "external_id": format!("key {key}") })
}

/// All responses to requests that are sent at once.
async fn together(
    requests: impl IntoIterator<Item = impl Future<Output = Response> + Send + 'static>,
) -> Vec<Response> {
    requests.into_iter().collect::<JoinSet<_>>().join_all().await
}

/// The resources of a list by their keys, each of which has one.
async fn by_key(owner: &Staff, list: &str) -> BTreeMap<String, String> {
    let list = owner.get(&format!("{list}?page_size=100")).await.expect(200).json();
    let objects = list["objects"].as_array().unwrap();
    let text = |object: &Value, name: &str| object[name].as_str().unwrap().to_owned();
    let keyed: BTreeMap<_, _> =
        objects.iter().map(|one| (text(one, "external_id"), text(one, "resource_uri"))).collect();
    assert_eq!(keyed.len(), objects.len(), "{list}");
    keyed
}

/// Makes sure that each of ten keys has the one resource that all others were told of.
async fn assert_one_each(owner: &Staff, list: &str, responses: &[Response]) {
    let keyed = by_key(owner, list).await;
    assert_eq!(keyed.len(), KEYS);
    let winners: BTreeSet<_> = keyed.values().map(String::as_str).collect();
    let mut losers = BTreeMap::<String, usize>::new();
    let mut created = 0;
    for response in responses {
        match response.status.as_u16() {
            201 => created += usize::from(winners.contains(&*response.uri("resource_uri"))),
            409 => *losers.entry(response.uri("resource_uri")).or_default() += 1,
            _ => panic!("{response}"),
        }
    }
    assert_eq!(created, KEYS);
    assert!(losers.keys().all(|uri| winners.contains(&**uri)), "{losers:?} {keyed:?}");
    assert_eq!(losers.values().sum::<usize>(), responses.len() - KEYS);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_creations_with_ten_keys_leave_ten() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidates = format!("{project}candidates/");
    let responses = together((0..200).map(|number| {
        let (owner, candidates) = (owner.clone(), candidates.clone());
        async move { owner.post(&candidates, named(number % KEYS)).await }
    }))
    .await;
    assert_one_each(&owner, &candidates, &responses).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forty_projects_with_ten_keys_leave_ten() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let projects = "/companies/acme/projects/";
    let responses = together((0..40).map(|number| {
        let owner = owner.clone();
        let body = json!({ "name": "Sales", "external_id": format!("key {}", number % KEYS) });
        async move { owner.post(projects, body).await }
    }))
    .await;
    assert_one_each(&owner, projects, &responses).await;
}

/// One racer, who sets and takes keys in a project.
async fn take_part(owner: Staff, project: String, own: String, number: usize) -> Vec<Response> {
    let candidates = format!("{project}candidates/");
    let key = |step: usize| (number * 7 + step * 3) % KEYS;
    let mut responses = Vec::new();
    for step in 0..6 {
        let response = match (number + step) % 4 {
            0 => owner.patch(&own, json!({ "external_id": format!("key {}", key(step)) })).await,
            1 => owner.patch(&own, json!({ "external_id": null })).await,
            2 => {
                let created = owner.post(&candidates, named(key(step))).await;
                if created.status == 201 {
                    owner.delete(&created.uri("resource_uri")).await.expect(204);
                }
                created
            }
            _ => import(&owner, &project, None, &json!([named(key(step)), named(key(step + 1))])).await,
        };
        responses.push(response);
    }
    responses
}

#[tokio::test(flavor = "multi_thread")]
async fn renames_deletions_and_imports_at_once_leave_no_key_with_two_owners_or_without_one() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let mut racers = JoinSet::new();
    for number in 0..16 {
        let own = owner.candidate(&project, json!({})).await;
        racers.spawn(take_part(owner.clone(), project.clone(), own, number));
    }
    for response in racers.join_all().await.into_iter().flatten() {
        let body = response.json();
        match response.status.as_u16() {
            200 | 201 => {}
            // Two imports of a company run at once.
            429 => assert_eq!(body["code"], "busy"),
            409 => assert!(body["resource_uri"].as_str().unwrap().starts_with(&project), "{response}"),
            _ => panic!("{response}"),
        }
        for row in body["objects"].as_array().into_iter().flatten() {
            assert!(row["candidate"].is_string(), "whoever lost names the winner: {row}");
        }
    }
    // The end of the test checks that the markers are those of the candidates. Each key can be taken if nobody has it.
    app.assert_sound();
    let candidates = format!("{project}candidates/");
    let list = owner.get(&format!("{candidates}?page_size=100")).await.expect(200).json();
    let taken: BTreeSet<&str> =
        list["objects"].as_array().unwrap().iter().map(|one| one["external_id"].as_str().unwrap()).collect();
    for key in 0..KEYS {
        let is_taken = taken.contains(&*format!("key {key}"));
        owner.post(&candidates, named(key)).await.expect(if is_taken { 409 } else { 201 });
    }
}
