//! All data of a candidate as one document: for staff, and for the candidate.

use image::ImageFormat::Jpeg;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus::Confirmed;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Invited, Staff, Token, last_segment};
use tests::files::{Form, pdf, photo};
use tests::http::{Request, Response};

use crate::companies::legal::publish;
use crate::evaluations::crud::{EvaluationFixture, given, own, save, veto};
use crate::events::webhooks::webhook;

/// In everything that staff have written about the candidate, and in nothing else.
const CANARY: &str = "Kanarienvogel";

/// A candidate of whom everything is known that can be.
async fn candidate_with_everything(given: &EvaluationFixture) -> (Invited, Token) {
    let EvaluationFixture { app, owner, evaluators: [one, two], .. } = given;
    let profile = json!({
        "first_name": "Ada", "last_name": "Lovelace", "username": "countess", "phone": "+44 1", "gender": "mrs",
        "address": "12 St James's Square\nLondon", "external_id": format!("{CANARY} 7"), "partner_data": { "ats": CANARY },
    });
    let invited = owner.invite(&given.project, profile).await;
    let form = Form::new().file("photo", "me.jpg", "image/jpeg", &photo(Jpeg, 60, 40));
    let form = form.file("cv", "cv.pdf", "application/pdf", &pdf(1000));
    owner.send(Request::patch(&invited.uri).form(form)).await.expect(200);
    owner.remind(&invited.uri).await.expect(200);
    let itself = invited.register().await;
    publish(owner, "consent", true).await;
    let consent = json!({ "version": 1, "language": "en" });
    let target = format!("{}consents/consent/", invited.uri);
    itself.send(Request::put(&target).json(&consent)).await.expect(200);
    itself.advance(&invited.uri).await.expect(200);
    itself.advance(&invited.uri).await.expect(200);
    itself.delete(&target).await.expect(204);
    app.complete(&invited.uri).await;
    let itself = invited.log_in().await;
    let body = json!({
        "ratings": [
            { "question": given.question, "value": 4, "comment": format!("{CANARY} one") },
            { "criterion": given.criterion, "value": 3.5 },
        ],
        "comment": format!("{CANARY} two"), "recommendation": "yes", "completed": true,
    });
    save(one, &invited.uri, body).await.expect(201);
    let comment = format!("{CANARY} has vetoed.");
    two.post(&format!("{}vetos/", invited.uri), json!({ "comment": comment })).await.expect(201);
    owner.post(&format!("{}shares/", invited.uri), json!({ "customer": two.uri })).await.expect(201);
    let hold = json!({ "reason": format!("{CANARY} sues."), "until": app.clock().in_days(30) });
    owner.send(Request::put(&format!("{}hold/", invited.uri)).json(&hold)).await.expect(200);
    itself.send(Request::put(&format!("{}erasure-request/", invited.uri))).await.expect(200);
    (invited, itself)
}

async fn data_for(caller: &impl Caller, candidate: &str) -> Response {
    caller.get(&format!("{candidate}data/")).await.expect(200)
}

