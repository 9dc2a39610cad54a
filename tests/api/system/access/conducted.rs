//! Requests about interviews that the service conducts.

use serde_json::json;
use tests::caller::{Caller, Invited, Token, last_segment};
use tests::http::Request;
use tests::takes::signed_part;
use tests::videos::film;

use super::given::AccessFixture;
use super::sent::{guest_link, question};

/// Whether a path is about an interview that the service conducts.
pub(super) fn is_conducted(path: &str) -> bool {
    let parts = ["answers/", "interview/", "guest-links/"];
    parts.iter().any(|part| path.contains(&format!("{{candidateId}}/{part}")))
}

/// A candidate by the credential that they have.
enum Interviewed<'a> {
    Key(&'a Invited),
    Token(Token),
}

impl AccessFixture {
    /// The path with the identifiers of a question that the candidate has begun to answer and, for a file, has answered.
    pub(super) async fn answered(&self, path: &str, target: String, candidate: &Invited) -> String {
        let questions =
            target.split_inclusive("/candidates/").next().unwrap().replace("candidates", "questions");
        let asked = self.owner.get(&questions).await.expect(200).json();
        let asked = match asked["objects"][0]["resource_uri"].as_str() {
            Some(asked) => asked.to_owned(),
            None => self.owner.post(&questions, question()).await.expect(201).uri("resource_uri"),
        };
        // So that the question can be answered in writing too.
        self.owner.patch(&candidate.uri, json!({ "adjustments": { "may_write": true } })).await.expect(200);
        let itself = self.begun(candidate).await;
        let target = target.replace("{questionId}", last_segment(&asked));
        if path.contains("/guest-links/") {
            let answer = format!("{}answers/{}/", candidate.uri, last_segment(&asked));
            itself.send(Request::put(&answer).json(&json!({ "text": "Because." }))).await.expect(201);
        }
        if path.ends_with("/interview/reopen/") || path.contains("/guest-links/") {
            self.app.complete(&candidate.uri).await;
        }
        if path.contains("{guestLinkId}") {
            let links = format!("{}guest-links/", candidate.uri);
            let link = self.owner.post(&links, guest_link()).await.expect(201).uri("resource_uri");
            return target.replace("{guestLinkId}", last_segment(&link));
        }
        if !path.contains("{candidateId}/answers/") {
            return target;
        }
        let takes = format!("{}answers/{}/takes/", candidate.uri, last_segment(&asked));
        let begun = itself.send(Request::post(&takes).json(&json!({}))).await.expect(201);
        let take = begun.uri("resource_uri");
        let has_captions = path.contains("/captions/");
        if path.contains("{token}") || has_captions {
            let parts = Request::post(&format!("{take}parts/")).json(&signed_part(1, &film()));
            let signed = itself.send(parts).await.expect(200).json();
            tests::files::put(&signed["parts"][0], film()).await;
            itself.send(Request::patch(&take).json(&json!({ "parts": 1 }))).await.expect(200);
        }
        if has_captions {
            let target = target.replace("{language}", "en");
            let captions = target.split_inclusive("/captions/en/").next().unwrap();
            self.owner.send(Request::put(captions).form(self.captions(captions).await)).await.expect(200);
            return target;
        }
        if path.contains("{token}") {
            self.app.settle().await;
        }
        target.replace("{take}", last_segment(&take))
    }

    /// Lets a candidate begin, who may have chosen a password.
    async fn begun<'a>(&self, candidate: &'a Invited) -> Interviewed<'a> {
        let status = self.owner.get(&candidate.uri).await.expect(200).json()["status"].clone();
        let registered = self.app.anonymous().log_in("acme", &candidate.email, tests::caller::PASSWORD).await;
        let itself = match registered.status.as_u16() {
            200 => Interviewed::Token(self.app.token(&registered.uri("token"))),
            _ => Interviewed::Key(candidate),
        };
        let advance = format!("{}status/advance/", candidate.uri);
        for _ in if status == "invited" { 0..2 } else { 0..1 } {
            itself.send(Request::patch(&advance)).await.expect(200);
        }
        itself
    }
}

impl Interviewed<'_> {
    async fn send(&self, request: Request) -> tests::http::Response {
        match self {
            Self::Key(invited) => invited.send(request).await,
            Self::Token(token) => token.send(request).await,
        }
    }
}
