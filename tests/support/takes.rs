//! Candidates who answer the questions of an interview with takes, and what they upload.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::caller::{Caller, Invited, Staff, last_segment};
use crate::files::{Fetched, Form, put};
use crate::http::{Request, Response};

/// The body that requests the signed upload of a part.
pub fn signed_part(number: usize, bytes: &[u8]) -> Value {
    let sha256 = STANDARD.encode(digest(&SHA256, bytes));
    json!({ "parts": [{ "number": number, "size": bytes.len(), "sha256": sha256 }] })
}

/// The form that captions a take.
pub fn captions_of(take: u64, text: &str) -> Form {
    let form = Form::new().text("take", &take.to_string());
    form.file("file", "captions.vtt", "text/vtt", text.as_bytes())
}

/// A candidate in an interview in the service with one question.
#[derive(Clone)]
pub struct Interviewee {
    /// The manager of the project.
    pub owner: Staff,
    /// The candidate, with their key.
    pub candidate: Invited,
    /// The path of the answer.
    pub answer: String,
}

impl Interviewee {
    /// A candidate who has started the interview. `question` has fields of the question besides its text.
    pub async fn asked(app: &TestApp, question: Value) -> Self {
        Self::asked_by(app.owner().await, question).await
    }

    /// Like [`asked`](Self::asked), in the company of this owner.
    pub async fn asked_by(owner: Staff, question: Value) -> Self {
        let fields = json!({ "allow_hash_login": true, "interview_platform": "builtin" });
        let project = owner.running_project(fields).await;
        let mut asked = json!({ "text": "Why us?", "position": 1 });
        crate::caller::merge(&mut asked, question);
        let question = owner.post(&format!("{project}questions/"), asked).await.expect(201);
        let candidate = owner.invite(&project, json!({})).await;
        for _ in ["confirmed", "interviewing"] {
            candidate.advance(&candidate.uri).await.expect(200);
        }
        let answer = format!("{}answers/{}/", candidate.uri, last_segment(&question.uri("resource_uri")));
        Self { owner, candidate, answer }
    }

    /// Begins a take and returns its number.
    pub async fn begin(&self) -> u64 {
        let begun = self.candidate.post(&format!("{}takes/", self.answer), json!({})).await.expect(201);
        begun.json()["number"].as_u64().expect("a number")
    }

    /// Announces a part. Returns the signed upload request.
    pub async fn announced(&self, take: u64, number: usize, bytes: &[u8]) -> Value {
        let parts = format!("{}takes/{take}/parts/", self.answer);
        let signed = self.candidate.post(&parts, signed_part(number, bytes)).await.expect(200).json();
        signed["parts"][0].clone()
    }

    /// Uploads a part, dated by the service's clock.
    pub async fn send(&self, take: u64, number: usize, bytes: &[u8]) -> Fetched {
        let sent = put(&self.announced(take, number, bytes).await, bytes.to_vec()).await;
        self.owner.app().date_objects(&format!("/{take}/{number:04}"));
        sent
    }

    /// Finishes a take with a recorded length in seconds.
    pub async fn finish(&self, take: u64, parts: Option<usize>, seconds: u32) -> Value {
        let take = format!("{}takes/{take}/", self.answer);
        let finished = json!({ "parts": parts, "recorded_seconds": seconds });
        self.candidate.patch(&take, finished).await.expect(200).json()
    }

    /// Records a take of two seconds in these parts and finishes it. Returns its number.
    pub async fn record(&self, parts: &[&[u8]]) -> u64 {
        let take = self.begin().await;
        for (number, part) in (1..).zip(parts) {
            assert_eq!(self.send(take, number, part).await.status, 200);
        }
        assert_eq!(self.finish(take, Some(parts.len()), 2).await["status"], "pending");
        take
    }

    /// Captions a take, as the manager.
    pub async fn caption(&self, take: u64, language: &str, text: &str) -> Response {
        let captions = format!("{}captions/{language}/", self.answer);
        self.owner.send(Request::put(&captions).form(captions_of(take, text))).await
    }

    /// The view of the answer for staff.
    pub async fn answer(&self) -> Value {
        self.owner.get(&self.answer).await.expect(200).json()
    }

    /// The EventBridge event of a take's marker.
    pub fn marker_event(&self, take: u64, id: &str) -> Value {
        let segments: Vec<&str> = self.answer.trim_end_matches('/').rsplit('/').collect();
        let [question, _, candidate, _, project, _, company, ..] = segments[..] else {
            panic!("{segments:?}")
        };
        let key = format!("uploads/conversions/{company}/{project}/{candidate}/{question}/{take}");
        let detail = json!({ "bucket": { "name": "MediaBucket" }, "object": { "key": key } });
        json!({ "id": id, "source": "aws.s3", "detail-type": "Object Created", "detail": detail })
    }
}
