//! The language of a candidate's mails and page.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::send_each;
use tests::{assert_refusal, assert_refusals};

/// The service, its owner, and a German project.
async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "support_lang": "de", "allow_hash_login": true })).await;
    (app, owner, project)
}

async fn language_of(owner: &Staff, uri: &str) -> Value {
    owner.get(uri).await.expect(200).json()["language"].clone()
}

#[tokio::test]
async fn mails_follow_the_candidate_and_else_the_project() {
    let (app, owner, project) = given().await;
    let german = owner.invite(&project, json!({})).await;
    let french = owner.invite(&project, json!({ "language": "fr" })).await;
    app.settle().await;
    let subject = |email: &str| app.mails_to(email)[0].subject.clone();
    assert!(subject(&german.email).contains("lädt Sie"), "{}", subject(&german.email));
    assert!(subject(&french.email).contains("vous invite"), "{}", subject(&french.email));
    assert_eq!(language_of(&owner, &german.uri).await, Value::Null);
    // The page learns of it, and candidates keep it out of their own changes.
    let whoami = french.get("/whoami/candidate/").await.expect(200).json();
    assert_eq!((&whoami["language"], &whoami["project"]["support_lang"]), (&json!("fr"), &json!("de")));
    french.patch(&french.uri, json!({ "language": "nl" })).await.expect(200);
    assert_eq!(language_of(&owner, &french.uri).await, "fr");

    // Another one holds from the next mail on, and none is the project's again.
    let changed = owner.patch(&french.uri, json!({ "language": "it" })).await.expect(200).json();
    assert_eq!(changed["language"], "it");
    owner.remind(&french.uri).await.expect(200);
    app.settle().await;
    assert!(subject(&french.email).starts_with("Promemoria"), "{}", subject(&french.email));
    owner.patch(&french.uri, json!({ "language": null })).await.expect(200);
    owner.remind(&french.uri).await.expect(200);
    app.settle().await;
    assert!(subject(&french.email).starts_with("Erinnerung"), "{}", subject(&french.email));
    // The history names the changed field, not its value.
    let events = owner.get(&format!("{}events/", french.uri)).await.expect(200).json();
    let told = events["objects"].to_string();
    assert!(told.contains("[\"language\"]") && !told.contains("\"it\""), "{told}");
}

#[tokio::test]
async fn imports_and_creations_take_the_codes_of_the_languages() {
    let (app, owner, project) = given().await;
    let rows = json!([
        { "first_name": "Ada", "last_name": "Byron", "email": "ada.byron@mail.example", "language": "es", "deadline": app.clock().in_days(7) },
        { "first_name": "Alan", "last_name": "Turing", "language": "es-ES" },
    ]);
    let report = owner.post(&format!("{project}candidates/import/"), rows).await.expect(200).json();
    assert_eq!(report["meta"]["failed"], 1);
    let ada = report["objects"][0]["candidate"].as_str().unwrap().to_owned();
    assert_eq!(language_of(&owner, &ada).await, "es");
    app.settle().await;
    assert!(app.mails_to("ada.byron@mail.example")[0].subject.contains("invita"));
    let known = owner.get("/companies/acme/languages/").await.expect(200).json();
    for language in known["objects"].as_array().unwrap() {
        owner.patch(&ada, json!({ "language": language["code"] })).await.expect(200);
    }
    assert_refusal!(
        owner.patch(&ada, json!({ "language": "es-ES" })).await,
        @r#"400 {"language":["\"es-ES\" is not a valid choice. Use one of: en, de, fr, es, it, nl."]}"#
    );
    let creation =
        |language: Value| json!({ "first_name": "Ada", "last_name": "Byron", "language": language });
    let wrong = [creation(json!("EN")), creation(json!(7))];
    assert_refusals!(
        send_each(wrong, |body| owner
            .send(tests::http::Request::post(&format!("{project}candidates/")).json(&body)))
        .await,
        @r#"
    400 {"language":["\"EN\" is not a valid choice. Use one of: en, de, fr, es, it, nl."]}
    400 {"language":["Not a valid string."]}
    "#
    );
}
