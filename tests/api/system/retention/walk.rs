//! Candidates whom runs erase, each on their day.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::http::Request;

use super::{GivenCompany, counts};
use crate::system::erasure::planted::{found, plant};
use retention::RetentionSummary;

#[tokio::test]
async fn candidates_are_kept_a_day_less_and_erased_a_day_later() {
    let given = GivenCompany::start().await;
    let candidates = given.candidates(3).await;
    given.set_retention(json!({ "days": 30, "notice_days": 2 })).await;
    given.app.clock().advance(TimeDelta::days(27));
    let late = given.candidate().await;

    given.app.clock().advance(TimeDelta::days(2));
    let summary = given.app.erase_due().await;
    assert_eq!((summary.erased, summary.runs, summary.more), (0, 1, false), "on day 29");
    assert_eq!(given.last_run().await, counts(3, 0, 0, 3, 0));
    assert_eq!(given.existing(&candidates).await, [true; 3]);

    given.app.clock().advance(TimeDelta::days(2));
    let summary = given.app.erase_due().await;
    assert_eq!((summary.erased, summary.runs, summary.failed), (3, 1, 0), "on day 31");
    assert_eq!(given.last_run().await, counts(3, 3, 0, 0, 0));
    assert_eq!(given.existing(&candidates).await, [false; 3]);
    assert!(given.exists(&late).await);

    let before = given.app.table().snapshot().await;
    assert_eq!(given.app.erase_due().await, RetentionSummary::default(), "once a day");
    assert_eq!(given.app.table().snapshot().await, before);
}

#[tokio::test]
async fn an_erasure_and_a_run_are_events() {
    let given = GivenCompany::start().await;
    let candidate = given.candidate().await;
    given.set_retention(json!({ "days": 30 })).await;
    given.app.clock().advance(TimeDelta::days(10));
    given.app.erase_due().await;
    assert_eq!(given.events("retention.completed").await, [Value::Null; 0], "there was nothing to tell");

    given.app.clock().advance(TimeDelta::days(21));
    given.app.erase_due().await;
    let [erased] = &given.events("candidate.erased").await[..] else { panic!() };
    assert_eq!(
        (&erased["data"]["resource_uri"], &erased["data"]["reason"]),
        (&json!(candidate), &json!("retention"))
    );
    let [completed] = &given.events("retention.completed").await[..] else { panic!() };
    let data = &completed["data"];
    assert_eq!(data["resource_uri"], "https://hr.example/api/v3/companies/acme/retention/");
    assert_eq!(
        (&data["days"], &data["from"], &data["version"]),
        (&json!(30), &json!("last_activity"), &json!(2))
    );
    assert_eq!(data["changed"], json!(["last_run"]));
    assert_eq!(
        data["last_run"],
        json!({ "at": "2026-12-09T10:00:00Z", "looked_at": 1, "erased": 1, "held": 0, "soon": 0, "waiting": 0 })
    );
    assert_eq!(completed["by"]["kind"], "system");
}

#[tokio::test]
async fn nothing_is_erased_before_a_policy_starts() {
    let given = GivenCompany::start().await;
    let candidate = given.candidate().await;
    given.app.clock().advance(TimeDelta::days(100));
    let policy = given.set_retention(json!({ "days": 7 })).await;
    assert_eq!(policy["starts_at"], given.app.clock().in_days(7));
    for day in 1..7 {
        given.app.clock().advance(TimeDelta::days(1));
        assert_eq!(given.app.erase_due().await.erased, 0, "day {day}");
        assert_eq!(given.last_run().await, counts(1, 0, 0, 0, 1), "day {day}");
    }
    given.app.clock().advance(TimeDelta::days(1) - TimeDelta::seconds(1));
    assert_eq!(given.app.erase_due().await.erased, 0, "not a second too early");
    assert!(given.exists(&candidate).await);
    given.app.clock().advance(TimeDelta::days(1));
    assert_eq!(given.app.erase_due().await.erased, 1);
}

