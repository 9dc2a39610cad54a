//! Videos that fail, never arrive, arrive late or are deleted on the way.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, last_segment};
use tests::files::put;
use tests::logs;
use tests::videos::film;

use crate::videos::crud::{announced, given, read, status, uploaded};

#[tokio::test]
async fn files_without_video_fail_and_leave_nothing() {
    let (app, recruiter) = given().await;
    let whole = film();
    let hostile = [
        b"#EXTM3U\n#EXTINF:4,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n".to_vec(),
        b"<svg onload=alert(1)>".to_vec(),
        whole[..whole.len() / 3].to_vec(),
        vec![0; 100_000],
    ];
    for file in hostile {
        let uri = uploaded(&recruiter, &file).await;
        app.settle().await;
        let (status, error) = status(&recruiter, &uri).await;
        assert_eq!(status, "failed");
        assert!(error.as_str().is_some_and(|error| !error.is_empty()), "{error}");
        let video = read(&recruiter, &uri).await;
        assert_eq!(video["streams"], json!({ "mp4": "", "flv": "" }));
        assert!(app.object_keys().is_empty());
    }
}

#[tokio::test]
async fn a_video_that_never_arrives_fails_in_time_and_one_that_comes_too_late_is_deleted() {
    let (app, recruiter) = given().await;
    let video = announced(&recruiter, film().len()).await;
    let uri = video["resource_uri"].as_str().unwrap();
    app.clock().advance(TimeDelta::minutes(179));
    let recruiter = app.staff("recruiter").await;
    assert_eq!(app.sweep().await["OutboxFunction"]["uploads_given_up"], 0);
    app.clock().advance(TimeDelta::minutes(1));
    assert_eq!(app.sweep().await["OutboxFunction"]["uploads_given_up"], 1);
    let failed = (json!("failed"), json!("The file did not arrive in time. Announce and upload it again."));
    assert_eq!(status(&recruiter, uri).await, failed);
    put(&video, film()).await;
    app.settle().await;
    assert_eq!(status(&recruiter, uri).await, failed);
    assert!(app.object_keys().is_empty());
}

#[tokio::test]
async fn a_video_waits_as_long_as_its_file_is_there() {
    let (app, recruiter) = given().await;
    let uri = uploaded(&recruiter, &film()).await;
    admit(&app, &uri).await;
    // The event is lost.
    for hours in [8, 24, 24 * 20] {
        app.clock().advance(TimeDelta::hours(hours));
        let swept = app.sweep().await["OutboxFunction"].clone();
        assert_eq!((&swept["videos_queued"], &swept["uploads_given_up"]), (&json!(1), &json!(0)));
        assert_eq!(status(&app.staff("recruiter").await, &uri).await.0, "pending");
    }
    app.settle().await;
    assert_eq!(status(&app.staff("recruiter").await, &uri).await.0, "successful");
}

/// Deletes the file of a video that waits, as the rule of the bucket does after 30 days.
async fn lose_file(app: &TestApp, video: &str) {
    let bucket = app.app().config().bucket.clone().unwrap();
    let key = format!("uploads/videos/acme/{}", last_segment(video));
    app.app().aws().s3().delete_object().bucket(bucket).key(key).send().await.unwrap();
}

#[tokio::test]
async fn a_video_whose_file_is_gone_when_its_turn_comes_fails() {
    let (app, recruiter) = given().await;
    let uri = uploaded(&recruiter, &film()).await;
    admit(&app, &uri).await;
    lose_file(&app, &uri).await;
    app.settle().await;
    assert_eq!(status(&recruiter, &uri).await.0, "failed");
    assert!(app.object_keys().is_empty());
}

#[tokio::test]
async fn a_video_whose_file_is_gone_fails() {
    let (app, recruiter) = given().await;
    let uri = uploaded(&recruiter, &film()).await;
    admit(&app, &uri).await;
    lose_file(&app, &uri).await;
    app.clock().advance(TimeDelta::hours(7));
    assert_eq!(app.sweep().await["OutboxFunction"]["uploads_given_up"], 1);
    let failed = (json!("failed"), json!("The video could not be converted in time. Upload it again."));
    assert_eq!(status(&app.staff("recruiter").await, &uri).await, failed);
    app.settle().await;
    assert!(app.object_keys().is_empty());
}

#[tokio::test]
async fn a_video_that_this_computer_cannot_convert_waits() {
    let app = TestApp::start_with(&[("PATH", "/nowhere")]).await;
    let recruiter = app.staff("recruiter").await;
    let uri = uploaded(&recruiter, &film()).await;
    admit(&app, &uri).await;
    app.events().deliver_objects().await.unwrap_err();
    assert_eq!(status(&recruiter, &uri).await.0, "processing");
    let convert = async |id| {
        let mut answers = app.events().put_event(event(&uri, id)).await.unwrap();
        answers.remove("VideoConversionFunction").unwrap()
    };
    assert_eq!(convert("another").await.unwrap(), "ignored", "another execution converts it");
    for event in ["1", "2", "3", "4"] {
        app.clock().advance(TimeDelta::minutes(17));
        // No execution converts it any more, and Lambda sends an event again on which a function has failed.
        for _ in 0..2 {
            convert(event).await.unwrap_err();
        }
        app.sweep().await;
    }
    assert!(["pending", "processing"].map(Value::from).contains(&status(&recruiter, &uri).await.0));
    assert_eq!(app.object_keys().iter().filter(|key| key.starts_with("uploads/videos/")).count(), 1);
}

