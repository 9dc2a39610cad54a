//! A company with an item of every kind and every attribute.

use chrono::TimeDelta;
use image::ImageFormat;
use serde_json::{Value, json};
use shared::auth::SystemAccess;
use shared::clock::Clock as _;
use shared::domain::candidate::CandidateStatus;
use shared::domain::webhook::{DeliveryAttempt, DeliveryCursor, DeliveryOutcome, StalledResource, Webhook};
use shared::store::DeliveryProgress;

use crate::app::TestApp;
use crate::caller::{Caller, Staff, last_segment};
use crate::files::{Form, pdf, photo};
use crate::http::Request;
use crate::issuer::{CLIENT, CLIENT_SECRET, Platform, SigningAlgorithm, SigningKey, TestIssuer};
use crate::takes::Interviewee;
use crate::videos::film;

const CAPTIONS: &str = "WEBVTT\n\n00:01.000 --> 00:02.000\nBecause.\n";

impl TestApp {
    /// Gives the company of `owner` every kind of item. Returns one of its projects.
    pub async fn fill_with_everything(&self, owner: &Staff) -> String {
        let project = projects(owner).await;
        candidates(self, owner, &project).await;
        interviews(owner).await;
        recording(owner).await;
        notices(self, owner, &project).await;
        people(self, owner).await;
        webhooks(self, owner, &project).await;
        owner.post(&format!("/companies/{}/exports/", owner.company), json!({})).await.expect(202);
        project
    }
}

/// Creates a running project with every attribute.
async fn projects(owner: &Staff) -> String {
    let label = owner.label("Senior").await;
    let announced = json!({
        "name": "Welcome", "upload_filename": "w.mov", "content_type": "video/quicktime", "size": 9,
    });
    let videos =
        Request::post(&format!("/companies/{}/videos/", owner.company)).header("idempotency-key", "one");
    let video = owner.send(videos.json(&announced)).await.expect(201).uri("resource_uri");
    for (uri, file) in [
        (format!("{video}captions/en/"), CAPTIONS.as_bytes().to_vec()),
        (format!("/companies/{}/logo/", owner.company), photo(ImageFormat::Png, 8, 8)),
    ] {
        let form = Form::new().file("file", "sent", "", &file);
        owner.send(Request::put(&uri).form(form)).await.expect(200);
    }
    owner.project(json!({ "name": "Draft" })).await;
    owner
        .running_project(json!({
            "allow_hash_login": true, "evaluators": [owner.uri], "labels": [label], "veto_enabled": true,
            "videos": [{ "uri": video, "position": u32::MAX }],
            "partner_data": { "id": 7 }, "external_id": "REQ-7", "reminder_days": [1, 3], "evaluation_days": 3, "return_url": "https://jobs.example/done?from=interview",
        }))
        .await
}

/// Creates candidates of every status; one has every attribute.
async fn candidates(app: &TestApp, owner: &Staff, project: &str) {
    let question = json!({ "text": "Why us?", "anchors": [{ "value": 4, "text": "Names two reasons." }] });
    let question =
        owner.post(&format!("{project}questions/"), question).await.expect(201).uri("resource_uri");
    let criterion = json!({ "name": "Listening", "anchors": [{ "value": 0.5, "text": "Interrupts." }] });
    let criterion =
        owner.post(&format!("{project}criteria/"), criterion).await.expect(201).uri("resource_uri");
    for status in CandidateStatus::ALL {
        owner.candidate_at(project, status).await;
    }
    let legal = json!({ "kind": "consent", "texts": { "en": "I agree." } });
    let published =
        owner.post(&format!("/companies/{}/legal/", owner.company), legal).await.expect(201).json();
    let person = owner.colleague("recruiter", json!({})).await;
    let candidate = owner.candidate_at(project, CandidateStatus::Interviewed).await;
    let form = Form::new()
        .file("photo", "p.png", "image/png", &photo(ImageFormat::Png, 8, 8))
        .file("cv", "cv.pdf", "application/pdf", &pdf(1000))
        .text("username", "ada")
        .text("language", "de")
        .text("external_id", "4711");
    owner.send(Request::patch(&candidate).form(form)).await.expect(200);
    let consent = json!({ "version": published["version"], "language": "en" });
    owner.send(Request::put(&format!("{candidate}consents/consent/")).json(&consent)).await.expect(200);
    owner.post(&format!("{candidate}shares/"), json!({ "customer": person.uri })).await.expect(201);
    app.evaluate(&candidate, &owner.uri, true).await;
    let rating = json!({ "criterion": criterion, "value": 3.5, "comment": "Clear." });
    let remark = json!({ "question": question, "value": null, "comment": "Too short to tell." });
    let evaluation = json!({ "ratings": [rating, remark], "comment": "Good.", "recommendation": "yes", "completed": true });
    let target = format!("{candidate}evaluations/{}/", owner.id());
    owner.send(Request::put(&target).json(&evaluation)).await.expect(200);
    let changed = json!({ "ratings": evaluation["ratings"], "comment": "Very good.", "recommendation": "strong_yes", "completed": true });
    owner.send(Request::put(&target).json(&changed)).await.expect(200);
    let other = owner.candidate_at(project, CandidateStatus::Interviewed).await;
    let target = format!("{other}evaluations/{}/", owner.id());
    let rating = json!({ "question": question, "value": 4 });
    let both =
        json!({ "ratings": [rating, evaluation["ratings"][0]], "recommendation": "no", "completed": true });
    owner.send(Request::put(&target).json(&both)).await.expect(201);
    owner.delete(&target).await.expect(204);
    let veto = json!({ "comment": "The certificates are forged." });
    owner.post(&format!("{candidate}vetos/"), veto).await.expect(201);
    let upload = json!({ "field": "cv", "content_type": "application/pdf", "size": 9_000_000 });
    owner.post(&format!("{candidate}uploads/"), upload).await.expect(201);
    let remind = json!({ "action": "remind", "status": "invited" });
    let remind = Request::post(&format!("{project}candidates/bulk/")).json(&remind);
    owner.send(remind.header("idempotency-key", "one")).await.expect(200);
}

