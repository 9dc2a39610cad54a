//! Takes over HTTP: begun, sent in parts, finished, refused, and taken back.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::http::Request;
use tests::takes::{Interviewee, signed_part};
use tests::videos::film;
use tests::{assert_refusal, assert_refusals};

use crate::system::idempotency::{assert_first, assert_replay};

async fn answer_of(one: &Interviewee) -> Value {
    one.candidate.get(&one.answer).await.expect(200).json()
}

#[tokio::test]
async fn parts_arrive_in_any_order_and_the_take_is_finished_once_all_are_there() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({})).await;
    let film = film();
    let (first, second) = film.split_at(film.len() / 2);
    let take = one.begin().await;
    assert_eq!(one.send(take, 2, second).await.status, 200);
    let waiting = one.finish(take, Some(3), 2).await;
    assert_eq!((&waiting["status"], &waiting["missing_parts"]), (&json!("awaiting-upload"), &json!([1, 3])));
    assert_eq!(one.send(take, 1, first).await.status, 200);
    let finished = one.finish(take, Some(2), 2).await;
    assert_eq!((&finished["status"], &finished["missing_parts"]), (&json!("pending"), &json!([])));
    assert_eq!(one.finish(take, Some(2), 2).await, finished, "a repeat changes nothing");
    app.settle().await;
    let answer = one.answer().await;
    assert_eq!((&answer["status"], &answer["seconds"]), (&json!("successful"), &json!(2)));
    assert_eq!(answer["dimensions"], json!({ "width": 320, "height": 240 }));
    for file in [answer["streams"]["mp4"].as_str().unwrap(), answer["thumb"].as_str().unwrap()] {
        app.anonymous().get(file).await.expect(302);
    }
}

#[tokio::test]
async fn the_bucket_stores_the_signed_bytes_and_stores_them_once() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({})).await;
    let take = one.begin().await;
    let signed = one.announced(take, 1, b"twelve bytes").await;
    let mut shorter = signed.clone();
    shorter["upload"]["headers"]["content-length"] = json!("9");
    for (request, bytes) in [(&signed, "other bytes!"), (&shorter, "too short")] {
        let refused = tests::files::put(request, bytes.into()).await;
        assert!(refused.status.is_client_error(), "{refused:?}");
    }
    assert_eq!(one.finish(take, Some(1), 1).await["missing_parts"], json!([1]));
    assert_eq!(one.send(take, 1, b"twelve bytes").await.status, 200);
    assert_eq!(one.send(take, 1, b"twelve bytes").await.status, 412);
    assert_eq!(one.send(take, 1, b"other bytes!").await.status, 412);
}

#[tokio::test]
async fn what_is_no_video_fails_and_the_take_is_given_back() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({ "takes": 1 })).await;
    one.record(&[b"not a video"]).await;
    app.settle().await;
    let failed = answer_of(&one).await;
    assert_eq!((&failed["status"], &failed["takes_left"]), (&json!("failed"), &json!(1)));
    assert!(failed["error"].is_string() && failed["take"].is_null(), "{failed}");
    let refused = one.candidate.advance(&one.candidate.uri).await;
    assert_refusal!(refused, @r#"400 {"code":"answers_missing","detail":"Answer all required questions first."}"#);
    one.record(&[&film()]).await;
    one.candidate.advance(&one.candidate.uri).await.expect(200);
}

#[tokio::test]
async fn parts_are_checked_before_they_are_signed() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({ "answer_seconds": 10 })).await;
    let take = one.begin().await;
    let parts = format!("{}takes/{take}/parts/", one.answer);
    let sha256 = signed_part(1, b"anything")["parts"][0]["sha256"].clone();
    let part = |number: Value, size: Value, sha256: Value| json!({ "number": number, "size": size, "sha256": sha256 });
    let good = part(json!(1), json!(8), sha256.clone());
    let sent = |sent: Value| one.candidate.post(&parts, json!({ "parts": sent }));
    assert_refusals!([
        one.candidate.post(&parts, json!({})).await,
        sent(json!([])).await,
        sent(json!([good, good])).await,
        sent(json!([part(json!(0), json!(8), sha256.clone())])).await,
        sent(json!([part(json!(56), json!(8), sha256.clone())])).await,
        sent(json!([part(json!(1), json!(8_388_609), sha256.clone())])).await,
        sent(json!([part(json!(1), json!(0), sha256.clone())])).await,
        sent(json!([part(json!(1), json!(8), json!("abc"))])).await,
        sent(json!(vec![good; 9])).await,
        one.candidate
            .patch(&format!("{}takes/{take}/", one.answer), json!({ "parts": 56, "source": "disk" }))
            .await,
    ], @r#"
    400 {"parts":["This field is required."]}
    400 {"parts":["Send at least one part."]}
    400 {"parts":["Each number may appear only once."]}
    2 x 400 {"parts[0].number":["Ensure this value is from 1 to 55."]}
    2 x 400 {"parts[0].size":["Ensure this value is from 1 to 8388608."]}
    400 {"parts[0].sha256":["Use the SHA-256 of the part in base64."]}
    400 {"parts":["Ensure this list has no more than 8 items."]}
    400 {"parts":["Ensure this value is from 1 to 55."],"source":["\"disk\" is not a valid choice."]}
    "#);
}