#[tokio::test]
async fn staff_get_all_that_is_stored_about_a_candidate() {
    let given = given().await;
    let EvaluationFixture { owner, evaluators: [one, two], project, .. } = &given;
    let (invited, _) = candidate_with_everything(&given).await;
    let candidate = &invited.uri;
    for fields in [
        json!({ "url": "https://ats.example.com:8443/in?key=1" }),
        json!({ "url": "https://hr.example.com/in", "types": ["candidate.interviewed"], "projects": [project] }),
        json!({ "url": "https://labels.example.com/in", "types": ["label.*"] }),
    ] {
        webhook(owner, fields).await;
    }
    let elsewhere = owner.project(json!({})).await;
    webhook(owner, json!({ "url": "https://sales.example.com/in", "projects": [elsewhere] })).await;
    let disabled = webhook(owner, json!({ "url": "https://old.example.com/in" })).await;
    owner.patch(&disabled, json!({ "is_enabled": false })).await.expect(200);

    let response = data_for(owner, candidate).await;
    assert_eq!(
        response.header("content-disposition"),
        Some(
            format!("attachment; filename=\"candidate-{}-2026-11-08.json\"", last_segment(candidate))
                .as_str()
        )
    );
    assert_eq!(response.header("cache-control"), Some("private, no-store"));
    let mut document = response.json();
    let shown = owner.get(candidate).await.expect(200).json();
    let evaluated = owner.get(&own(one, candidate)).await.expect(200).json();
    let history = owner.get(&format!("{candidate}events/?page_size=100")).await.expect(200).json();
    assert_eq!(document["history"], history["objects"]);
    let at = shown["interviewdate"].clone();
    let in_days = |days| given.app.clock().in_days(days);
    for (file, kind) in [(0, "photo"), (1, "cv")] {
        let url = document["files"][file]["url"].take();
        assert_eq!(given.app.anonymous().get(url.as_str().unwrap()).await.status, 302, "{kind}");
    }
    document["history"].take();
    let expected = json!({
        "schema": "candidate-data/1",
        "resource_uri": format!("{candidate}data/"),
        "company": "https://hr.example/api/v3/companies/acme/", "company_name": "Acme & Sons",
        "project": project, "project_name": "Sales",
        "candidate": {
            "id": last_segment(candidate),
            "resource_uri": candidate,
            "first_name": "Ada", "last_name": "Lovelace", "username": "countess",
            "email": invited.email, "email_confirmed": true, "email_status": "deliverable", "language": null, "receive_mails": true,
            "phone": "+44 1", "gender": "mrs", "address": "12 St James's Square\nLondon",
            "status": "interviewed", "deadline": shown["deadline"],
            "created_at": "2026-11-08T10:00:00Z",
            "invitationdate": shown["invitationdate"], "opened_at": null, "reminded_at": "2026-11-08T10:00:00Z",
            "confirmationdate": shown["confirmationdate"], "started_at": shown["confirmationdate"],
            "interviewdate": at, "aborted_at": null, "ended_by_time_at": null, "reopening_message": "",
            "expired_at": null, "skipped_at": null,
        },
        "files": [
            { "kind": "photo", "content_type": "image/jpeg", "uploaded_at": "2026-11-08T10:00:00Z", "url": null },
            { "kind": "cv", "content_type": "application/pdf", "uploaded_at": "2026-11-08T10:00:00Z", "url": null },
        ],
        "consents": [{
            "kind": "consent", "version": 1, "language": "en", "obtained_at": "2026-11-08T10:00:00Z",
            "recorded_by": { "kind": "candidate", "resource_uri": candidate }, "withdrawn_at": "2026-11-08T10:00:00Z",
        }],
        "adjustments": null,
        "help_request": null,
        "answers": [],
        "erasure_request": { "requested_at": in_days(0), "due_at": in_days(30) },
        "created_by": owner.uri,
        "external_id": format!("{CANARY} 7"),
        "partner_data": { "ats": CANARY },
        "suppressed_email": "",
        "former_emails": [],
        "hold": { "reason": format!("{CANARY} sues."), "until": in_days(30) },
        "reopening": null,
        "cancellation": null,
        "shares": shown["shares"],
        "guest_links": [],
        "evaluations": [
            {
                "evaluator": one.uri, "completed_at": evaluated["completed_at"], "maximum_score": 5,
                "ratings": [
                    { "question": given.question, "criterion": null, "text": "Why us?", "value": 4,
                      "comment": format!("{CANARY} one") },
                    { "question": null, "criterion": given.criterion, "text": "Listening", "value": 3.5, "comment": "" },
                ],
                "recommendation": "yes", "comment": format!("{CANARY} two"),
            },
            // A veto completes the evaluation of its author.
            {
                "evaluator": two.uri, "completed_at": "2026-11-08T10:00:00Z", "maximum_score": 5, "ratings": [],
                "recommendation": null, "comment": "",
            },
        ],
        "adjustments": null,
        "help_request": null,
        "answers": [],
        "first_judgements": [{
            "evaluator": one.uri, "completed_at": evaluated["completed_at"], "maximum_score": 5,
            "ratings": [
                { "question": given.question, "criterion": null, "text": "Why us?", "value": 4 },
                { "question": null, "criterion": given.criterion, "text": "Listening", "value": 3.5 },
            ],
            "recommendation": "yes", "blind": true, "by_token": false, "changed_at": null,
        }],
        "vetos": [{ "evaluator": two.uri, "at": "2026-11-08T10:00:00Z", "comment": format!("{CANARY} has vetoed.") }],
        "history": null,
        "next": null,
        "recipients": ["ats.example.com", "hr.example.com", "old.example.com"],
        "retention": { "days": null, "from": "last_activity", "is_inherited": true, "starts_at": null, "due_at": null },
    });
    assert_eq!(document, expected);
    assert_eq!(shown["shares"][0]["customer"], json!(two.uri));

    // The document is passed on: it lets nobody log in, and names no staff.
    let text = text_of(&data_for(owner, candidate).await);
    for hidden in ["activation_key", "interview_key", "password_hash", "$argon2", "League", "Owner"] {
        assert!(!text.contains(hidden), "{hidden}");
    }
    let (_, token) = owner.named_token("Tracking").await;
    assert_eq!(
        without_urls(data_for(&token, candidate).await),
        without_urls(data_for(owner, candidate).await)
    );
}

