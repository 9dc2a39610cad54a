//! A restoration to any step of a deletion: nothing comes back for good, and the end is told once.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::domain::history::INTERVIEW_HISTORY;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::chaos::{Chaos, Fault};
use tests::effort;
use tests::moment::Moment;

use super::planted::{CANARY, PlantedCandidate, found, plant, told};
use super::{drift, erase_again};

/// The time before the restored moment whose deletions are repeated too, as `restore-table` has it.
const DELETION_LASTS: TimeDelta = TimeDelta::minutes(15);

/// The types of the last events of the candidate.
async fn end_of(planted: &PlantedCandidate) -> Vec<String> {
    let events = told(planted).await;
    let types = events.iter().flat_map(|event| event["types"].as_array().unwrap().clone());
    let types: Vec<String> = types.map(|name| name.as_str().unwrap().to_owned()).collect();
    types[types.len() - 2..].to_vec()
}

/// Has everything tried again that waits for no longer than this.
async fn sweep_after(app: &TestApp, time: TimeDelta) {
    app.clock().advance(time);
    app.sweep().await;
    app.settle().await;
}

/// Takes everything back to each of these moments, and makes sure that the candidate is forgotten each time.
async fn assert_forgotten_since(app: &TestApp, planted: &PlantedCandidate, moments: Vec<Moment>) {
    for (step, moment) in moments.iter().enumerate() {
        app.clock().advance(TimeDelta::minutes(1));
        // The numbers that are lost would otherwise be missing.
        app.operate(json!({ "command": "advance-sequence", "company": "acme" })).await.unwrap();
        app.take_back_to(moment).await;
        drift(app).await;
        let since = (moment.at - DELETION_LASTS).to_rfc3339();
        assert_eq!(erase_again(app, &since).await["kept"], json!([]), "step {step}");
        assert_eq!(drift(app).await, json!([]), "step {step}");
        app.settle().await;
        // Events that come back without a number are not new to the stream.
        sweep_after(app, TimeDelta::minutes(47)).await;
        assert_eq!(found(&app.moment()), [] as [String; 0], "step {step}");
        let histories = app.table().snapshot().await;
        let stripped = histories.iter().filter(|((pk, _), _)| pk.ends_with(planted.id()));
        for (key, entry) in stripped.filter(|(_, entry)| entry["change"]["types"][0] != "candidate.erased") {
            assert_eq!(entry["change"]["details"], json!({}), "step {step}: {key:?}");
        }
        // For ten minutes, the numbers that were left out could be some that the index does not show yet.
        app.clock().advance(TimeDelta::minutes(11));
        let events = told(planted).await;
        let erased: Vec<&Value> =
            events.iter().filter(|event| event["types"] == json!(["candidate.erased"])).collect();
        assert_eq!(erased.len(), 1, "step {step}: {events:?}");
        assert_eq!(end_of(planted).await, ["candidate.deleted", "candidate.erased"], "step {step}");
        app.assert_sound();
        app.assert_files_sound().await;
    }
}

#[tokio::test]
async fn a_restoration_to_any_step_of_a_deletion_forgets_it_all() {
    let (app, proxies) = TestApp::start_with_storage_chaos().await;
    let [_, s3] = &proxies;
    let planted = plant(&app).await;
    // The entries of the history, which have the client's key, are stripped at once.
    let left_in = |moment: &Moment| found(moment).iter().filter(|key| !key.contains("HISTORY#")).count();
    let planted_words = left_in(&app.moment());
    assert!(planted_words > 8, "{:?}", found(&app.moment()));
    let (moments, began) = (app.note_moments(&proxies), app.moment().at);
    planted.owner.delete(&planted.candidate).await.expect(204);
    for operation in ["LIST", "PUT", "DELETE", "DELETE"] {
        s3.always(operation, Fault::Unreachable);
        app.settle().await;
        sweep_after(&app, TimeDelta::minutes(10)).await;
        s3.heal();
    }
    sweep_after(&app, TimeDelta::minutes(40)).await;
    let moments = moments.take();
    // The number of moments varies, since requests that run at once can be noted as one; their steps do not.
    let mut left: Vec<usize> = moments.iter().map(left_in).collect();
    left.dedup();
    assert_eq!(left, [planted_words, 6, 5, 4, 3, 1, 0]);
    assert!(moments.iter().any(|moment| moment.at - began > TimeDelta::minutes(20)));
    assert_eq!(found(&app.moment()), [] as [String; 0]);
    assert_forgotten_since(&app, &planted, effort::cases(moments)).await;
}

