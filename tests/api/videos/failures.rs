//! Videos that fail, never arrive, arrive late or are deleted on the way.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, last_segment};
use tests::files::put;
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
async fn a_video_that_this_computer_cannot_convert_fails_in_the_end() {
    let app = TestApp::start_with(&[("PATH", "/nowhere")]).await;
    let recruiter = app.staff("recruiter").await;
    let uri = uploaded(&recruiter, &film()).await;
    app.events().deliver_objects().await.unwrap_err();
    assert_eq!(status(&recruiter, &uri).await.0, "processing");
    let again = async |id| {
        let mut answers = app.events().put_event(event(&uri, id)).await.unwrap();
        answers.remove("VideoConversionFunction").unwrap()
    };
    assert_eq!(again("another").await.unwrap(), "ignored", "somebody is at it");
    app.clock().advance(TimeDelta::minutes(16));
    // Nobody is at it any more; and Lambda sends an event again on which a function has failed.
    for _ in 0..2 {
        again("another").await.unwrap_err();
        assert_eq!(status(&recruiter, &uri).await.0, "processing");
    }
    app.clock().advance(TimeDelta::hours(7));
    let recruiter = app.staff("recruiter").await;
    assert_eq!(app.sweep().await["OutboxFunction"]["uploads_given_up"], 1);
    let failed = (json!("failed"), json!("The video could not be converted in time. Upload it again."));
    assert_eq!(status(&recruiter, &uri).await, failed);
    app.settle().await;
    assert!(app.object_keys().is_empty());
}

/// What EventBridge tells of the marker of the video at `uri`.
fn event(uri: &str, id: &str) -> Value {
    let object = json!({ "key": format!("uploads/admitted/acme/{}", last_segment(uri)) });
    let detail = json!({ "bucket": { "name": "MediaBucket" }, "object": object });
    json!({ "id": id, "source": "aws.s3", "detail-type": "Object Created", "detail": detail })
}

#[tokio::test]
async fn an_event_that_comes_again_changes_nothing() {
    let (app, recruiter) = given().await;
    let uri = uploaded(&recruiter, &film()).await;
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
