//! An interview that guests watch.

use serde_json::{Value, json};
use tests::caller::{Caller, last_segment, merge};
use tests::files::Form;
use tests::http::Request;
use tests::takes::Interviewee;

use crate::visit::Visit;
use crate::{film, sent_along};

pub(crate) const WRITTEN: &str = "Between 60,000 and 70,000 euros.\nFrom March on.";

/// An interview with a recorded answer, one in writing, one that is missing, and one that is not converted yet.
pub(crate) struct Watched {
    pub(crate) visit: Visit,
}

/// The first question of an interview, and its answer.
pub(crate) struct FirstQuestion {
    pub(crate) text: String,
    /// The film that asks it, with captions.
    pub(crate) asking: Option<Vec<u8>>,
    /// The answer.
    pub(crate) film: Vec<u8>,
}

impl Default for FirstQuestion {
    fn default() -> Self {
        Self { text: "Why us?".to_owned(), asking: None, film: film() }
    }
}

impl Watched {
    pub(crate) async fn build(fields: Value) -> Self {
        Self::with_first(fields, FirstQuestion::default()).await
    }

    pub(crate) async fn with_first(fields: Value, first: FirstQuestion) -> Self {
        let FirstQuestion { text, asking, film } = first;
        let questions = [
            json!({ "text": text }),
            json!({ "text": "Which salary do you expect?", "kind": "text" }),
            json!({ "text": "What are you proud of?", "is_required": false }),
            json!({ "text": "What have we not asked?" }),
        ];
        let visit = Visit::invited(fields, &questions).await;
        let candidate = &visit.candidate;
        let (project, _) = candidate.uri.split_once("candidates/").unwrap();
        let listed = visit.owner.get(&format!("{project}questions/")).await.expect(200).json();
        let uris: Vec<_> = listed["objects"]
            .as_array()
            .unwrap()
            .iter()
            .map(|question| question["resource_uri"].as_str().unwrap())
            .collect();
        if let Some(asking) = asking {
            let video = sent_along(&visit.owner, &asking).await;
            let captions = "WEBVTT\n\n00:00.500 --> 00:03.500\nWhy us?\n";
            let captions = Form::new().file("file", "captions.vtt", "text/vtt", captions.as_bytes());
            let put = Request::put(&format!("{video}captions/en/")).form(captions);
            visit.owner.send(put).await.expect(200);
            visit.owner.patch(uris[0], json!({ "video": video })).await.expect(200);
        }
        for _ in ["confirmed", "interviewing"] {
            candidate.advance(&candidate.uri).await.expect(200);
        }
        let answers: Vec<_> =
            uris.iter().map(|uri| format!("{}answers/{}/", candidate.uri, last_segment(uri))).collect();
        let [recorded, written, _, late] = &answers[..] else { panic!("{listed}") };
        let taker = |answer: &String| Interviewee {
            owner: visit.owner.clone(),
            candidate: candidate.clone(),
            answer: answer.clone(),
        };
        let take = taker(recorded).record(&[&film]).await;
        visit.app.settle().await;
        let captions = "WEBVTT\n\n00:00.500 --> 00:03.500\nBecause I like it.\n";
        taker(recorded).caption(take, "en", captions).await.expect(200);
        candidate.send(Request::put(written).json(&json!({ "text": WRITTEN }))).await.expect(201);
        taker(late).record(&[&film]).await;
        candidate.advance(&candidate.uri).await.expect(200);
        Self { visit }
    }

    pub(crate) fn links(&self) -> String {
        format!("{}guest-links/", self.visit.candidate.uri)
    }

    /// A new link.
    pub(crate) async fn link(&self, fields: Value) -> String {
        let mut body = json!({ "recipient": "Head of sales" });
        merge(&mut body, fields);
        let made = self.visit.owner.post(&self.links(), body).await.expect(201).json();
        made["url"].as_str().unwrap().to_owned()
    }
}
