//! An imported company as its people find it.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use shared::domain::archive::RecordKind;
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, PASSWORD, Staff, Token, last_segment};
use tests::http::Request;
use tests::issuer::Platform;

use super::{anyway, import_and_start, try_import};
use crate::admin::erase_company::{begin, finish};
use crate::admin::export::Archive;
use crate::auth::exchange::{BASE, EXCHANGE, TOKENS, Trusting, parameters};
use crate::auth::sign_in::{Acme, SETTINGS, SIGN_IN};
use crate::events::feed::{numbers, read_all};
use crate::events::webhooks::endpoint::{TestEndpoint, sweep};

/// Has the owner of an imported company choose a password and log in.
pub(super) async fn enter(app: &TestApp, owner: &Staff) -> Token {
    let forgotten = json!({ "company": "acme", "username": owner.username });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    app.settle().await;
    // Other tests have an owner with this address too, whose keys open nothing here.
    for mail in app.mails_to(&owner.email) {
        let text = mail.text.as_deref().unwrap_or_default();
        let Some((_, link)) = text.split_once("/reset-password/") else { continue };
        let key = link.split_whitespace().next().unwrap().trim_end_matches('/');
        let choice = json!({ "key": key, "password": PASSWORD });
        app.anonymous().post("/api-password-reset/confirm/", choice).await;
    }
    let token = app.anonymous().log_in("acme", &owner.username, PASSWORD).await.expect(200);
    app.token(&token.uri("token"))
}

fn ids(page: &Value) -> Vec<&str> {
    page["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| last_segment(one["resource_uri"].as_str().unwrap()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_company_goes_on_where_it_was() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (_, token) = owner.named_token("Payroll").await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({ "first_name": "Ada", "external_id": "4711" })).await;
    let invited = owner.candidate_at(&project, CandidateStatus::Invited).await;
    app.settle().await;
    let archive = Archive::of(&app).await;

    let other = TestApp::start().await;
    import_and_start(&other, archive.folder.path()).await;
    let is_mail = |(pk, _): &(String, String)| pk.starts_with("EFFECT#");
    assert!(!other.table().contents().await.keys().any(is_mail), "an import mails nobody");
    other.anonymous().log_in("acme", &owner.username, PASSWORD).await.expect(401);
    other.token(&token.secret).get("/companies/acme/").await.expect(401);
    let there = enter(&other, &owner).await;
    let list = format!("{project}candidates/");
    assert_eq!(
        ids(&there.get(&list).await.expect(200).json()),
        ids(&owner.get(&list).await.expect(200).json())
    );
    let found = there.get(&format!("{list}?external_id=4711")).await.expect(200).json();
    assert_eq!(ids(&found), [last_segment(&candidate)]);
    let searched = there.get("/companies/acme/search/?q=ada").await.expect(200).json();
    assert!(searched.to_string().contains(last_segment(&candidate)), "{searched}");
    there.patch(&candidate, json!({ "last_name": "King" })).await.expect(200);
    other.settle().await;
    let events = read_all(&there, &format!("after={}", archive.result.sequence)).await;
    let first = archive.result.sequence + 1;
    assert_eq!(numbers(&events), (first..first + events.len() as u64).collect::<Vec<_>>());
    assert_eq!(events.last().unwrap()["data"]["resource_uri"], json!(candidate));
    // The link in the first mail is dead, and a new one comes with the next.
    there.post(&format!("{invited}reminder/"), json!({})).await.expect(200);
}

#[tokio::test]
async fn a_candidate_is_mailed_at_the_address_that_is_shown() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.invite(&project, json!({})).await;
    candidate.register().await;
    let new = app.next_email();
    let asked = owner.patch(&candidate.uri, json!({ "email": new })).await.expect(200).json();
    assert_eq!((&asked["email"], &asked["email_confirmed"]), (&json!(new), &json!(false)));
    app.settle().await;
    let archive = Archive::of(&app).await;

    let other = TestApp::start().await;
    import_and_start(&other, archive.folder.path()).await;
    let there = enter(&other, &owner).await;
    let shown = there.get(&candidate.uri).await.expect(200).json();
    assert_eq!((&shown["email"], &shown["email_confirmed"]), (&json!(candidate.email), &json!(true)));
    let mails = || [&candidate.email, &new].map(|address| other.mails_to(address).len());
    let [former, later] = mails();
    there.post(&format!("{}reminder/", candidate.uri), json!({})).await.expect(200);
    other.settle().await;
    assert_eq!(mails(), [former + 1, later]);
}

