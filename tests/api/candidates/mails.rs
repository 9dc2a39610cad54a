//! Mails to candidates, beyond their link.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::caller::Caller;

#[tokio::test]
async fn an_invitation_tells_how_long_the_interview_takes_and_answers_reach_the_company() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "interview_platform": "builtin" })).await;
    for seconds in [120, 300] {
        let question = json!({ "text": "Why us?", "answer_seconds": seconds });
        owner.post(&format!("{project}questions/"), question).await.expect(201);
    }
    let first = owner.invite(&project, json!({})).await;
    app.settle().await;
    let mail = app.mails_to(&first.email).remove(0);
    let text = mail.text.as_deref().unwrap();
    assert!(text.contains("It has 2 questions and takes about 15 minutes."), "{text}");
    assert!(mail.reply_to.is_empty());

    owner.patch("/companies/acme/", json!({ "registration_email": "jobs@acme.example" })).await.expect(200);
    let second = owner.invite(&project, json!({})).await;
    app.settle().await;
    let mail = app.mails_to(&second.email).remove(0);
    assert_eq!(mail.reply_to, ["jobs@acme.example"]);
    assert!(mail.text.as_deref().unwrap().contains("please contact jobs@acme.example"));
    let alias = json!({ "email_alias": "sales@acme.example", "interview_platform": "external" });
    let elsewhere = owner.running_project(alias).await;
    let third = owner.invite(&elsewhere, json!({})).await;
    app.settle().await;
    let mail = app.mails_to(&third.email).remove(0);
    assert_eq!(mail.reply_to, ["sales@acme.example"]);
    let text = mail.text.as_deref().unwrap();
    assert!(text.contains("please contact sales@acme.example") && !text.contains("minutes"), "{text}");

    // The mail about a forgotten password has them as well.
    third.register().await;
    let forgotten = json!({ "company": "acme", "username": third.email });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    app.settle().await;
    let mail = app.mails_to(&third.email).remove(0);
    assert!(mail.text.as_deref().unwrap().contains("/reset-password/"));
    assert_eq!(mail.reply_to, ["sales@acme.example"]);

    // Staff have no company to ask about their own accounts.
    let colleague = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    assert!(app.mails_to(&colleague.email).remove(0).reply_to.is_empty());
    colleague.activate().await;
    app.clock().advance(TimeDelta::minutes(5));
    let forgotten = json!({ "company": "acme", "username": colleague.email });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    app.settle().await;
    let mail = app.mails_to(&colleague.email).remove(0);
    assert!(mail.text.as_deref().unwrap().contains("/reset-password/"));
    assert!(mail.reply_to.is_empty(), "{:?}", mail.reply_to);
}

#[tokio::test]
async fn a_mail_about_the_passwords_of_several_projects_is_from_none_of_them() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let senders = json!({ "command": "verify-senders", "company": "acme", "senders": ["acme.example"] });
    app.operate(senders).await.unwrap();
    owner.patch("/companies/acme/", json!({ "registration_email": "jobs@acme.example" })).await.expect(200);
    let email = app.next_email();
    for alias in ["sales@acme.example", "support@acme.example"] {
        let project = owner.running_project(json!({ "email_alias": alias })).await;
        owner.invite(&project, json!({ "email": email })).await.choose_password().await;
    }
    let forgotten = json!({ "company": "acme", "username": email });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    app.settle().await;
    let mail = app.mails_to(&email).remove(0);
    assert_eq!(mail.text.as_deref().unwrap().matches("/reset-password/").count(), 2);
    assert_eq!(mail.source, "\"Acme & Sons\" <interviews@localhost.example>");
    assert_eq!(mail.reply_to, ["jobs@acme.example"]);
}