fn parts_of(one: &Interviewee, take: u64) -> String {
    format!("{}takes/{take}/parts/", one.answer)
}

#[tokio::test]
async fn a_repeated_beginning_uses_up_one_take() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({ "takes": 2 })).await;
    let begin = || {
        let takes = Request::post(&format!("{}takes/", one.answer)).json(&json!({}));
        one.candidate.send(takes.header("idempotency-key", "one"))
    };
    let first = begin().await;
    assert_first(&first);
    assert_replay(&begin().await, &first);
    assert_eq!(answer_of(&one).await["takes_begun"], 1);
}

#[tokio::test]
async fn takes_are_used_up_by_beginning_them_and_given_back_by_a_reset() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({ "takes": 2 })).await;
    // Those of the first two that the next one interrupts are free.
    for left in [1, 1, 1, 0] {
        one.begin().await;
        assert_eq!(answer_of(&one).await["takes_left"], left);
    }
    let takes = format!("{}takes/", one.answer);
    let refused = one.candidate.post(&takes, json!({})).await;
    assert_refusal!(refused, @r#"400 {"code":"no_takes_left","detail":"This question was recorded as often as it may be."}"#);
    one.owner.delete(&one.answer).await.expect(204);
    one.candidate.get(&one.answer).await.expect(404);
    assert_eq!(one.begin().await, 5, "numbers go on");
    assert_eq!(answer_of(&one).await["takes_left"], 1);
}

#[tokio::test]
async fn a_take_is_closed_by_the_next_one_and_by_the_end_of_the_interview() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({})).await;
    let first = one.begin().await;
    one.begin().await;
    let sent = one.candidate.post(&parts_of(&one, first), signed_part(1, b"anything")).await;
    let finished = one.candidate.patch(&format!("{}takes/{first}/", one.answer), json!({ "parts": 1 })).await;
    let unknown = one.candidate.post(&parts_of(&one, 9), signed_part(1, b"anything")).await;
    assert_refusals!([sent, finished, unknown], @r#"
    2 x 400 {"code":"take_closed","detail":"A later take of this question has begun, or the interview is closed."}
    404 {"code":"not_found","detail":"Not found."}
    "#);
    one.record(&[&film()]).await;
    one.candidate.advance(&one.candidate.uri).await.expect(200);
    let late = one.owner.delete(&one.answer).await;
    assert_refusal!(late, @r#"400 {"code":"already_interviewed","detail":"The candidate has completed the interview."}"#);
}

#[tokio::test]
async fn written_and_recorded_answers_are_told_apart() {
    let app = TestApp::start().await;
    let written = Interviewee::asked(&app, json!({ "kind": "text" })).await;
    let refused = written.candidate.post(&format!("{}takes/", written.answer), json!({})).await;
    assert_refusal!(refused, @r#"400 {"code":"not_recorded","detail":"This question is answered in writing."}"#);
    let write =
        |text: Value| written.candidate.send(Request::put(&written.answer).json(&json!({ "text": text })));
    assert_refusals!([
        write(json!(" ")).await,
        write(json!("x".repeat(2001))).await,
        write(json!(null)).await
    ], @r#"
    400 {"text":["This field may not be blank."]}
    400 {"text":["Ensure this field has no more than 2000 characters."]}
    400 {"text":["This field may not be null."]}
    "#);
    write(json!("First")).await.expect(201);
    let tag = written.candidate.get(&written.answer).await.expect(200).header("etag").unwrap().to_owned();
    let second = write(json!("Second")).await.expect(200).json();
    assert_eq!((&second["text"], &second["status"]), (&json!("Second"), &json!("successful")));
    let stale = Request::put(&written.answer).json(&json!({ "text": "Third" })).header("if-match", &tag);
    written.candidate.send(stale).await.expect(412);

    let recorded = Interviewee::asked(&app, json!({})).await;
    let text = Request::put(&recorded.answer).json(&json!({ "text": "Because." }));
    let refused = recorded.candidate.send(text).await;
    assert_refusal!(refused, @r#"400 {"code":"not_written","detail":"This question is answered by a recording."}"#);
}

#[tokio::test]
async fn the_sweep_closes_what_nobody_finishes_and_the_interview_goes_on() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({ "takes": 1 })).await;
    let take = one.begin().await;
    app.clock().advance(TimeDelta::hours(1));
    app.sweep().await;
    // Nothing has arrived, but the client may hold all of it.
    let open = answer_of(&one).await;
    assert_eq!((&open["open_take"]["number"], &open["takes_left"]), (&json!(take), &json!(0)));
    assert_eq!(one.send(take, 1, &film()).await.status, 200);
    assert_eq!(one.finish(take, None, 2).await["status"], "pending");
}