#[tokio::test]
async fn what_is_due_is_done_once_the_company_has_started() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let fields = json!({ "default_interview_period": 1, "evaluation_days": 2 });
    let project = owner.running_project(fields).await;
    let candidate = owner.candidate_at(&project, CandidateStatus::Invited).await;
    let ending = json!({ "name": "Report", "expires_at": app.clock().in_days(1) });
    owner.named_token_with(ending).await;
    let retention = json!({ "days": 7, "from": "last_activity", "request_days": 7, "notice_days": 0 });
    owner.send(Request::put("/companies/acme/retention/").json(&retention)).await.expect(200);
    app.settle().await;
    let archive = Archive::of(&app).await;

    let other = TestApp::start().await;
    other.clock().advance(TimeDelta::days(40));
    import_and_start(&other, archive.folder.path()).await;
    let contents = other.table().contents().await;
    assert!(contents.keys().any(|(_, sk)| sk == "EVALUATIONS"), "evaluators are reminded again");
    let run = contents.into_iter().find(|((_, sk), _)| sk == "RETENTION#RUN").unwrap().1;
    let next: DateTime<Utc> = run["work"].as_m().unwrap()["due_at"].as_s().unwrap().parse().unwrap();
    assert!(next >= other.app().now() + TimeDelta::days(7), "{next}");
    let there = enter(&other, &owner).await;
    let swept = other.sweep().await;
    assert!(format!("{swept:?}").contains("expired"), "{swept:?}");
    assert_eq!(there.get(&candidate).await.expect(200).json()["status"], "expired");
    let tokens = there.get("/companies/acme/tokens/").await.expect(200).json();
    assert_eq!(tokens["objects"], json!([]), "it ended more than 30 days ago");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_comes_with_an_archive_lets_nobody_in() {
    let given = Acme::new().await;
    given.set(json!({ "required": true, "break_glass": [given.owner.uri] })).await.expect(200);
    let link = format!("{}sign-in/", given.owner.uri);
    let subject = json!({ "subject": "owner-at-provider" });
    given.owner.send(Request::put(&link).json(&subject)).await.expect(200);
    let owner = given.owner.again().await;
    given.app.settle().await;
    let archive = Archive::of(&given.app).await;

    let other = TestApp::start().await;
    import_and_start(&other, archive.folder.path()).await;
    let there = enter(&other, &owner).await;
    assert_eq!(there.get(SETTINGS).await.expect(200).json()["is_working"], false);
    there.get(&link).await.expect(404);
    let begin = Request::get(SIGN_IN).header("accept", "application/json");
    other.send(begin.clone()).await.expect_code(400, "sign_in_unavailable");
    // An owner sets the secret anew.
    there.send(Request::put(SETTINGS).json(&given.settings(json!({})))).await.expect(200);
    other.send(begin).await.expect(302);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trust_that_comes_with_an_archive_lets_nobody_in() {
    let given = Trusting::new().await;
    given.exchanged().await;
    given.app.settle().await;
    let archive = Archive::of(&given.app).await;

    let other = TestApp::start().await;
    import_and_start(&other, archive.folder.path()).await;
    let there = enter(&other, &given.owner).await;
    let token = there.get(&given.uri).await.expect(200).json();
    assert_eq!(token["trust"]["is_imported"], true);
    let jwt = given.jwt();
    for resource in [format!("{BASE}/companies/acme/"), given.uri.clone()] {
        let request = Request::post(EXCHANGE).json(&parameters(&jwt, &resource));
        other.send(request).await.expect_code(400, "not_exchanged");
    }
    // Owners decide anew.
    let trust = Platform::GitHub.trust(&given.issuer.url);
    there.post(TOKENS, json!({ "name": "CI", "trust": trust })).await.expect(201);
    let request = Request::post(EXCHANGE).json(&parameters(&jwt, &format!("{BASE}/companies/acme/")));
    other.send(request).await.expect(200);
}

#[tokio::test]
async fn a_webhook_waits_for_a_new_secret() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    let fields = json!({ "url": endpoint.url });
    let webhook = owner.post("/companies/acme/webhooks/", fields).await.expect(201).uri("resource_uri");
    app.settle().await;
    let archive = Archive::of(&app).await;

    let other = TestApp::start().await;
    import_and_start(&other, archive.folder.path()).await;
    let there = enter(&other, &owner).await;
    let label = json!({ "text": "Senior" });
    let label = there.post("/companies/acme/labels/", label).await.expect(201).uri("resource_uri");
    other.settle().await;
    let shown = there.get(&webhook).await.expect(200).json();
    assert_eq!((&shown["is_enabled"], &shown["disabled_reason"]), (&json!(false), &json!("no_secret")));
    assert_refusals!([
        there.patch(&webhook, json!({ "is_enabled": true })).await,
        there.post(&format!("{webhook}ping/"), json!({})).await,
    ], @r#"2 x 400 {"code":"no_secret","detail":"This webhook came with an archive, without its secret. Ask for a new one first: POST to its `secret/`."}"#);
    let rotated = there.post(&format!("{webhook}secret/"), json!({})).await.expect(200).json();
    assert_eq!((&rotated["is_enabled"], &rotated["former_secret_until"]), (&json!(true), &json!(null)));
    other.settle().await;
    sweep(&other).await;
    let sent = endpoint.taken();
    assert!(sent.iter().any(|event| event["data"]["resource_uri"] == json!(label)), "{sent:?}");
}

#[tokio::test]
async fn receipts_stay_those_of_the_service_that_has_signed_them() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    owner.delete(&candidate).await.expect(204);
    app.clock().advance(TimeDelta::minutes(1));
    app.settle().await;
    let archive = Archive::of(&app).await;
    let [receipt] = archive.of_kind(RecordKind::Receipts).values().collect::<Vec<_>>()[..] else {
        panic!("one receipt")
    };
    let event = receipt["value"]["statement"]["id"].as_str().unwrap();

    let other = TestApp::start_with(&[("RECEIPT_SECRET_ID", "another")]).await;
    try_import(&other, archive.folder.path(), anyway()).await.unwrap();
    let there = enter(&other, &owner).await;
    let shown = there.get(&format!("/companies/acme/events/{event}/receipt/")).await.expect(200).json();
    assert_eq!(shown, receipt["value"]);
    let second = Archive::of(&other).await;
    second.assert_whole();
    assert_eq!(second.of_kind(RecordKind::Receipts), archive.of_kind(RecordKind::Receipts));
    assert_eq!(second.of_kind(RecordKind::ReceiptKeys).len(), 2);
    // An operator who accepts the keys of an archive must not make them those of the whole service.
    let published = other.anonymous().get("/receipt-keys/").await.expect(200).json();
    assert_eq!(published["keys"].as_array().unwrap().len(), 1);
    let third = TestApp::start().await;
    try_import(&third, second.folder.path(), anyway()).await.unwrap();
}

