//! Which steps leave a mail to be sent, noted in the same transaction. Sending them is another matter.

use chrono::TimeDelta;
use serde_json::json;
use shared::domain::candidate::CandidateStatus::{
    self, Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped,
};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};

/// The service, its owner, and a running project in which candidates need no password.
async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    (app, owner, project)
}

/// The mails that the candidate at `uri` is still to get, in alphabetical order.
async fn mails(app: &TestApp, uri: &str) -> Vec<String> {
    let items = app.table().snapshot().await;
    let effects = items.values().filter(|item| item["sk"] == "EFFECT");
    let own = effects.filter(|effect| effect["task"]["candidate"] == last_segment(uri));
    let mut mails: Vec<_> = own.map(|effect| effect["task"]["mail"].as_str().unwrap().to_owned()).collect();
    mails.sort();
    mails
}

#[tokio::test]
async fn each_way_to_a_status_leaves_its_mails() {
    let (app, owner, project) = given().await;
    for status in CandidateStatus::ALL {
        let uri = owner.candidate_at(&project, status).await;
        let expected: &[&str] = if status == New { &[] } else { &["invitation"] };
        assert_eq!(mails(&app, &uri).await, expected, "{status:?}");
    }
}

#[tokio::test]
async fn another_chance_is_told() {
    let (app, owner, project) = given().await;
    let later = app.clock().in_days(9);

    let without_password = owner.candidate_at(&project, Expired).await;
    owner.set_deadline(&without_password, &later).await.expect(200);
    assert_eq!(mails(&app, &without_password).await, ["invitation"], "not before it can act on it");
    owner.advance(&without_password).await.expect(200);
    assert_eq!(mails(&app, &without_password).await, ["invitation", "invitation"]);

    let with_password = owner.invite(&project, json!({})).await;
    with_password.choose_password().await;
    owner.set_deadline(&with_password.uri, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    owner.set_deadline(&with_password.uri, &later).await.expect(200);
    owner.advance(&with_password.uri).await.expect(200);
    assert_eq!(mails(&app, &with_password.uri).await, ["deadline-changed", "invitation"]);

    let aborted = owner.candidate_at(&project, Aborted).await;
    owner.advance(&aborted).await.expect(200);
    assert_eq!(mails(&app, &aborted).await, ["deadline-changed", "invitation"]);
}

#[tokio::test]
async fn a_new_deadline_is_mailed_to_invited_and_confirmed_candidates() {
    let (app, owner, project) = given().await;
    for status in CandidateStatus::ALL {
        let uri = owner.candidate_at(&project, status).await;
        let before = mails(&app, &uri).await;
        let told = usize::from(matches!(status, Invited | Confirmed));
        let another = owner.set_deadline(&uri, "2026-12-24T18:00:00Z").await.expect(200).json();
        assert_eq!(mails(&app, &uri).await.len(), before.len() + told, "{status:?}");
        // The same again is no news; what is over already helps nobody.
        owner.set_deadline(&uri, "2026-12-24T18:00:00Z").await.expect_json(200, another.clone());
        owner.patch(&uri, another).await.expect(200);
        owner.set_deadline(&uri, "2026-11-08T10:00:00Z").await.expect(200);
        assert_eq!(mails(&app, &uri).await.len(), before.len() + told, "{status:?}");
        // By a change of the candidate as well, once for all that it changes.
        let both = json!({ "deadline": "2026-12-25T18:00:00Z", "phone": "1" });
        owner.patch(&uri, both).await.expect(200);
        assert_eq!(mails(&app, &uri).await.len(), before.len() + 2 * told, "{status:?}");
        owner.patch(&uri, json!({ "phone": "2" })).await.expect(200);
        assert_eq!(mails(&app, &uri).await.len(), before.len() + 2 * told, "{status:?}");
    }
}

#[tokio::test]
async fn each_reminder_is_one_mail() {
    let (app, owner, project) = given().await;
    for status in [Invited, Confirmed] {
        let uri = owner.candidate_at(&project, status).await;
        for _ in 0..2 {
            owner.remind(&uri).await.expect(200);
        }
        assert_eq!(mails(&app, &uri).await, ["invitation", "reminder", "reminder"]);
    }
}

#[tokio::test]
async fn skipped_candidates_and_candidates_without_an_address_get_no_mail() {
    let (app, owner, project) = given().await;
    let skipped = owner.candidate_at(&project, Skipped).await;
    let before = mails(&app, &skipped).await;
    owner.set_deadline(&skipped, "2026-12-24T18:00:00Z").await.expect(200);
    owner.patch(&skipped, json!({ "email": "another@mail.example" })).await.expect(200);
    owner.remind(&skipped).await.expect(400);
    owner.advance(&skipped).await.expect(400);
    assert_eq!(mails(&app, &skipped).await, before);

    for status in [Confirmed, Aborted] {
        let uri = owner.candidate_at(&project, status).await;
        let before = mails(&app, &uri).await;
        owner.patch(&uri, json!({ "email": null })).await.expect(200);
        owner.set_deadline(&uri, "2026-12-24T18:00:00Z").await.expect(200);
        if status == Aborted {
            owner.advance(&uri).await.expect(200);
        }
        assert_eq!(mails(&app, &uri).await, before, "{status:?}");
    }
}

#[tokio::test]
async fn moves_by_the_candidate_and_the_platform_send_no_mail() {
    let (app, owner, project) = given().await;
    let evaluator = app.staff("hiring-manager").await;
    let invited = owner.invite(&project, json!({ "deadline": "2026-11-08T11:00:00Z" })).await;
    invited.choose_password().await;
    invited.patch(&invited.uri, json!({ "phone": "1" })).await.expect(200);
    let interviewed = owner.candidate_at(&project, Interviewed).await;
    app.evaluate(&interviewed, &evaluator.uri, true).await;
    let interviewing = owner.candidate_at(&project, Interviewing).await;
    app.abort(&interviewing).await;
    app.clock().advance(TimeDelta::minutes(60));
    app.expire_overdue().await;
    for uri in [&invited.uri, &interviewed, &interviewing] {
        assert_eq!(mails(&app, uri).await, ["invitation"]);
    }
}
