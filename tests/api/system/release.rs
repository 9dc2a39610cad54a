//! Serves the table of the last release as it is: `.ci/last-release` tells how it was recorded.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};

const ITEMS: &str = include_str!("../../items/last-release.json");
/// The kinds of items that this release stores.
const KINDS: [&str; 39] = [
    "answers",
    "attempt of a webhook",
    "candidate",
    "captions of a video",
    "captions of an answer",
    "company",
    "cursor of a webhook",
    "customer",
    "effect",
    "entry of a history",
    "evaluation",
    "export",
    "failed logins",
    "guest link",
    "interview",
    "keyed request",
    "label",
    "latest export",
    "legal text",
    "login",
    "logo",
    "marker of a client's key",
    "named token",
    "notice of ended interviews",
    "notice of requests for help",
    "project",
    "result",
    "round of reminders",
    "sequence of events",
    "session",
    "settings of the sign-in of staff",
    "share",
    "stalled resource of a webhook",
    "token of an exchange",
    "upload",
    "video",
    "wave of ended interviews",
    "webhook",
    "written answer",
];
/// Those of them that are not among the recorded items of the last release.
const NEW: [&str; 0] = [];

fn items() -> Vec<Value> {
    serde_json::from_str(ITEMS).unwrap()
}

/// The kinds of these items, each of which is read and can be written again without loss.
fn kinds_of(items: &[Value]) -> BTreeSet<&'static str> {
    let mut kinds = BTreeSet::new();
    for item in items {
        let read = shared::store::check(serde_dynamo::to_item(item).unwrap());
        kinds.extend(read.unwrap_or_else(|error| panic!("{error} in {item}")));
    }
    kinds
}

#[test]
fn every_item_of_the_last_release_is_read_and_written_again_without_loss() {
    let expected: BTreeSet<&str> = KINDS.into_iter().filter(|kind| !NEW.contains(kind)).collect();
    assert_eq!(kinds_of(&items()), expected);
}

/// The next release must read what this one stores of every kind.
#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_item_is_recorded_of_this_release() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    app.fill_with_everything(&owner).await;
    let contents = app.table().contents().await.into_values();
    let items: Vec<Value> = contents.map(|item| serde_dynamo::from_item(item).unwrap()).collect();
    assert_eq!(kinds_of(&items), BTreeSet::from(KINDS));
}

#[tokio::test]
async fn a_company_of_the_last_release_goes_on() {
    let app = TestApp::start().await;
    app.table().load(&items()).await;
    // The recorded items are without search entries, which are derived from candidates.
    app.operate(json!({ "command": "recount", "company": "acme" })).await.unwrap();
    let reindexed = app.operate(json!({ "command": "reindex-search", "company": "acme" })).await.unwrap();
    let reindexed = reindexed["search"].clone();
    assert_ne!(reindexed["entries"], 0);
    assert_eq!((&reindexed["added"], &reindexed["removed"]), (&reindexed["entries"], &json!(0)));
    app.assert_sound();
    let login = app.anonymous().log_in("acme", "owner", PASSWORD).await.expect(200);
    let owner = app.token(&login.uri("token"));
    let list = async |path: &str| {
        let list = owner.get(&format!("{path}?page_size=100")).await.expect(200).json();
        assert_eq!(
            list["objects"].as_array().unwrap().len() as u64,
            list["meta"]["total_count"].as_u64().unwrap()
        );
        list["objects"].as_array().unwrap().clone()
    };
    for path in ["customers/", "labels/", "videos/", "tokens/"] {
        assert!(!list(&format!("/companies/acme/{path}")).await.is_empty(), "{path}");
    }
    for project in list("/companies/acme/projects/").await {
        let uri = project["resource_uri"].as_str().unwrap();
        owner.patch(uri, json!({ "contact_person": "Ada" })).await.expect(200);
        for candidate in list(&format!("{uri}candidates/")).await {
            let uri = candidate["resource_uri"].as_str().unwrap();
            owner.patch(uri, json!({ "phone": "1" })).await.expect(200);
        }
    }
    app.settle().await;
    app.sweep().await;
}
