//! Texts of several lines: all are read in one way, those of candidates and of staff.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::http::{Request, Response};

use crate::evaluations::crud::{given, save};
use crate::interviews::reopening::reopening;
use crate::interviews::{begin, interview, project, write};

/// Line breaks of each kind, blanks around and in lines, a tab, and characters that show nothing.
const SENT: &str = " \u{2028}\r\n  if it rains:\u{b}\tstay\u{200b} in\u{85}\u{2029}else\u{1b} go \u{2060}out\u{feff}\u{c}\u{200c}\rnow \r\n\n";
const KEPT: &str = "  if it rains:\n\tstay in\n\nelse go out\n\u{200c}\nnow";

fn kept(response: Response, field: &str) -> Option<String> {
    let json = response.json();
    assert_eq!(json[field], KEPT, "{json}");
    json["resource_uri"].as_str().map(ToOwned::to_owned)
}

#[tokio::test]
async fn texts_of_staff_keep_their_lines() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    for (uri, field) in [(&candidate, "address"), (&"/companies/acme/".to_owned(), "address")] {
        kept(owner.patch(uri, json!({ field: SENT })).await.expect(200), field);
    }
    let video = json!({ "name": "Hello", "description": SENT, "internal_description": SENT,
        "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 1000 });
    let video = owner.post("/companies/acme/videos/", video).await.expect(201);
    kept(video.clone(), "internal_description");
    let video = kept(video, "description").unwrap();
    for field in ["description", "internal_description"] {
        kept(owner.patch(&video, json!({ field: SENT })).await.expect(200), field);
    }
    let question = json!({ "text": SENT, "internal_description": SENT });
    let question = owner.post(&format!("{project}questions/"), question).await.expect(201);
    kept(question.clone(), "internal_description");
    let question = kept(question, "text").unwrap();
    kept(owner.patch(&question, json!({ "text": SENT })).await.expect(200), "text");
    let criterion = json!({ "name": "Speech", "description": SENT });
    let criterion = owner.post(&format!("{project}criteria/"), criterion).await.expect(201);
    let criterion = kept(criterion, "description").unwrap();
    kept(owner.patch(&criterion, json!({ "description": SENT })).await.expect(200), "description");
    let hold = Request::put(&format!("{candidate}hold/")).json(&json!({ "reason": SENT }));
    kept(owner.send(hold).await, "reason");
    let legal = json!({ "kind": "consent", "texts": { "en": SENT, "de": SENT } });
    let legal = owner.post("/companies/acme/legal/", legal).await.expect(201).json();
    assert_eq!(legal["texts"], json!({ "en": KEPT, "de": KEPT }));
}

#[tokio::test]
async fn texts_of_imports_keep_their_lines() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let row = json!([{ "first_name": "Ada", "last_name": "Byron", "address": SENT }]);
    let imported = owner.post(&format!("{project}candidates/import/"), row).await.expect(200).json();
    let text = imported.to_string();
    let uri = text.split('"').find(|part| part.contains("/candidates/") && !part.contains("import")).unwrap();
    kept(owner.get(uri).await.expect(200), "address");
}

#[tokio::test]
async fn texts_of_evaluators_keep_their_lines() {
    let given = given().await;
    let evaluator = &given.evaluators[0];
    let candidate = given.interviewed().await;
    let rating = json!({ "question": given.question, "value": 4, "comment": SENT });
    let evaluation = json!({ "ratings": [rating], "comment": SENT });
    let saved = save(evaluator, &candidate, evaluation).await.expect(201);
    assert_eq!(saved.json()["ratings"][0]["comment"], KEPT);
    kept(saved, "comment");
    let veto = evaluator.post(&format!("{candidate}vetos/"), json!({ "comment": SENT })).await;
    kept(veto.expect(201), "comment");
}

#[tokio::test]
async fn texts_of_candidates_and_to_them_keep_their_lines() {
    let app = TestApp::start().await;
    let owner: Staff = app.owner().await;
    let question = json!({ "text": "Why us?", "kind": "text" });
    let (project, questions) = project(&owner, json!({}), &[question]).await;
    let candidate = begin(&owner, &project).await;
    let draft = format!("{}answers/{}/draft/", candidate.uri, last_segment(&questions[0]));
    candidate.send(Request::put(&draft).json(&json!({ "text": SENT }))).await.expect(204);
    let answers = async || -> Value { interview(&candidate, &candidate.uri).await["answers"][0].clone() };
    assert_eq!(answers().await["draft"]["text"], KEPT);
    kept(write(&candidate, &questions[0], SENT).await.expect(201), "text");
    assert_eq!(answers().await["text"], KEPT);
    candidate.advance(&candidate.uri).await.expect(200);
    let request = reopening(&candidate.uri, json!({ "reason": SENT, "message": SENT }));
    let reopened = owner.send(request).await.expect(200).json();
    assert_eq!(reopened["reopening"]["reason"], KEPT);
    assert_eq!(reopened["reopening"]["message"], KEPT);
    candidate.ask(&candidate.uri, "technical", SENT).await.expect(200);
    let answered = owner.answer_help(&candidate.uri, SENT).await.expect(200).json();
    assert_eq!(answered["help_request"]["text"], KEPT);
    assert_eq!(answered["help_request"]["answer"], KEPT);
    let cancel = format!("{}cancel/", candidate.uri);
    let cancelled = owner.post(&cancel, json!({ "reason": SENT })).await.expect(200).json();
    assert_eq!(cancelled["cancellation"]["reason"], KEPT);
}
