//! Recordings that are converted while their company is exported: wherever that happens, they can be played after the import.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::chaos::{Chaos, Pause};
use tests::effort;
use tests::files::put;
use tests::takes::Interviewee;
use tests::videos::film;

use super::afterwards::enter;
use super::{anyway, import_and_start, try_import};
use crate::admin::export::Archive;

/// Holds a request of an operation, the one after so many others.
pub(super) async fn hold(chaos: &Chaos, operation: &str, others: usize) -> Pause {
    let mut pause = chaos.pause(operation);
    for _ in 0..others {
        pause.reached().await;
        let next = chaos.pause(operation);
        pause.resume();
        pause = next;
    }
    pause.reached().await;
    pause
}

#[tokio::test(flavor = "multi_thread")]
async fn recordings_that_are_converted_during_an_export_can_be_played_after_the_import() {
    let queries = [Some("VIDEOS#acme"), Some("ANSWERS#acme"), None, None, None, None, None];
    for (step, query) in effort::cases(queries.into_iter().enumerate()) {
        let (app, [table, bucket]) = TestApp::start_with_storage_chaos().await;
        let owner = app.owner().await;
        let recorded = Interviewee::asked_by(owner.clone(), json!({})).await;
        app.settle().await;
        let fields = json!({
            "name": "Welcome", "upload_filename": "w.mp4", "content_type": "video/mp4", "size": film().len(),
        });
        let announced = owner.post("/companies/acme/videos/", fields).await.expect(201).json();
        assert_eq!(put(&announced, film()).await.status, 200);
        recorded.record(&[&film()]).await;
        let converted = async {
            let pause = match query {
                Some(about) => {
                    let pause = table.pause_about("Query", about);
                    pause.reached().await;
                    pause
                }
                None => hold(&bucket, "LIST", step - 2).await,
            };
            app.settle().await;
            pause.resume();
        };
        let (archive, ()) = tokio::join!(Archive::of(&app), converted);
        archive.assert_whole();
        assert_eq!(archive.manifest["media"]["missing"], 0, "at step {step}");

        let other = TestApp::start().await;
        other.clock().advance(TimeDelta::minutes(1));
        import_and_start(&other, archive.folder.path()).await;
        other.date_objects("");
        other.settle().await;
        let there = enter(&other, &owner).await;
        let answer = there.get(&recorded.answer).await.expect(200).json();
        assert_eq!(answer["status"], "successful", "at step {step}: {answer}");
        let video = there.get(announced["resource_uri"].as_str().unwrap()).await.expect(200).json();
        assert_eq!(video["video_conversion_status"], "successful", "at step {step}: {video}");
        app.leave_unsound("histories begin after the first event");
        other.leave_unsound("histories begin after the first event");
    }
}

/// Deletes the parts of takes whose keys have this end.
async fn delete_parts(app: &TestApp, end: &str) {
    let keys = app.object_keys().into_iter();
    let bucket = app.app().config().bucket.as_deref().unwrap();
    for part in keys.filter(|key| key.starts_with("takes/") && key.ends_with(end)) {
        app.app().aws().s3().delete_object().bucket(bucket).key(part).send().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_missing_part_of_a_recording_counts() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let recorded = Interviewee::asked_by(owner.clone(), json!({})).await;
    app.settle().await;
    let film = film();
    let (first, rest) = film.split_at(film.len() / 2);
    let (second, third) = rest.split_at(rest.len() / 2);
    recorded.record(&[first, second, third]).await;
    for (end, missing) in [("/0003", 1), ("/0002", 2)] {
        delete_parts(&app, end).await;
        let archive = Archive::of(&app).await;
        assert_eq!(
            (&archive.manifest["media"]["missing"], archive.media.len()),
            (&json!(missing), 3 - missing)
        );
        let other = TestApp::start().await;
        let imported = try_import(&other, archive.folder.path(), anyway()).await.unwrap();
        assert_eq!(imported.media_missing, missing as u64);
        other.leave_unsound("a file is missing");
    }
    app.leave_unsound("a file is missing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_after_the_last_one_of_a_recording_stands_for_none_that_is_missing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let recorded = Interviewee::asked_by(owner.clone(), json!({})).await;
    app.settle().await;
    let film = film();
    let (first, second) = film.split_at(film.len() / 2);
    let take = recorded.begin().await;
    for (number, part) in (1..).zip([first, second, b"too late"]) {
        assert_eq!(recorded.send(take, number, part).await.status, 200);
    }
    recorded.finish(take, Some(2), 2).await;
    delete_parts(&app, "/0002").await;
    let archive = Archive::of(&app).await;
    assert_eq!((&archive.manifest["media"]["missing"], archive.media.len()), (&json!(1), 2));
    let other = TestApp::start().await;
    let imported = try_import(&other, archive.folder.path(), anyway()).await.unwrap();
    assert_eq!(imported.media_missing, 1);
    app.leave_unsound("a file is missing");
    other.leave_unsound("a file is missing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_without_its_parts_is_refused_unless_it_may_be_missing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let recorded = Interviewee::asked_by(owner.clone(), json!({})).await;
    app.settle().await;
    recorded.record(&[&film()]).await;
    delete_parts(&app, "").await;
    let archive = Archive::of(&app).await;
    assert_eq!(archive.manifest["media"]["missing"], 1);
    let other = TestApp::start().await;
    let refused = try_import(&other, archive.folder.path(), anyway()).await.unwrap_err();
    assert!(refused.contains("waits for its conversion, and its parts are missing"), "{refused}");
    let options = super::ImportOptions { allows_missing: true, ..anyway() };
    let imported = try_import(&other, archive.folder.path(), options).await.unwrap();
    assert_eq!(imported.media_missing, 1);
    other.clock().advance(TimeDelta::minutes(1));
    super::start(&other, "acme").await;
    other.settle().await;
    let there = enter(&other, &owner).await;
    assert_eq!(there.get(&recorded.answer).await.expect(200).json()["status"], "failed");
    app.leave_unsound("a file is missing");
    other.leave_unsound("a file is missing");
}
