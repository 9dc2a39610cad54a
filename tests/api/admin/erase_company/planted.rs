//! A company about which everything is stored that can be, each text with a word that is nowhere else.

use docs::DOCUMENT;
use image::ImageFormat;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::document::request_body;
use tests::files::{Form, photo, photo_saying};
use tests::http::Request;
use tests::issuer::{SigningAlgorithm, SigningKey, TestIssuer};

use crate::events::webhooks::endpoint::TestEndpoint;
use crate::system::erasure::planted::{CANARY, PlantedCandidate, plant};

const ADDRESS: &str = "zugvogelnest@acme.example";
const PROJECT: &str = "/companies/{companyId}/projects/{projectId}";

/// The company, with an endpoint that answers its webhook with an error.
pub(crate) struct PlantedCompany {
    pub(crate) owner: Staff,
    pub(crate) project: String,
    _endpoint: TestEndpoint,
    _issuer: TestIssuer,
}

/// Every text that the reference lets clients write with this method at this route.
fn texts(method: &str, route: &str) -> Value {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let body = request_body(&document, method, route);
    let mut written = json!({});
    for (name, schema) in body["properties"].as_object().unwrap() {
        let schema = schema["anyOf"].get(0).unwrap_or(schema);
        let is_text = schema["type"] == "string" || schema["type"] == json!(["string", "null"]);
        let is_free = is_text && schema["enum"].is_null();
        let text = match (schema["format"].as_str(), name.as_str()) {
            (_, "photo" | "value" | "content_type" | "timezone" | "username") => continue,
            (Some("email"), _) => json!(ADDRESS),
            (Some("uri"), _) => json!(format!("https://{CANARY}.example/")),
            (None, "partner_data") => json!({ CANARY: [CANARY] }),
            (None, _) if is_free => {
                let most = schema["maxLength"].as_u64().unwrap_or(20).try_into().unwrap();
                json!(format!("{CANARY} {name}").chars().take(most).collect::<String>())
            }
            _ => continue,
        };
        written[name] = text;
    }
    written
}

fn with(mut texts: Value, fields: Value) -> Value {
    texts.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    texts
}

/// Plants a company with one of everything.
pub(crate) async fn plant_company(app: &TestApp) -> PlantedCompany {
    let PlantedCandidate { owner, project, .. } = plant(app).await;
    let endpoint = TestEndpoint::start(|_| 500).await;
    let webhook = json!({ "url": endpoint.url, "types": ["candidate.*", "customer.*"] });
    let company = "/companies/acme/";
    owner.patch(company, texts("patch", "/companies/{companyId}/")).await.expect(200);
    let staff = texts("patch", "/companies/{companyId}/customers/{customerId}/");
    let colleague = owner.colleague("recruiter", json!({})).await.activate().await;
    let form = Form::new().file("photo", "p.jpg", "image/jpeg", &photo_saying(CANARY));
    colleague.send(Request::patch(&colleague.uri).form(form)).await.expect(200);
    owner.patch(&colleague.uri, staff).await.expect(200);
    let issuer = TestIssuer::start(&[&SigningKey::new(CANARY, SigningAlgorithm::Es256)]).await;
    let provider = json!({
        "issuer": issuer.url, "client_id": CANARY, "client_secret": CANARY, "domains": [format!("{CANARY}.example")],
    });
    owner.send(Request::put(&format!("{company}sign-in/")).json(&provider)).await.expect(200);
    let link = Request::put(&format!("{}sign-in/", colleague.uri)).json(&json!({ "subject": CANARY }));
    owner.send(link).await.expect(200);
    for (path, fields) in [
        ("labels", json!({})),
        ("tokens", json!({})),
        ("webhooks", webhook),
        ("videos", json!({ "content_type": "video/mp4", "size": 9 })),
    ] {
        let body = with(texts("post", &format!("/companies/{{companyId}}/{path}/")), fields);
        owner.post(&format!("{company}{path}/"), body).await.expect(201);
    }
    let label = owner.label(CANARY).await;
    let videos = owner.get("/companies/acme/videos/").await.expect(200).json();
    let video = videos["objects"][0]["resource_uri"].as_str().unwrap();
    let captions = format!("WEBVTT\n\n00:01.000 --> 00:02.000\n{CANARY}\n");
    for (uri, file) in [
        (format!("{video}captions/en/"), captions.into_bytes()),
        (format!("{company}logo/"), photo(ImageFormat::Png, 8, 8)),
    ] {
        let form = Form::new().file("file", CANARY, "", &file);
        owner.send(Request::put(&uri).form(form)).await.expect(200);
    }
    let shown = json!([{ "uri": video, "position": 1 }]);
    let project_texts = texts("patch", &format!("{PROJECT}/"));
    let fields = json!({ "labels": [label], "videos": shown, "interview_managers": [colleague.uri] });
    owner.patch(&project, with(project_texts, fields)).await.expect(200);
    let drafted = owner.project(json!({ "name": CANARY })).await;
    for (path, fields) in [("questions", json!({ "kind": "text" })), ("criteria", json!({}))] {
        let body = with(texts("post", &format!("{PROJECT}/{path}/")), fields);
        owner.post(&format!("{drafted}{path}/"), body).await.expect(201);
    }
    let new = json!({ "first_name": CANARY, "last_name": CANARY, "email": app.next_email() });
    let new = Request::post(&format!("{drafted}candidates/")).header("idempotency-key", CANARY).json(&new);
    owner.send(new).await.expect(201);
    app.settle().await;
    PlantedCompany { owner, project, _endpoint: endpoint, _issuer: issuer }
}