#[tokio::test]
async fn what_an_operator_had_granted_is_told_and_left_out_unless_it_is_kept() {
    let app = TestApp::start().await;
    app.owner().await;
    let senders = json!({ "command": "verify-senders", "company": "acme", "senders": ["acme.example"] });
    app.operate(senders).await.unwrap();
    let grant = json!({ "command": "grant-on-behalf", "company": "acme", "username": "owner" });
    app.operate(grant).await.unwrap();
    app.settle().await;
    let archive = Archive::of(&app).await;
    for keeps_grants in [false, true] {
        let other = TestApp::start().await;
        let options = super::ImportOptions { keeps_grants, ..anyway() };
        let imported = try_import(&other, archive.folder.path(), options).await.unwrap();
        assert_eq!(imported.grants, ["verified senders: acme.example", "owner may act on behalf of others"]);
        let second = Archive::of(&other).await;
        let has = |kind: RecordKind, path: &str| {
            let record = second.of_kind(kind).values().next().unwrap();
            record.pointer(path).unwrap().clone()
        };
        let senders = if keeps_grants { json!(["acme.example"]) } else { json!([]) };
        assert_eq!(has(RecordKind::Company, "/value/verified_senders"), senders);
        assert_eq!(has(RecordKind::Customers, "/value/authenticate_on_behalf"), json!(keeps_grants));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_company_can_have_another_name() {
    let app = TestApp::start().await;
    crate::admin::export::content::everything(&app).await;
    let archive = Archive::of(&app).await;
    let other = TestApp::start().await;
    let stranger = other.owner_of("acme").await;
    let taken = try_import(&other, archive.folder.path(), anyway()).await.unwrap_err();
    assert_eq!(taken, "there is a company acme here; choose another name by --as");
    let options = super::ImportOptions { name: Some("globex".parse().unwrap()), ..anyway() };
    try_import(&other, archive.folder.path(), options).await.unwrap();
    let second = Archive::of_company(&other, "globex").await;
    second.assert_whole();
    for kind in RecordKind::ALL {
        let renamed = |text: String| {
            text.replace("\"company\":\"acme\"", "\"company\":\"globex\"")
                .replace("\"id\":\"acme\"", "\"id\":\"globex\"")
        };
        let read = |archive: &Archive| {
            std::fs::read_to_string(archive.folder.path().join(format!("records/{}.jsonl", kind.name())))
                .unwrap()
        };
        // Receipts are signed.
        let expected = if kind == RecordKind::Receipts { read(&archive) } else { renamed(read(&archive)) };
        assert_eq!(read(&second), expected, "{kind:?}");
    }
    // Beside the company itself, as its webhooks would have one place for two.
    let options = super::ImportOptions { name: Some("globex".parse().unwrap()), ..anyway() };
    let refused = try_import(&app, archive.folder.path(), options).await.unwrap_err();
    assert!(refused.contains("is one of the company acme here"), "{refused}");
    stranger.get("/companies/acme/").await.expect(200);
    stranger.get("/companies/globex/").await.expect(404);
}

#[tokio::test]
async fn a_company_whose_erasure_has_begun_is_not_there_any_more() {
    let app = TestApp::start().await;
    app.owner().await;
    app.settle().await;
    let archive = Archive::of(&app).await;
    let other = TestApp::start().await;
    try_import(&other, archive.folder.path(), anyway()).await.unwrap();
    begin(&other).await;
    let refused = try_import(&other, archive.folder.path(), anyway()).await.unwrap_err();
    assert_eq!(refused, "the company acme is being erased");
    finish(&other).await;
    let refused = try_import(&other, archive.folder.path(), anyway()).await.unwrap_err();
    assert!(refused.contains("A company with this identifier was erased."), "{refused}");
}
