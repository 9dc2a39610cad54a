//! Recordings that were under way when their company was exported.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::files::put;
use tests::takes::Interviewee;
use tests::videos::film;

use super::afterwards::enter;
use super::{anyway, start, try_import};
use crate::admin::export::Archive;

#[tokio::test(flavor = "multi_thread")]
async fn recordings_that_wait_are_converted_and_open_takes_are_closed() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let finished = Interviewee::asked_by(owner.clone(), json!({})).await;
    let open = Interviewee::asked_by(owner.clone(), json!({})).await;
    app.settle().await;
    let fields = json!({
        "name": "Welcome", "upload_filename": "w.mp4", "content_type": "video/mp4", "size": film().len(),
    });
    let announced = owner.post("/companies/acme/videos/", fields).await.expect(201).json();
    let video = announced["resource_uri"].as_str().unwrap().to_owned();
    assert_eq!(put(&announced, film()).await.status, 200);
    let missing = json!({
        "name": "Late", "upload_filename": "l.mp4", "content_type": "video/mp4", "size": 9,
    });
    let missing = owner.post("/companies/acme/videos/", missing).await.expect(201).uri("resource_uri");
    finished.record(&[&film()]).await;
    let take = open.begin().await;
    assert_eq!(open.send(take, 1, &film()).await.status, 200);
    // No function has run: the file has arrived, and the take waits for its conversion.
    let archive = Archive::of(&app).await;
    assert_eq!(archive.media.len(), 3, "{:?}", archive.media);

    let other = TestApp::start().await;
    try_import(&other, archive.folder.path(), anyway()).await.unwrap();
    other.date_objects("");
    other.settle().await;
    let there = enter(&other, &owner).await;
    let shown = async |uri: &str| there.get(uri).await.expect(200).json();
    // The event of the film has come, and the company has not started.
    assert_eq!(shown(&video).await["video_conversion_status"], "awaiting-upload");
    other.clock().advance(TimeDelta::minutes(1));
    start(&other, "acme").await;
    other.settle().await;
    assert_eq!(shown(&video).await["video_conversion_status"], "successful");
    assert_eq!(shown(&finished.answer).await["status"], "successful");
    other.clock().advance(TimeDelta::days(2));
    let there = enter(&other, &owner).await;
    let shown = async |uri: &str| there.get(uri).await.expect(200).json();
    other.sweep().await;
    other.settle().await;
    assert_eq!(shown(&open.answer).await["status"], "successful");
    assert_eq!(shown(&missing).await["video_conversion_status"], "failed");
    // The creation of the videos had no number yet, so the archive lacks its entries.
    other.leave_unsound("histories begin after the first event");
}