#[tokio::test]
async fn a_video_that_kills_its_executions_fails() {
    let (app, [table, _s3]) = TestApp::start_with_storage_chaos().await;
    let recruiter = app.staff("recruiter").await;
    let uri = uploaded(&recruiter, &film()).await;
    admit(&app, &uri).await;
    // Each is killed once it has leased the video. An event that comes again still has its turn.
    for (id, writes) in [("first", 2), ("first", 1), ("again", 2)] {
        table.cut_after_writes(writes);
        let answers = app.events().put_event(event(&uri, id)).await.unwrap();
        assert!(answers["VideoConversionFunction"].is_err());
        table.heal();
        if id == "again" || writes == 1 {
            app.clock().advance(TimeDelta::minutes(17));
        }
    }
    logs::take_lines("outbox");
    app.sweep().await;
    let lines = logs::take_lines("outbox");
    let told: Vec<_> = lines.iter().filter(|line| line["message"] == "given up").collect();
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0]["level"], &told[0]["task"]), (&json!("WARN"), &json!("conversion")));
    let failed = (json!("failed"), json!("The video could not be converted. Upload another file."));
    assert_eq!(status(&app.staff("recruiter").await, &uri).await, failed);
    app.settle().await;
    assert!(app.object_keys().is_empty());
}

/// Lets the file of the video at `uri` arrive, and the video wait for its conversion.
async fn admit(app: &TestApp, uri: &str) {
    let key = format!("uploads/videos/acme/{}", last_segment(uri));
    let detail = json!({ "bucket": { "name": "MediaBucket" }, "object": { "key": key } });
    app.put_event(json!({ "source": "aws.s3", "detail-type": "Object Created", "detail": detail })).await;
    app.events().deliver_stream().await.unwrap();
}

/// EventBridge's event about the marker of the video at `uri`.
fn event(uri: &str, id: &str) -> Value {
    let object = json!({ "key": format!("uploads/conversions/acme/{}", last_segment(uri)) });
    let detail = json!({ "bucket": { "name": "MediaBucket" }, "object": object });
    json!({ "id": id, "source": "aws.s3", "detail-type": "Object Created", "detail": detail })
}

#[tokio::test]
async fn an_event_that_comes_again_changes_nothing() {
    let (app, recruiter) = given().await;
    let uri = uploaded(&recruiter, &film()).await;
    admit(&app, &uri).await;
    // Both at once: one of them does it.
    let (one, other) = tokio::join!(
        app.events().put_event(event(&uri, "same")),
        app.events().put_event(event(&uri, "same")),
    );
    let answers =
        [one.unwrap(), other.unwrap()].map(|mut answers| answers.remove("VideoConversionFunction").unwrap());
    assert!(
        answers.iter().any(|answer| answer.as_ref().is_ok_and(|answer| answer == "applied")),
        "{answers:?}"
    );
    app.settle().await;
    let (before, keys) = (app.table().snapshot().await, app.object_keys());
    assert_eq!((status(&recruiter, &uri).await.0, keys.len()), (json!("successful"), 3));
    for id in ["same", "another"] {
        let answers = app.events().put_event(event(&uri, id)).await.unwrap();
        assert_eq!(answers["VideoConversionFunction"].as_ref().unwrap(), "ignored");
    }
    assert_eq!((app.table().snapshot().await, app.object_keys()), (before, keys));
}

#[tokio::test]
async fn a_video_that_is_deleted_leaves_nothing_whenever_that_is() {
    let (app, recruiter) = given().await;
    let waiting = uploaded(&recruiter, &film()).await;
    recruiter.delete(&waiting).await.expect(204);
    app.settle().await;
    assert!(app.object_keys().is_empty());
    recruiter.get(&waiting).await.expect(404);
    // The event was on its way.
    let answers = app.events().put_event(event(&waiting, "late")).await.unwrap();
    assert_eq!(answers["VideoConversionFunction"].as_ref().unwrap(), "ignored");

    let expected = announced(&recruiter, film().len()).await;
    recruiter.delete(expected["resource_uri"].as_str().unwrap()).await.expect(204);
    put(&expected, film()).await;
    app.settle().await;
    assert!(app.object_keys().is_empty());

    let [first, second] = [uploaded(&recruiter, &film()).await, uploaded(&recruiter, &film()).await];
    app.settle().await;
    let address = read(&recruiter, &first).await["streams"]["mp4"].clone();
    let placed = |uri: &str, position: u32| json!({ "uri": uri, "position": position });
    let project = recruiter.project(json!({ "videos": [placed(&first, 1), placed(&second, 2)] })).await;
    recruiter.delete(&first).await.expect(204);
    assert_eq!(recruiter.get(&project).await.expect(200).json()["videos"], json!([placed(&second, 2)]));
    app.anonymous().get(address.as_str().unwrap()).await.expect(404);
    assert_refusal!(recruiter.patch(&project, json!({ "videos": [placed(&first, 3)] })).await, @r#"400 {"videos":["Video [id] does not exist."]}"#);
    app.settle().await;
    let keys = app.object_keys();
    assert!(keys.len() == 3 && keys.iter().all(|key| key.contains(last_segment(&second))), "{keys:?}");
    recruiter.delete(&first).await.expect(404);
}