/// Creates candidates: one whose interview was reopened after a guest had watched it, one whose interview ended by
/// time, one who continues after that, two who have asked for help, and one whose interview was cancelled.
async fn interviews(owner: &Staff) {
    let app = owner.app();
    let fields = json!({ "allow_hash_login": true, "interview_platform": "builtin" });
    let project = owner.running_project(fields).await;
    let mut questions = Vec::new();
    for text in ["Why us?", "Since when?"] {
        let question = json!({ "text": text, "kind": "text" });
        let asked = owner.post(&format!("{project}questions/"), question).await.expect(201);
        questions.push(asked.uri("resource_uri"));
    }
    let begun = async |answered: usize| {
        let candidate = owner.invite(&project, json!({})).await;
        for _ in ["confirmed", "interviewing"] {
            candidate.advance(&candidate.uri).await.expect(200);
        }
        for question in &questions[..answered] {
            let answer = format!("{}answers/{}/", candidate.uri, last_segment(question));
            candidate.send(Request::put(&answer).json(&json!({ "text": "2019" }))).await.expect(201);
        }
        candidate
    };
    let late = [begun(1).await, begun(1).await];
    for candidate in &late {
        owner.set_deadline(&candidate.uri, &app.clock().in_days(0)).await.expect(200);
    }
    app.clock().advance(TimeDelta::minutes(61));
    app.expire_overdue().await;
    let request = json!({ "reason": "More time.", "deadline": app.clock().in_days(7) });
    owner.post(&format!("{}interview/reopen/", late[1].uri), request).await.expect(200);

    // One open request, and one with an answer.
    let [asking, told] = [begun(0).await, begun(1).await];
    for candidate in [&asking, &told] {
        candidate.ask(&candidate.uri, "adjustment", "Could I answer in writing?").await.expect(200);
    }
    owner.answer_help(&told.uri, "Yes, from now on.").await.expect(200);

    let cancelled = begun(1).await;
    owner.cancel(&cancelled.uri).await.expect(200);

    let candidate = begun(2).await;
    candidate.get("/whoami/candidate/?opened=true").await.expect(200);
    candidate.advance(&candidate.uri).await.expect(200);
    let links = format!("{}guest-links/", candidate.uri);
    let guest = json!({ "recipient": "Head of sales" });
    let withdrawn = owner.post(&links, guest.clone()).await.expect(201).uri("resource_uri");
    owner.delete(&withdrawn).await.expect(204);
    let link = owner.post(&links, guest).await.expect(201).uri("url");
    let key = format!("GuestKey {}", last_segment(&link));
    app.send(Request::get("/review/").header("authorization", &key)).await.expect(200);
    app.send(Request::post("/review/opening/").header("authorization", &key)).await.expect(204);
    let request = json!({ "reason": "No sound.", "message": "Please record it once more." });
    owner.post(&format!("{}interview/reopen/", candidate.uri), request).await.expect(200);
    let draft = format!("{}answers/{}/draft/", candidate.uri, last_segment(&questions[1]));
    candidate.send(Request::put(&draft).json(&json!({ "text": "Because of" }))).await.expect(204);
}

/// Creates a recorded answer with captions, to a question whose text has changed since.
async fn recording(owner: &Staff) {
    let recorded = Interviewee::asked_by(owner.clone(), json!({})).await;
    let take = recorded.record(&[&film()]).await;
    recorded.caption(take, "en", CAPTIONS).await.expect(200);
    let (project, _) = recorded.candidate.uri.split_once("candidates/").expect("a project");
    let question = format!("{project}questions/{}/", last_segment(&recorded.answer));
    owner.patch(&question, json!({ "text": "Why not us?" })).await.expect(200);
}