fn text_of(response: &Response) -> String {
    String::from_utf8(response.body.clone()).unwrap()
}

/// The document without the URLs of files, which differ in every answer.
fn without_urls(response: Response) -> Value {
    let mut document = response.json();
    for file in document["files"].as_array_mut().unwrap() {
        file["url"].take();
    }
    document
}

#[tokio::test]
async fn candidates_get_what_they_gave_and_nothing_that_staff_have_written() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, two], .. } = &given;
    let (invited, itself) = candidate_with_everything(&given).await;
    webhook(owner, json!({ "url": format!("https://{CANARY}.example.com/in") })).await;

    let response = data_for(&itself, &invited.uri).await;
    assert_eq!(response.log().dynamodb_calls, 3);
    let text = text_of(&response);
    let document = response.json();
    let fields: Vec<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        fields,
        [
            "adjustments",
            "answers",
            "candidate",
            "company",
            "company_name",
            "consents",
            "erasure_request",
            "files",
            "help_request",
            "project",
            "project_name",
            "resource_uri",
            "schema"
        ],
    );
    let whole = data_for(owner, &invited.uri).await.json();
    assert_eq!(document["erasure_request"], whole["erasure_request"]);
    assert_eq!(document["candidate"], whole["candidate"]);
    for (file, name) in document["files"].as_array().unwrap().iter().zip(["photo", "cv"]) {
        assert_eq!(file["kind"], name);
        assert_eq!(app.anonymous().get(file["url"].as_str().unwrap()).await.status, 302);
    }
    for hidden in
        [CANARY, "kanarienvogel", "Kanarien", "/customers/", "evaluation", "veto", "hold", "_key", "League"]
    {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
    for staff in [owner, one, two] {
        assert!(!text.contains(staff.id()), "{text}");
    }
}

#[tokio::test]
async fn evaluators_evaluate_first_whatever_else_they_are() {
    let given = given().await;
    let EvaluationFixture { owner, evaluators: [one, two], project, .. } = &given;
    let roles = json!({ "interview_managers": [two.uri], "evaluators": [one.uri, two.uri, owner.uri] });
    owner.patch(project, roles).await.expect(200);

    // Before the interview there is nothing to hide but who is about to write.
    let candidate = owner.candidate_at(project, Confirmed).await;
    save(one, &candidate, json!({ "comment": format!("{CANARY} draft") })).await.expect(201);
    for manager in [owner, two] {
        let response = data_for(manager, &candidate).await;
        assert!(!text_of(&response).contains(CANARY) && !text_of(&response).contains(one.id()), "{response}");
        assert_eq!(response.json()["evaluations"], json!([]));
    }

    let candidate = given.interviewed().await;
    let data = format!("{candidate}data/");
    given.rate(one, &candidate, 1.0, 2.0).await.expect(201);
    for manager in [owner, two] {
        assert_refusal!(manager.get(&data).await, @r#"403 {"code":"evaluate_first","detail":"Complete your own evaluation of this candidate first."}"#);
    }
    // An evaluator who is nothing else may not export at all.
    assert_refusal!(one.get(&data).await, @r#"
        403 {
          "code":"permission_denied",
          "detail":"You do not have the permission `export_candidate` here.",
          "permission":"export_candidate"
        }
    "#);
    given.reviewer.get(&data).await.expect_code(403, "permission_denied");

    veto(two, &candidate).await.expect(201);
    let document = data_for(two, &candidate).await.json();
    assert_eq!(document["evaluations"].as_array().unwrap().len(), 2);
    assert_eq!(document["vetos"][0]["comment"], "The certificates are forged.");
    assert_refusal!(owner.get(&data).await, @r#"403 {"code":"evaluate_first","detail":"Complete your own evaluation of this candidate first."}"#);
    // A later status hides as much, and an admin without the role sees all.
    owner.skip(&candidate).await;
    owner.get(&data).await.expect_code(403, "evaluate_first");
    let admin = given.app.staff("admin").await;
    assert_eq!(data_for(&admin, &candidate).await.json()["vetos"], document["vetos"]);
}

#[tokio::test]
async fn ratings_stay_as_they_were_saved_and_drafts_stay_out() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, two], project, .. } = &given;
    let candidate = given.interviewed().await;
    given.rate(one, &candidate, 4.0, 3.5).await.expect(201);
    save(two, &candidate, json!({ "comment": format!("{CANARY} draft") })).await.expect(201);
    app.evaluate(&candidate, &owner.uri, true).await;
    owner.patch(project, json!({ "maximum_score": 10 })).await.expect(200);
    owner.delete(&given.criterion).await.expect(204);

    let response = data_for(owner, &candidate).await;
    assert!(!text_of(&response).contains(CANARY));
    let document = response.json();
    let of = |by: &Staff| {
        let all = document["evaluations"].as_array().unwrap();
        all.iter().find(|one| one["evaluator"] == by.uri).cloned()
    };
    let written = of(one).unwrap();
    assert_eq!((&written["maximum_score"], &written["ratings"][0]["value"]), (&json!(5), &json!(4)));
    let expected = json!({
        "question": null, "criterion": given.criterion, "text": null, "value": 3.5, "comment": "",
    });
    assert_eq!(written["ratings"][1], expected, "of a deleted criterion");
    assert_eq!(of(two), None);
    // The service knows of this one only that it was completed.
    let reported = of(owner).unwrap();
    assert_eq!((&reported["maximum_score"], &reported["ratings"]), (&Value::Null, &json!([])));
}

