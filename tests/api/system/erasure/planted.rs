//! A candidate about whom everything is stored that can be, each text with a word that is nowhere else.

use chrono::TimeDelta;
use docs::DOCUMENT;
use serde_json::{Value, json};
use shared::clock::Clock;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::document::request_body;
use tests::files::{Form, docx, photo_saying, put};
use tests::http::Request;
use tests::moment::Moment;
use tests::takes::{captions_of, signed_part};
use tests::videos::film;

use crate::companies::legal::publish;

/// Words are stored in several cases.
pub(crate) const CANARY: &str = "zugvogelnest";
pub(crate) const ADDRESS: &str = "zugvogelnest@mail.example";

pub(crate) struct PlantedCandidate {
    pub(crate) owner: Staff,
    pub(crate) project: String,
    pub(crate) candidate: String,
}

impl PlantedCandidate {
    /// The candidate's identifier.
    pub(crate) fn id(&self) -> &str {
        last_segment(&self.candidate)
    }
}

/// The keys of stored items and objects that contain the word.
pub(crate) fn found(moment: &Moment) -> Vec<String> {
    let is_found = |(_, text): &(String, String)| text.to_lowercase().contains(CANARY);
    moment.texts().filter(is_found).map(|(key, _)| key).collect()
}

/// Plants an interviewed candidate, whom two have evaluated.
pub(crate) async fn plant(app: &TestApp) -> PlantedCandidate {
    let owner = app.owner().await;
    let second = app.staff("hiring-manager").await;
    let fields = json!({
        "allow_hash_login": true, "veto_enabled": true, "evaluators": [owner.uri, second.uri],
    });
    let project = owner.running_project(fields).await;
    let criterion = owner.post(&format!("{project}criteria/"), json!({ "name": "Listening" })).await;
    let criterion = criterion.expect(201).uri("resource_uri");
    let question = json!({ "text": "Why us?", "kind": "text", "is_required": false });
    let question =
        owner.post(&format!("{project}questions/"), question).await.expect(201).uri("resource_uri");
    let recorded = json!({ "text": "Which one?", "is_required": false });
    let recorded =
        owner.post(&format!("{project}questions/"), recorded).await.expect(201).uri("resource_uri");
    let invited = owner.invite(&project, json!({})).await;
    let (own, candidate) = (invited.register().await, invited.uri.clone());
    for _ in 0..2 {
        own.advance(&candidate).await.expect(200);
    }
    let answer = format!("{candidate}answers/{}/", last_segment(&question));
    own.send(Request::put(&answer).json(&json!({ "text": format!("{CANARY}, because") }))).await.expect(201);
    let answer = format!("{candidate}answers/{}/", last_segment(&recorded));
    own.send(Request::post(&format!("{answer}takes/")).json(&json!({}))).await.expect(201);
    let signed =
        own.post(&format!("{answer}takes/1/parts/"), signed_part(1, &film())).await.expect(200).json();
    assert_eq!(put(&signed["parts"][0], film()).await.status, 200);
    own.patch(&format!("{answer}takes/1/"), json!({ "parts": 1 })).await.expect(200);
    let captions = format!("WEBVTT\n\n00:01.000 --> 00:02.000\n{CANARY}\n");
    let put_captions = Request::put(&format!("{answer}captions/en/")).form(captions_of(1, &captions));
    owner.send(put_captions).await.expect(200);
    own.ask(&candidate, "adjustment", &format!("{CANARY}, please")).await.expect(200);
    owner.answer_help(&candidate, &format!("{CANARY}, of course")).await.expect(200);
    let text = publish(&owner, "consent", false).await;
    let version: u32 = last_segment(&text).trim_start_matches("consent-").parse().unwrap();
    let consent = json!({ "version": version, "language": "en" });
    owner.send(Request::put(&format!("{candidate}consents/consent/")).json(&consent)).await.expect(200);
    app.complete(&candidate).await;
    // The mail about it goes to the address of then, which no other test has.
    app.settle().await;
    owner.patch(&candidate, written()).await.expect(200);
    let form = Form::new().file("photo", &format!("{CANARY}.jpg"), "image/jpeg", &photo_saying(CANARY)).file(
        "cv",
        &format!("{CANARY}.docx"),
        "application/octet-stream",
        &docx(CANARY),
    );
    owner.send(Request::patch(&candidate).form(form)).await.expect(200);
    owner.post(&format!("{candidate}shares/"), json!({ "customer": second.uri })).await.expect(201);
    let link = json!({ "recipient": CANARY });
    owner.post(&format!("{candidate}guest-links/"), link).await.expect(201);
    for by in [&owner, &second] {
        let rating = json!({ "criterion": criterion, "value": 4, "comment": CANARY });
        let remark = json!({ "question": question, "value": null, "comment": CANARY });
        let body = json!({ "ratings": [rating, remark], "comment": CANARY, "completed": true });
        let own = format!("{candidate}evaluations/{}/", by.id());
        by.send(Request::put(&own).json(&body)).await.expect(201);
    }
    let veto = json!({ "comment": format!("{CANARY}, and I mean it") });
    owner.post(&format!("{candidate}vetos/"), veto).await.expect(201);
    // It ends before anything is deleted, but its reason stays in the candidate.
    let hold = json!({ "reason": CANARY, "until": (app.clock().now() + TimeDelta::seconds(1)).to_rfc3339() });
    owner.send(Request::put(&format!("{candidate}hold/")).json(&hold)).await.expect(200);
    app.clock().advance(TimeDelta::seconds(1));
    app.settle().await;
    PlantedCandidate { owner, project, candidate }
}

/// Every field of a candidate that the reference lets clients write, with the word in each text.
pub(crate) fn written() -> Value {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let route = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/";
    let body = request_body(&document, "patch", route);
    let mut written = json!({});
    for (name, field) in body["properties"].as_object().unwrap() {
        let text = match name.as_str() {
            "email" => json!(ADDRESS),
            // The address counts at once, as that of a candidate with a password would not.
            "confirm" => json!(true),
            "partner_data" => json!({ CANARY: [CANARY] }),
            // These fields hold numbers.
            "adjustments" => json!({ "extra_takes": 1 }),
            "language" => json!("en"),
            // Files come as a form; the others are the candidate's own, or no text.
            "photo" | "cv" | "password" | "deadline" | "receive_mails" => continue,
            // A field that has no line above must be a text.
            _ => json!(format!("{CANARY} {name}").chars().take(20).collect::<String>()),
        };
        let text = if name == "username" { json!(CANARY) } else { text };
        assert!(field.is_object(), "{name}");
        written[name] = text;
    }
    assert!(written.as_object().unwrap().len() > 7, "{written}");
    written
}

/// The events of the candidate by their first types.
pub(crate) async fn told(planted: &PlantedCandidate) -> Vec<Value> {
    let query = format!("resource={}", planted.candidate);
    // A session of former steps may have ended, or be one that a restoration has taken back.
    let events = crate::events::feed::read_all(&planted.owner.new_token().await, &query).await;
    assert!(events.iter().all(|event| event["data"]["resource_uri"] == json!(planted.candidate)));
    events
}