/// Creates a named token that trusts a workload, with one failed and one successful exchange.
async fn pipeline(app: &TestApp, owner: &Staff) {
    let key = SigningKey::new("k", SigningAlgorithm::Es256);
    let issuer = TestIssuer::start(&[&key]).await;
    let body = json!({ "name": "CI", "trust": Platform::GitHub.trust(&issuer.url) });
    let tokens = format!("/companies/{}/tokens/", owner.company);
    let uri = owner.post(&tokens, body).await.expect(201).uri("resource_uri");
    let mut claims =
        Platform::GitHub.claims(&issuer.url, app.app().config().base_url.as_str(), app.clock().now());
    let exchange = async |claims: &Value| {
        let parameters = json!({
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": key.sign(claims),
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "resource": uri,
        });
        app.anonymous().post("/api-token-exchange/", parameters).await
    };
    let token = app.token(&exchange(&claims).await.expect(200).uri("access_token"));
    token.get("/whoami/").await.expect(200);
    claims["sub"] = "repo:acme/ats:pull_request".into();
    exchange(&claims).await.expect(400);
    app.app().finish_background().await;
}

/// Sets up sign-in by a provider, and links a customer.
async fn provider(owner: &Staff, linked: &str) {
    // Changing the settings requires a login within the last hour.
    let owner = owner.again().await;
    let issuer = TestIssuer::start(&[&SigningKey::new("k", SigningAlgorithm::Es256)]).await;
    let settings = json!({
        "issuer": issuer.url, "client_id": CLIENT, "client_secret": CLIENT_SECRET,
        "domains": [format!("{}.example", owner.company)], "required": false, "break_glass": [owner.uri],
    });
    let uri = format!("/companies/{}/sign-in/", owner.company);
    owner.send(Request::put(&uri).json(&settings)).await.expect(200);
    let link = json!({ "subject": "00u1a2b3c4d5e6f7" });
    owner.send(Request::put(&format!("{linked}sign-in/")).json(&link)).await.expect(200);
}

/// Creates three ended interviews: staff have been notified of the first, the second waits for the next mail, and the
/// schedule has not read the third.
async fn notices(app: &TestApp, owner: &Staff, project: &str) {
    for _ in 0..3 {
        app.clock().advance(TimeDelta::minutes(5));
        app.sweep().await;
        owner.candidate_at(project, CandidateStatus::Interviewed).await;
        app.settle().await;
    }
}

/// Creates staff of every kind, with all traces that accounts leave.
async fn people(app: &TestApp, owner: &Staff) {
    owner.named_token("Payroll").await;
    let report = json!({ "name": "Report", "read_only": true, "expires_at": app.clock().in_days(7) });
    owner.named_token_with(report).await;
    pipeline(app, owner).await;
    owner.colleague("admin", json!({ "email": format!("mailed@{}.example", owner.company) })).await;
    app.settle().await;
    owner.colleague("hiring-manager", json!({})).await;
    let moved = owner.colleague("recruiter", json!({})).await.activate().await;
    owner.patch(&moved.uri, json!({ "email": app.next_email() })).await.expect(200);
    provider(owner, &moved.uri).await;
    app.anonymous().log_in(&owner.company, "nobody", "wrong password").await.expect(401);
    let forgotten = json!({ "company": owner.company, "username": owner.username });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
}

/// Creates a webhook with every attribute.
async fn webhooks(app: &TestApp, owner: &Staff, project: &str) {
    let fields = json!({
        "url": "https://hooks.example.com/in", "description": "Payroll", "types": ["candidate.*"], "projects": [project],
    });
    let webhook = owner
        .post(&format!("/companies/{}/webhooks/", owner.company), fields)
        .await
        .expect(201)
        .uri("resource_uri");
    owner.post(&format!("{webhook}secret/"), json!({})).await.expect(200);
    owner.post(&format!("{webhook}ping/"), json!({})).await.expect(202);
    let (system, webhook) =
        (SystemAccess::of(app.app()), last_segment(&webhook).parse().expect("an identifier"));
    let next_try_at = system.now + TimeDelta::minutes(5);
    let attempt = DeliveryAttempt {
        id: system.store.next_id(system.now),
        webhook,
        event: Some("evt_01ARZ3NDEKTSV4RRFFQ69G5FAV_1_1794132000".to_owned()),
        attempt: 1,
        outcome: DeliveryOutcome::Failed,
        status_code: Some(500),
        error: None,
        milliseconds: 87,
        response: Some("Out of order.".to_owned()),
        at: system.now,
        next_try_at: Some(next_try_at),
    };
    let before =
        system.store.endpoint(&owner.company.parse().expect("a company"), webhook).await.expect("a read");
    let before = before.expect("a webhook");
    let history = "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned();
    let mut stalled = StalledResource::new(&before.cursor, history, 1, next_try_at);
    stalled.first_tried_at = Some(system.now);
    let after = DeliveryProgress {
        webhook: Webhook::clone(&before.webhook),
        cursor: DeliveryCursor { stalled_count: 1, ..DeliveryCursor::clone(&before.cursor) },
        stalled: vec![stalled],
        attempts: vec![attempt],
        effects: Vec::new(),
    };
    system.commit(system.store.record_progress(&before, &after)).await.expect("a commit");
}
