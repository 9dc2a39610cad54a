//! Who is told of requests for help, and of their answers.

use serde_json::json;
use tests::caller::Caller;

use super::{CONTACT, HelpFixture, WORDS, text_of};

#[tokio::test]
async fn managers_get_the_words_at_once_and_then_once_in_ten_minutes() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, owner, project, managers, evaluator, candidate } = &given;
    given.ask().await;
    app.settle().await;
    let page = owner.get(&candidate.uri).await.expect(200).uri("interview_suite_url");
    for manager in managers {
        let mails = given.told(&manager.email);
        assert_eq!(mails.len(), 1);
        assert_eq!(mails[0].subject, "Your answer is needed: Sales");
        let expected = format!(
            "Dear Col League,\n\nA candidate asks for help with an interview. On the page that the link opens, you can give more time, \
             allow another way to answer, or write back. The words below are meant for the company alone.\n\n\
             Ada Lovelace, Sales: asks for more time\n\
             > CANARY-4711: my exam is on the same day.\n> Could I have until Friday?\nAnswer here: {page}\n\n\
             You receive this email because you can answer these candidates.\n\nKind regards,\nAcme & Sons"
        );
        assert_eq!(text_of(&mails[0]).trim(), expected);
        let html = mails[0].html.as_deref().unwrap();
        assert!(html.contains(&format!("href=\"{page}\"")) && html.contains("CANARY-4711"), "{html}");
    }
    assert_eq!((given.told(&evaluator.email).len(), given.told(&owner.email).len()), (0, 0));
    // Others who ask soon afterwards are told of together.
    let [grace, mary, gone] = [
        owner.invite(project, json!({ "first_name": "Grace" })).await,
        owner.invite(project, json!({ "first_name": "Mary" })).await,
        owner.invite(project, json!({ "first_name": "Gone" })).await,
    ];
    for one in [&grace, &mary, &gone] {
        one.ask(&one.uri, "technical", "No <b>camera</b>.").await.expect(200);
    }
    app.settle().await;
    gone.delete(&format!("{}help-request/", gone.uri)).await.expect(204);
    given.after(9).await;
    assert_eq!(given.told(&managers[0].email).len(), 1);
    given.after(1).await;
    let mails = given.told(&managers[0].email);
    assert_eq!((mails.len(), mails[1].subject.as_str()), (2, "Your answer is needed: 2 candidates"));
    let text = text_of(&mails[1]);
    assert!(text.contains("Grace Lovelace, Sales: needs technical help") && text.contains("Mary"), "{text}");
    assert!(!text.contains("Gone"), "{text}");
    assert!(!mails[1].html.as_deref().unwrap().contains("<b>camera"));
    given.after(60).await;
    assert_eq!(given.told(&managers[0].email).len(), 2);
}

#[tokio::test]
async fn a_request_reaches_somebody_when_all_managers_have_notices_off() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, owner, project, managers, candidate, .. } = &given;
    for manager in managers {
        manager.patch(&manager.uri, json!({ "receive_interview_notifications": false })).await.expect(200);
    }
    // Nobody is named as contact: the owners are the last.
    given.ask().await;
    given.after(10).await;
    assert_eq!(given.told(&owner.email).len(), 1);

    owner.patch("/companies/acme/", json!({ "registration_email": CONTACT })).await.expect(200);
    candidate.ask(&candidate.uri, "time", "CANARY-4711, please.").await.expect(200);
    given.after(10).await;
    let mails = given.told(CONTACT);
    assert_eq!((mails.len(), given.told(&owner.email).len()), (1, 1));
    let text = text_of(&mails[0]);
    assert!(text.starts_with("Hello,\n") && text.contains("CANARY-4711"), "{text}");
    assert!(text.contains("no manager of the project takes notifications"), "{text}");

    // One manager is enough.
    let on = json!({ "receive_interview_notifications": true });
    managers[1].patch(&managers[1].uri, on).await.expect(200);
    candidate.ask(&candidate.uri, "time", "Is anybody there?").await.expect(200);
    app.settle().await;
    assert_eq!((given.told(CONTACT).len(), given.told(&managers[1].email).len()), (1, 1));
    // A person who has left the project before the next mail learns nothing more.
    let others = owner.invite(project, json!({})).await;
    others.ask(&others.uri, "time", "Please").await.expect(200);
    app.settle().await;
    let managers_now = json!({ "interview_managers": [managers[0].uri] });
    owner.patch(project, managers_now).await.expect(200);
    given.after(10).await;
    assert_eq!(given.told(&managers[1].email).len(), 1);
    assert!(given.waiting().await.contains(&candidate.uri));
}

#[tokio::test]
async fn the_answer_is_mailed_with_a_link_while_there_is_something_to_go_on_with() {
    let given = HelpFixture::start().await;
    let HelpFixture { app, owner, project, candidate, .. } = &given;
    given.ask().await;
    owner.answer_help(&candidate.uri, "Of course.\nUntil <Friday>.").await.expect(200);
    app.settle().await;
    let mail = app.mails_to(&candidate.email).remove(0);
    assert_eq!(mail.subject, "Acme & Sons has answered your request about your video interview for “Sales”");
    let text = text_of(&mail);
    assert!(text.contains("> Of course.\n> Until <Friday>.\n"), "{text}");
    assert!(text.contains(&candidate.key), "{text}");
    assert!(mail.html.as_deref().unwrap().contains("Until &#60;Friday&#62;."));

    // Once nothing is left to open, the mail has no link that would lead nowhere.
    let late = owner.invite(project, json!({})).await;
    owner.set_deadline(&late.uri, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    late.ask(&late.uri, "time", WORDS).await.expect(200);
    owner.answer_help(&late.uri, "Sorry, the position is filled.").await.expect(200);
    app.settle().await;
    let text = text_of(&app.mails_to(&late.email)[0]).to_owned();
    assert!(text.contains("> Sorry, the position is filled.") && !text.contains("/interview/"), "{text}");

    // Candidates whom the client mails find the answer behind the link alone.
    let own = owner.invite(project, json!({ "receive_mails": false })).await;
    own.ask(&own.uri, "time", WORDS).await.expect(200);
    owner.answer_help(&own.uri, "Until Friday.").await.expect(200);
    app.settle().await;
    assert_eq!(app.mails_to(&own.email).len(), 0);
    let told = own.get("/whoami/candidate/").await.expect(200).json();
    assert_eq!(told["help_request"]["answer"], "Until Friday.");
}