#[tokio::test]
async fn the_document_tells_for_how_long_the_candidate_is_kept() {
    let app = TestApp::start().await;
    app.leave_unsound("the policies are written past their history");
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let in_days = |days| app.clock().in_days(days);
    let rule = json!({ "days": 180, "from": "last_activity" });
    let policy = json!({
        "pk": "COMPANY#acme", "sk": "RETENTION", "version": 1, "company": "acme",
        "scheduled": { "rule": rule, "starts_at": in_days(7) }, "request_days": 30, "notice_days": 14,
    });
    app.table().load(&[policy]).await;
    let inherited = json!({
        "days": 180, "from": "last_activity", "is_inherited": true, "starts_at": in_days(7), "due_at": in_days(180),
    });
    assert_eq!(data_for(&owner, &candidate).await.json()["retention"], inherited);

    owner.set_status(&project, "60-closed").await.expect(200);
    let key = ("COMPANY#acme".to_owned(), format!("PROJECT#{}", last_segment(&project)));
    let mut stored = app.table().snapshot().await[&key].clone();
    stored["retention"] = json!({ "own": { "days": 30, "from": "project_closed" }, "starts_at": in_days(9) });
    app.table().load(&[stored]).await;
    let mut own = json!({
        "days": 30, "from": "project_closed", "is_inherited": false, "starts_at": in_days(9), "due_at": in_days(30),
    });
    assert_eq!(data_for(&owner, &candidate).await.json()["retention"], own);
    owner.set_status(&project, "40-running").await.expect(200);
    own["due_at"] = Value::Null;
    assert_eq!(data_for(&owner, &candidate).await.json()["retention"], own, "the project is open");
}

#[tokio::test]
async fn the_document_has_a_tag_and_foreign_companies_do_not_get_it() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, _], .. } = &given;
    let candidate = given.interviewed().await;
    let data = format!("{candidate}data/");
    let tag = data_for(owner, &candidate).await.header("etag").unwrap().to_owned();
    let again = Request::get(&data).header("if-none-match", &tag);
    owner.send(again.clone()).await.expect(304);
    // Everything that it shows counts, in whatever item it is.
    given.rate(one, &candidate, 4.0, 3.5).await.expect(201);
    let tag = owner.send(again).await.expect(200).header("etag").unwrap().to_owned();
    webhook(owner, json!({})).await;
    owner.send(Request::get(&data).header("if-none-match", &tag)).await.expect(200);

    let stranger = app.owner_of("globex").await;
    assert_refusal!(stranger.get(&data).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);
    stranger.get(&data.replace("/acme/", "/globex/")).await.expect_code(404, "not_found");
    owner.delete(&candidate).await.expect(204);
    assert_refusal!(owner.get(&data).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);
}