#[tokio::test]
async fn a_deleted_policy_erases_nobody() {
    let given = GivenCompany::start().await;
    let candidate = given.candidate().await;
    given.set_retention(json!({ "days": 7 })).await;
    given.app.clock().advance(TimeDelta::days(8));
    given.token.delete(&given.retention()).await.expect(204);
    given.app.erase_due().await;
    assert!(given.exists(&candidate).await);
    assert_eq!(given.last_run().await, counts(0, 0, 0, 0, 0));
}

#[tokio::test]
async fn a_hold_keeps_a_candidate_until_the_day_after_it_ends() {
    let given = GivenCompany::start().await;
    let candidates = given.candidates(2).await;
    given.set_retention(json!({ "days": 7 })).await;
    given.app.clock().advance(TimeDelta::days(7));
    given.hold(&candidates[0], json!(given.app.clock().in_days(3))).await;
    given.hold(&candidates[1], Value::Null).await;
    for _ in 0..3 {
        assert_eq!(given.app.erase_due().await.erased, 0);
        assert_eq!(given.last_run().await, counts(2, 0, 2, 0, 0));
        given.app.clock().advance(TimeDelta::days(1));
    }
    assert_eq!(given.app.erase_due().await.erased, 1, "the hold is over");
    assert_eq!(given.existing(&candidates).await, [false, true]);

    given.token.delete(&format!("{}hold/", candidates[1])).await.expect(204);
    assert_eq!(given.app.erase_due().await.erased, 0, "the next run decides anew");
    given.app.clock().advance(TimeDelta::days(1));
    assert_eq!(given.app.erase_due().await.erased, 1);
}

#[tokio::test]
async fn a_projects_own_retention_replaces_the_companys() {
    let given = GivenCompany::start().await;
    let [short, long] = [given.owner.project(json!({})).await, given.owner.project(json!({})).await];
    given.set_retention(json!({ "days": 30 })).await;
    for (project, days) in [(&short, json!(7)), (&long, Value::Null)] {
        let own = json!({ "days": days });
        given.token.send(Request::put(&format!("{project}retention/")).json(&own)).await.expect(200);
    }
    let candidates = [
        given.candidate_in(&short).await,
        given.candidate_in(&given.project).await,
        given.candidate_in(&long).await,
    ];
    given.app.clock().advance(TimeDelta::days(8));
    given.app.erase_due().await;
    assert_eq!(given.existing(&candidates).await, [false, true, true]);
    given.app.clock().advance(TimeDelta::days(23));
    given.app.erase_due().await;
    assert_eq!(given.existing(&candidates).await, [false, false, true]);
}

#[tokio::test]
async fn candidates_of_an_open_project_are_kept_if_days_count_from_its_close() {
    let given = GivenCompany::start().await;
    let candidate = given.owner.candidate_at(&given.project, CandidateStatus::Skipped).await;
    given.set_retention(json!({ "days": 7, "from": "project_closed" })).await;
    given.app.clock().advance(TimeDelta::days(100));
    given.app.erase_due().await;
    assert!(given.exists(&candidate).await);

    let set_status = async |status: &str| {
        given
            .token
            .patch(&format!("{}status/", given.project), json!({ "status": status }))
            .await
            .expect(200);
    };
    set_status("60-closed").await;
    given.app.clock().advance(TimeDelta::days(6));
    given.app.erase_due().await;
    set_status("40-running").await;
    given.app.clock().advance(TimeDelta::days(30));
    given.app.erase_due().await;
    assert!(given.exists(&candidate).await, "it was open again");
    set_status("60-closed").await;
    given.app.clock().advance(TimeDelta::days(8));
    given.app.erase_due().await;
    assert!(!given.exists(&candidate).await);
}

#[tokio::test]
async fn nothing_remains_of_a_person_whom_retention_erases() {
    let app = TestApp::start().await;
    let planted = plant(&app).await;
    let (_, token) = planted.owner.named_token("ATS").await;
    let policy = json!({ "days": 7 });
    token.send(Request::put("/companies/acme/retention/").json(&policy)).await.expect(200);
    app.settle().await;
    assert!(found(&app.moment()).len() > 8);
    app.clock().advance(TimeDelta::days(40));
    assert_eq!(app.erase_due().await.erased, 1);
    app.settle().await;
    token.get(&planted.candidate).await.expect(404);
    assert_eq!(found(&app.moment()), [] as [String; 0]);
}
