//! How candidates find back to an interview that was reopened, and who learns why it was.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Invited, Staff};

use super::super::{begin, interview, project, write};
use super::{ReopeningFixture, reopening};

/// The service, its owner, and a project with an optional question that is answered in writing.
async fn given() -> (TestApp, Staff, String, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    owner.patch("/companies/acme/", json!({ "default_project_lang": "en" })).await.expect(200);
    let asked = [json!({ "text": "Why us?", "kind": "text", "is_required": false })];
    let (project, questions) = project(&owner, json!({ "max_interview_time": 30 }), &asked).await;
    let [question] = &questions[..] else { panic!("{questions:?}") };
    (app, owner, project, question.clone())
}

async fn mails(app: &TestApp, candidate: &Invited) -> Vec<[String; 2]> {
    app.settle().await;
    let mails = app.mails_to(&candidate.email);
    mails.iter().map(|mail| [mail.subject.clone(), mail.text.clone().unwrap()]).collect()
}

/// Why the key of a candidate opens nothing.
async fn end_of(candidate: &Invited) -> Value {
    candidate.get("/whoami/candidate/").await.expect(401).json()["code"].clone()
}

#[tokio::test]
async fn the_link_rests_while_the_interview_is_complete_and_then_opens_it_again() {
    let (app, owner, project, question) = given().await;
    let candidate = begin(&owner, &project).await;
    let uri = &candidate.uri;
    for _ in 0..2 {
        candidate.get(uri).await.expect(200);
        candidate.advance(uri).await.expect(200);
        for path in [uri, &format!("{uri}interview/"), "/whoami/"] {
            candidate.get(path).await.expect_code(401, "invalid_credential");
        }
        assert_eq!(end_of(&candidate).await, "interview_completed");
        let done = owner.get(uri).await.expect(200).json();
        assert_eq!([&done["activation_key"], &done["interview_key"], &done["interview_url"]], [""; 3]);
        owner.send(reopening(uri, json!({}))).await.expect(200);
    }
    write(&candidate, &question, "Because.").await.expect(201);
    let [[subject, text], ..] = &mails(&app, &candidate).await[..] else { panic!("no mail") };
    assert_eq!(subject, "You can go on with your interview for “Sales” with Acme & Sons");
    let link = format!("https://hr.example/interview/acme/{}", candidate.key);
    for part in [
        &*link,
        "Deadline: Sunday 15 November 2026 at 10:00",
        "You can change them before you complete it again.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Nothing is recorded in an interview in writing.
    assert!(!text.contains("No sound") && !text.contains("record"), "{text}");
}

#[tokio::test]
async fn candidates_with_a_password_log_in_again() {
    let (app, owner, project, question) = given().await;
    let candidate = begin(&owner, &project).await;
    let session = candidate.register().await;
    session.advance(&candidate.uri).await.expect(200);
    owner.send(reopening(&candidate.uri, json!({}))).await.expect(200);
    session.get("/whoami/").await.expect_code(401, "invalid_credential");
    assert_eq!(end_of(&candidate).await, "key_registered");
    let again = candidate.log_in().await;
    assert_eq!(interview(&again, &candidate.uri).await["status"], "interviewing");
    assert_eq!(interview(&again, &candidate.uri).await["answers"][0]["question"], question);
    let [[_, text], ..] = &mails(&app, &candidate).await[..] else { panic!("no mail") };
    assert!(
        text.contains("Log in with your password and go on with the interview before the deadline."),
        "{text}"
    );
    assert!(text.contains("https://hr.example/interview/acme/\n"), "{text}");
}

#[tokio::test]
async fn a_key_that_had_ended_is_replaced() {
    let (app, owner, project, _) = given().await;
    let candidate = begin(&owner, &project).await;
    app.abort(&candidate.uri).await;
    // The platform has reported both, in the wrong order.
    app.complete(&candidate.uri).await;
    let reopened = owner.send(reopening(&candidate.uri, json!({}))).await.expect(200).json();
    let key = reopened["interview_key"].as_str().unwrap();
    assert!(!key.is_empty() && key != candidate.key);
    assert_eq!(end_of(&candidate).await, "key_replaced");
    let again = Invited::new(&app, &candidate.uri, key, &candidate.email);
    assert_eq!(interview(&again, &candidate.uri).await["status"], "interviewing");
    let [[_, text], ..] = &mails(&app, &candidate).await[..] else { panic!("no mail") };
    assert!(text.contains(key), "{text}");
}

#[tokio::test]
async fn nothing_is_mailed_where_the_client_talks_to_the_candidate() {
    let (app, owner, project, _) = given().await;
    let silent = owner.invite(&project, json!({ "receive_mails": false })).await;
    for _ in 0..3 {
        silent.advance(&silent.uri).await.expect(200);
    }
    let reopened = owner.send(reopening(&silent.uri, json!({}))).await.expect(200).json();
    assert_eq!(reopened["interview_url"], format!("https://hr.example/interview/acme/{}", silent.key));
    assert_eq!(mails(&app, &silent).await, Vec::<[String; 2]>::new());
}

#[tokio::test]
async fn an_address_that_changed_meanwhile_takes_the_key_along() {
    let (app, owner, project, _) = given().await;
    let candidate = begin(&owner, &project).await;
    candidate.advance(&candidate.uri).await.expect(200);
    owner.patch(&candidate.uri, json!({ "email": "another@mail.example" })).await.expect(200);
    assert_eq!(end_of(&candidate).await, "key_replaced");
    let reopened = owner.send(reopening(&candidate.uri, json!({}))).await.expect(200).json();
    assert_eq!(end_of(&candidate).await, "key_replaced");
    let key = reopened["interview_key"].as_str().unwrap();
    let moved = Invited::new(&app, &candidate.uri, key, "another@mail.example");
    moved.get(&candidate.uri).await.expect(200);
    app.settle().await;
}

#[tokio::test]
async fn the_reason_is_for_managers_and_erased_with_the_candidate() {
    let given = ReopeningFixture::start().await;
    let ReopeningFixture { app, owner, evaluator, candidate, .. } = &given;
    let uri = &candidate.uri;
    assert_eq!(owner.get(uri).await.expect(200).json()["reopening"], Value::Null);
    given.reopen().await.expect(200);
    let reopening =
        json!({ "reason": "No sound.", "message": "", "reopened_at": "2026-11-08T11:00:00Z", "count": 1 });
    let data = format!("{uri}data/");
    assert_eq!(owner.get(&data).await.expect(200).json()["reopening"], reopening);
    for path in [uri, &data] {
        assert_eq!(candidate.get(path).await.expect(200).json().get("reopening"), None, "{path}");
    }
    assert_eq!(evaluator.get(uri).await.expect(200).json().get("reopening"), None);
    let events = owner.get(&format!("{uri}events/?page_size=100")).await.expect(200).json();
    assert!(!events.to_string().contains("No sound"), "{events}");
    let last = events["objects"].as_array().unwrap().last().unwrap();
    assert_eq!(last["types"], json!(["candidate.reopened"]));
    assert!(last.to_string().contains("reopening"), "{last}");
    assert!(app.table().text().await.contains("No sound"));
    owner.delete(uri).await.expect(204);
    app.settle().await;
    assert!(!app.table().text().await.contains("No sound"));
}

#[tokio::test]
async fn the_message_is_for_the_candidate_until_the_interview_is_complete_again() {
    let (app, owner, project, question) = given().await;
    let evaluator = app.staff("hiring-manager").await;
    owner.patch(&project, json!({ "evaluators": [evaluator.uri] })).await.expect(200);
    let candidate = &begin(&owner, &project).await;
    let uri = &candidate.uri;
    write(candidate, &question, "2019").await.expect(201);
    candidate.advance(uri).await.expect(200);
    let message = "The first answer has no sound.\nPlease record it once more.";
    let too_long = json!({ "message": "x".repeat(301) });
    let refused = owner.send(reopening(uri, too_long)).await;
    assert_refusal!(refused, @r#"400 {"message":["Ensure this field has no more than 300 characters."]}"#);
    let reopened = owner.send(reopening(uri, json!({ "message": message }))).await.expect(200).json();
    assert_eq!(reopened["reopening"]["message"], message);
    app.settle().await;
    let mail = app.mails_to(&candidate.email).remove(0);
    let text = mail.text.as_deref().unwrap();
    assert!(
        text.contains(
            "Acme & Sons writes to you:\n> The first answer has no sound.\n> Please record it once more.\n"
        ),
        "{text}"
    );
    assert!(!text.contains("No sound."), "the reason is for managers");
    let told = async || candidate.get("/whoami/candidate/").await.expect(200).json()["message"].clone();
    assert_eq!(told().await, message);
    for (caller, expected) in [
        (interview(candidate, uri).await, message.into()),
        (interview(&owner, uri).await, message.into()),
        (interview(&evaluator, uri).await, Value::Null),
    ] {
        assert_eq!([&caller["message"], &caller["is_reopened"]], [&expected, &json!(true)]);
    }
    candidate.advance(uri).await.expect(200);
    for shown in [interview(&owner, uri).await, interview(&evaluator, uri).await] {
        assert_eq!([&shown["message"], &shown["is_reopened"]], [&Value::Null, &json!(false)]);
    }
    // Erased with the candidate.
    owner.delete(uri).await.expect(204);
    app.settle().await;
    assert!(!app.table().text().await.contains("has no sound"));
}
