//! How many requests about many candidates of one company run at once.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff};
use tests::chaos::{Chaos, Pause};
use tests::http::{Request, Response};

use crate::candidates::bulk::{act, request};
use crate::candidates::import::{KEY, entry, import};

/// A company with a running project, and one invited candidate for each request that is held.
async fn given() -> (TestApp, Chaos, Staff, String, [String; 2]) {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let invited = [owner.invite(&project, json!({})).await.uri, owner.invite(&project, json!({})).await.uri];
    (app, chaos, owner, project, invited)
}

fn remind(candidate: &str) -> Value {
    json!({ "action": "remind", "candidates": [candidate] })
}

fn dry_import(app: &TestApp, project: &str) -> Request {
    Request::post(&format!("{project}candidates/import/?dry_run=true")).json(&json!([entry(app, 7)]))
}

#[track_caller]
fn assert_busy(refused: &Response, seconds: &str) {
    assert_refusal!(refused, @r#"429 {"code":"busy","detail":"Two imports or actions on many candidates of this company are running. Try again after the seconds in `Retry-After`."}"#);
    assert_eq!(refused.header("retry-after"), Some(seconds));
}

#[tokio::test]
async fn two_run_at_once_and_a_third_is_told_when_to_come_again() {
    let (app, chaos, owner, project, [ada, grace]) = given().await;
    let other = owner.running_project(json!({ "allow_hash_login": true })).await;
    let stranger = app.owner_of("globex").await;
    let theirs = stranger.project(json!({})).await;
    let held: Vec<Pause> = (0..2).map(|_| chaos.pause("TransactWriteItems")).collect();
    let list = json!([entry(&app, 0)]);
    let keyed = request(&project, Some(KEY), &remind(&ada));
    let meanwhile = async {
        held[0].reached().await;
        held[1].reached().await;
        // In any project, of any kind, dry runs included.
        for refused in [
            act(&owner, &project, remind(&grace)).await,
            import(&owner, &other, None, &list).await,
            import(&owner, &other, Some("another"), &list).await,
            owner.send(dry_import(&app, &other)).await,
            act(&owner, &other, json!({ "action": "skip", "status": "new", "dry_run": true })).await,
        ] {
            assert_busy(&refused, "5");
        }
        app.clock().advance(TimeDelta::seconds(28));
        assert_busy(&act(&owner, &project, remind(&grace)).await, "2");
        app.clock().advance(TimeDelta::seconds(-28));
        // Before the slots: what is wrong with the request, and what it is a repetition of.
        act(&owner, &project, json!({ "action": "fly", "status": "new" })).await.expect(400);
        import(&owner, &project, None, &json!([])).await.expect(400);
        owner.send(keyed.clone()).await.expect_code(409, "in_progress");
        act(&app.staff("hiring-manager").await, &project, remind(&grace)).await.expect(404);
        // Other requests of the company, and other companies.
        owner.get(&format!("{project}candidates/")).await.expect(200);
        act(&stranger, &theirs, json!({ "action": "skip", "status": "new" })).await.expect(200);
        held.iter().for_each(Pause::resume);
    };
    let second = import(&owner, &other, None, &list);
    let (first, second, ()) = tokio::join!(owner.send(keyed.clone()), second, meanwhile);
    let first = first.expect(200);
    assert_eq!(second.expect(200).json()["meta"]["invited"], 1);
    // A refused request has not used its key up, and an answered one is replayed.
    let later = import(&owner, &other, Some("another"), &json!([entry(&app, 1)])).await.expect(200);
    assert_eq!(later.json()["meta"]["invited"], 1);
    assert_eq!(owner.send(keyed).await.body, first.body);
    act(&owner, &project, remind(&grace)).await.expect(200);
}

#[tokio::test]
async fn the_slot_of_a_request_that_died_is_free_after_its_time() {
    let (app, chaos, owner, project, [ada, grace]) = given().await;
    for candidate in [&ada, &grace] {
        let held = chaos.pause("TransactWriteItems");
        tokio::select! {
            _ = act(&owner, &project, remind(candidate)) => unreachable!("it is held"),
            () = held.reached() => {}
        }
    }
    assert_busy(&act(&owner, &project, remind(&ada)).await, "5");
    app.clock().advance(TimeDelta::seconds(29));
    assert_busy(&act(&owner, &project, remind(&ada)).await, "1");
    app.clock().advance(TimeDelta::seconds(1));
    for candidate in [&ada, &grace] {
        act(&owner, &project, remind(candidate)).await.expect(200);
    }
    let slots =
        |items: &tests::table::Contents| items.keys().filter(|(pk, _)| pk.starts_with("BULK#")).count();
    assert_eq!(slots(&app.table().contents().await), 1, "that of the second who died, until it expires");
}

#[tokio::test]
async fn a_request_that_fails_releases_its_slot() {
    let (app, _chaos, owner, project, [ada, _]) = given().await;
    owner.patch(&ada, json!({ "external_id": "1" })).await.expect(200);
    for _ in 0..3 {
        // Found out by a read.
        let twice = json!({ "action": "skip", "candidates": [ada, "external_id:1"] });
        act(&owner, &project, twice).await.expect(400);
    }
    let items = app.table().contents().await;
    assert!(!items.keys().any(|(pk, _)| pk.starts_with("BULK#")));
}
