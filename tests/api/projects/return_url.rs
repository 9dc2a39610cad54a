//! The address to which the page leads candidates after the interview.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, PASSWORD, last_segment};

use crate::events::feed::read_all;

const PROJECTS: &str = "/companies/acme/projects/";
const RETURN_URL: &str = "https://jobs.example/done?from=interview&step=%2B4";

/// The field in the project and in the list of projects; `None` where it is missing.
async fn shown(caller: &impl Caller, project: &str) -> [Option<Value>; 2] {
    let listed = caller.get(PROJECTS).await.expect(200).json()["objects"][0].clone();
    [caller.get(project).await.expect(200).json(), listed].map(|shown| shown.get("return_url").cloned())
}

#[tokio::test]
async fn those_who_may_change_the_project_write_and_see_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (admin, manager) = (app.staff("admin").await, app.staff("recruiter").await);
    let (evaluator, reviewer) = (app.staff("hiring-manager").await, app.staff("hiring-manager").await);
    let (_, token) = owner.named_token("Careers site").await;
    let fields = json!({
        "return_url": format!(" {RETURN_URL} "), "interview_managers": [manager.uri], "evaluators": [evaluator.uri],
        "reviewers": [reviewer.uri],
    });
    let project = owner.project(fields).await;
    let expected = [Some(json!(RETURN_URL)), Some(json!(RETURN_URL))];
    for caller in [&owner, &admin, &manager] {
        assert_eq!(shown(caller, &project).await, expected);
    }
    assert_eq!(shown(&token, &project).await, expected);
    for caller in [&evaluator, &reviewer] {
        assert_eq!(shown(caller, &project).await, [None, None]);
        let change = caller.patch(&project, json!({ "return_url": "https://elsewhere.example/" })).await;
        change.expect_code(403, "permission_denied");
    }

    for (sent, kept) in [
        (json!("HTTPS://Jobs.example:443"), "https://jobs.example/"),
        // On the computer that the service is on, as in these tests.
        (json!("http://localhost:3000/done"), "http://localhost:3000/done"),
        (json!("http://127.0.0.1:3000/"), "http://127.0.0.1:3000/"),
        (json!("http://[::1]:3000/"), "http://[::1]:3000/"),
        (json!(""), ""),
        (json!(RETURN_URL), RETURN_URL),
        (Value::Null, ""),
    ] {
        let changed = manager.patch(&project, json!({ "return_url": sent })).await.expect(200).json();
        assert_eq!(changed["return_url"], kept);
    }
    app.settle().await;
    let events = read_all(&owner, &format!("type=project.updated&resource={project}")).await;
    assert_eq!(events.len(), 7);
    for event in events {
        assert_eq!(event["data"]["changed"], json!(["return_url"]));
        assert!(!event.to_string().contains("jobs.example"), "{event}");
    }
}

#[tokio::test]
async fn addresses_that_lead_candidates_astray_are_refused() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({ "return_url": RETURN_URL })).await;
    let before = app.table().snapshot().await;
    let of = |length: usize| format!("https://jobs.example/{}", "a".repeat(length - 21));
    let mut refusals = Vec::new();
    for sent in [
        json!("ftp://jobs.example/"),
        json!("http://jobs.example/"),
        json!("http://localhost.example/"),
        json!("javascript:alert(document.domain)"),
        json!("jobs.example/done"),
        json!("https:///jobs.example/"),
        json!("https://me:secret@jobs.example/"),
        json!("https://jobs.example/#done"),
        json!("https://jobs.example/#"),
        json!("https://jobs.example/\r\nSet-Cookie: a=b"),
        json!("https://jobs.example/\u{0}"),
        json!(of(2001)),
        json!(of(2000).replace('a', "ä")),
        json!("https://jobs.example/?candidate=7"),
        json!("https://jobs.example/?external_id"),
        json!("https://jobs.example/?external_id[]=1"),
        json!("https://jobs.example/?a=1;candidate=2"),
        json!("https://192.0.2.1/"),
        json!("https://[2001:db8::1]/"),
        json!(["https://jobs.example/"]),
    ] {
        let fields = json!({ "name": "Sales", "return_url": sent });
        refusals.push(owner.post(PROJECTS, fields.clone()).await);
        refusals.push(owner.patch(&project, fields).await);
    }
    assert_refusals!(refusals, @r#"
        8 x 400 {"return_url":["Use a URL that begins with https://"]}
        2 x 400 {"return_url":["Enter a valid URL."]}
        2 x 400 {"return_url":["The URL names no host. Write it as https://host/path."]}
        2 x 400 {"return_url":["A user name or a password may not be part of the URL."]}
        4 x 400 {"return_url":["A fragment (#) may not be part of the URL."]}
        4 x 400 {"return_url":["Control characters are not allowed."]}
        2 x 400 {"return_url":["Ensure this field has no more than 2000 characters."]}
        2 x 400 {"return_url":["Ensure this field has no more than 2000 characters. Escapes such as %20 count as three."]}
        2 x 400 {"return_url":["The service adds the parameter `candidate` itself. Leave it out of the query."]}
        2 x 400 {"return_url":["The service adds the parameter `external_id` itself. Leave it out of the query."]}
        2 x 400 {"return_url":["Parameters with `[` or `]` in their names are not possible: servers read them differently."]}
        2 x 400 {"return_url":["Write `;` in the query as %3B: some servers read a new parameter after it."]}
        4 x 400 {"return_url":["Use a host name instead of an IP address."]}
        2 x 400 {"return_url":["Not a valid string."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    owner.patch(&project, json!({ "return_url": of(2000) })).await.expect(200);
}

#[tokio::test]
async fn candidates_get_it_with_their_identifier_in_the_query() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "return_url": RETURN_URL })).await;
    let invited = owner.invite(&project, json!({})).await;
    let expected = format!("{RETURN_URL}&candidate={}", last_segment(&invited.uri));
    let itself = invited.get("/whoami/candidate/").await.expect(200).json();
    assert_eq!(itself["return_url"], expected);

    // After the interview, the key still tells it, and those who log in get it.
    let own = invited.register().await;
    invited.advance(&invited.uri).await.expect(200);
    own.advance(&invited.uri).await.expect(200);
    app.complete(&invited.uri).await;
    let ended = invited.get("/whoami/candidate/").await.expect(401).json();
    assert_eq!((&ended["code"], &ended["return_url"]), (&json!("interview_completed"), &json!(expected)));
    let later = app.anonymous().log_in("acme", &invited.email, PASSWORD).await.expect(200).uri("token");
    let later = app.token(&later);
    let itself = later.get("/whoami/candidate/").await.expect(200).json();
    assert_eq!((&itself["status"], &itself["return_url"]), (&json!("interviewed"), &json!(expected)));
    assert!(!later.get(&invited.uri).await.expect(200).to_string().contains("jobs.example"));

    owner.patch(&project, json!({ "return_url": "https://jobs.example/done" })).await.expect(200);
    let changed = later.get("/whoami/candidate/").await.expect(200).json();
    let expected = format!("https://jobs.example/done?candidate={}", last_segment(&invited.uri));
    assert_eq!(changed["return_url"], expected);
    owner.patch(&project, json!({ "return_url": "" })).await.expect(200);
    assert_eq!(later.get("/whoami/candidate/").await.expect(200).json()["return_url"], "");
}