/// Lets the process die after each write to one of the storages in turn.
async fn assert_same_end(kills: impl Fn(&[Chaos; 2]) -> &Chaos) {
    let (app, proxies) = TestApp::start_with_storage_chaos().await;
    let mut undisturbed: Option<Value> = None;
    for writes in effort::numbers(3) {
        let planted = plant(&app).await;
        planted.owner.delete(&planted.candidate).await.expect(204);
        let killed = kills(&proxies);
        killed.cut_after_writes(writes);
        // A run that is killed may answer nothing.
        let _ = app.events().deliver_stream().await;
        let left = killed.left();
        killed.heal();
        sweep_after(&app, TimeDelta::minutes(50)).await;
        let events = told(&planted).await;
        let last = events.last().unwrap()["data"].clone();
        assert_eq!(end_of(&planted).await, ["candidate.deleted", "candidate.erased"], "{writes}");
        assert_eq!(found(&app.moment()), [] as [String; 0], "{writes}");
        let told = json!([last["reason"], last["erased"]]);
        assert_eq!(undisturbed.get_or_insert_with(|| told.clone()), &told, "{writes}");
        if left > Some(0) {
            let counted = &told[1];
            assert_eq!((&counted["evaluations"], &counted["files"]), (&json!(2), &json!(4)), "{told}");
            return;
        }
    }
}

#[tokio::test]
async fn an_effect_that_dies_at_any_write_to_the_table_ends_as_if_it_had_not() {
    assert_same_end(|[dynamodb, _]| dynamodb).await;
}

#[tokio::test]
async fn an_effect_that_dies_at_any_write_to_the_bucket_ends_as_if_it_had_not() {
    assert_same_end(|[_, s3]| s3).await;
}

#[tokio::test]
async fn a_file_that_comes_while_the_rest_is_erased_is_erased_and_counted_as_well() {
    let (app, proxies) = TestApp::start_with_storage_chaos().await;
    let [_, s3] = &proxies;
    let planted = plant(&app).await;
    let keys: Vec<_> = app.table().snapshot().await.into_keys().collect();
    let of_interview = keys.iter().filter(|(pk, _)| pk.ends_with(INTERVIEW_HISTORY)).count() as u64;
    planted.owner.delete(&planted.candidate).await.expect(204);
    let late = format!("media/acme/candidates/{}/{}/late", last_segment(&planted.project), planted.id());
    let pause = s3.pause("DELETE");
    let arrive = async {
        pause.reached().await;
        let bucket = app.app().config().bucket.as_deref().unwrap();
        let put = app.app().aws().s3().put_object().bucket(bucket).key(late);
        put.body(CANARY.as_bytes().to_vec().into()).send().await.unwrap();
        pause.resume();
    };
    tokio::join!(app.settle(), arrive);
    assert_eq!(end_of(&planted).await[1], "candidate.deleted", "it is not complete");
    sweep_after(&app, TimeDelta::minutes(50)).await;
    assert_eq!(found(&app.moment()), [] as [String; 0]);
    assert_eq!(end_of(&planted).await, ["candidate.deleted", "candidate.erased"]);
    let told = told(&planted).await;
    let counted = &told.last().unwrap()["data"]["erased"];
    assert_eq!((&counted["evaluations"], &counted["files"]), (&json!(2), &json!(5)), "{counted}");
    assert_eq!(
        counted["history_entries"],
        // All before the last one, and those of the interview.
        json!(told.last().unwrap()["data"]["version"].as_u64().unwrap() - 1 + of_interview)
    );
}
