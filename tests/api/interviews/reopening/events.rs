//! Reports of the platform about an interview that was reopened.

use serde_json::{Value, json};
use shared::event::RecordOutcome;
use tests::platform::event;

use super::ReopeningFixture;

#[tokio::test]
async fn reports_count_from_the_second_after_the_reopening() {
    for (kind, expected) in [("interview.completed", "interviewed"), ("interview.aborted", "aborted")] {
        let given = ReopeningFixture::start().await;
        given.reopen().await.expect(200);
        let report = |time: &str| event(kind, time, json!({ "candidate": given.candidate.uri }));
        let apply = async |event: &Value| given.app.report(event.clone()).await.unwrap();
        for time in ["2026-11-08T10:30:00Z", "2026-11-08T10:59:59Z", "2026-11-08T11:00:00Z"] {
            let late = report(time);
            for _ in 0..2 {
                assert_eq!(apply(&late).await, RecordOutcome::Ignored, "{kind} {time}");
            }
            assert_eq!(given.status().await, "interviewing");
        }
        let next = report("2026-11-08T11:00:01Z");
        assert_eq!(apply(&next).await, RecordOutcome::Applied, "{kind}");
        assert_eq!(apply(&next).await, RecordOutcome::Duplicate, "{kind}");
        assert_eq!(given.status().await, expected);
    }
}

#[tokio::test]
async fn a_late_report_does_not_complete_an_interview_that_was_aborted_since() {
    let given = ReopeningFixture::start().await;
    given.reopen().await.expect(200);
    let about = json!({ "candidate": given.candidate.uri });
    let aborted = event("interview.aborted", "2026-11-08T11:00:05Z", about.clone());
    assert_eq!(given.app.report(aborted).await.unwrap(), RecordOutcome::Applied);
    let late = event("interview.completed", "2026-11-08T10:40:00Z", about);
    assert_eq!(given.app.report(late).await.unwrap(), RecordOutcome::Ignored);
    assert_eq!(given.status().await, "aborted");
}
