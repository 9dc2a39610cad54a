//! Takes over HTTP: begun, sent in parts, finished, refused, and taken back.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::files::put;
use tests::http::Request;
use tests::takes::{Interviewee, signed_part};
use tests::videos::film;
use tests::{assert_refusal, assert_refusals};

use crate::system::access::AccessTable;
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
    assert_eq!(answer["dimensions"], json!({ "width": 64, "height": 48 }));
    for file in [answer["streams"]["mp4"].as_str().unwrap(), answer["thumb"].as_str().unwrap()] {
        app.anonymous().get(file).await.expect(302);
    }
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
    400 {"parts":["Ensure this value is from 0 to 55."],"source":["\"disk\" is not a valid choice. Use one of: recorder, file."]}
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
    // The first three that the next one closes before anything could be recorded are given back.
    for left in [1, 1, 1, 1, 0] {
        one.begin().await;
        assert_eq!(answer_of(&one).await["takes_left"], left);
    }
    let takes = format!("{}takes/", one.answer);
    let refused = one.candidate.post(&takes, json!({})).await;
    assert_refusal!(refused, @r#"400 {"code":"no_takes_left","detail":"This question was recorded as often as it may be."}"#);
    one.owner.delete(&one.answer).await.expect(204);
    one.candidate.get(&one.answer).await.expect(404);
    assert_eq!(one.begin().await, 6, "numbers go on");
    assert_eq!(answer_of(&one).await["takes_left"], 1);
}

#[tokio::test]
async fn a_take_that_nobody_wants_is_given_back_unless_there_was_time_to_record() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({ "takes": 1, "preparation_seconds": 30 })).await;
    let takes_left = async || answer_of(&one).await["takes_left"].clone();
    let first = one.begin().await;
    assert_eq!(takes_left().await, 0);
    app.clock().advance(TimeDelta::seconds(90));
    assert_eq!(one.finish(first, None, 0).await["missing_parts"], json!([1]), "another device may hold it");
    assert_eq!(one.finish(first, Some(0), 0).await["missing_parts"], json!([]));
    let given_back = answer_of(&one).await;
    assert_eq!((&given_back["takes_left"], &given_back["open_take"]), (&json!(1), &Value::Null));
    let closed = one.candidate.patch(&format!("{}takes/{first}/", one.answer), json!({ "parts": 0 })).await;
    assert_refusal!(closed, @r#"400 {"code":"take_closed","detail":"A later take of this question has begun, or the interview is closed."}"#);

    let late = one.begin().await;
    app.clock().advance(TimeDelta::seconds(91));
    one.finish(late, Some(0), 0).await;
    assert_eq!(takes_left().await, 0);
}

#[tokio::test]
async fn a_take_that_is_given_up_leaves_the_earlier_answer_and_no_objects() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({ "takes": 2 })).await;
    one.record(&[&film()]).await;
    app.settle().await;
    let second = one.begin().await;
    one.send(second, 1, &film()).await;
    one.finish(second, Some(0), 2).await;
    app.settle().await;
    let answer = answer_of(&one).await;
    let shown = (&answer["status"], &answer["take"]["number"], &answer["takes_left"], &answer["open_take"]);
    assert_eq!(shown, (&json!("successful"), &json!(1), &json!(0), &Value::Null));
    assert!(app.object_keys().iter().all(|key| !key.starts_with("takes/")), "{:?}", app.object_keys());
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
async fn the_schedule_closes_abandoned_takes_half_an_hour_after_their_last_part() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({ "takes": 2, "answer_seconds": 60 })).await;
    let take = one.begin().await;
    let sweep_after = async |minutes: i64| {
        app.clock().advance(TimeDelta::minutes(minutes));
        app.sweep().await;
        let answer = answer_of(&one).await;
        (answer["open_take"]["number"] == take, answer["takes_left"].clone())
    };
    // Nothing has arrived, but the client may hold all of it.
    assert_eq!(sweep_after(31).await, (true, json!(1)));
    one.send(take, 2, b"the rest").await;
    assert_eq!(sweep_after(61).await, (true, json!(1)), "without its first part");
    one.send(take, 1, &film()).await;
    assert_eq!(sweep_after(29).await, (true, json!(1)), "parts arrive");
    assert_eq!(sweep_after(32).await, (false, json!(2)), "given back");
    app.settle().await;
    let closed = answer_of(&one).await;
    assert_eq!(
        [&closed["take"]["is_interrupted"], &closed["interruptions"], &closed["status"]],
        [&json!(true), &json!(1), &json!("successful")]
    );
    // The client still has a part of it.
    assert_eq!(one.finish(take, Some(2), 2).await["is_interrupted"], false);
}

#[tokio::test]
async fn a_take_is_at_most_as_large_as_its_time_allows() {
    let app = TestApp::start().await;
    let one = Interviewee::asked(&app, json!({ "answer_seconds": 10 })).await;
    let take = one.begin().await;
    // 2 MB a second and 32 MB more.
    let part = vec![0; 8 * 1024 * 1024];
    // Ahead, when the six before it may be as small.
    let seventh = &part[..7_400_000];
    let ahead = one.announced(take, 7, seventh).await;
    for number in 1..=6 {
        assert_eq!(one.send(take, number, &part).await.status, 200);
    }
    let path = format!("{}takes/{take}/", one.answer);
    let more = async |number| one.candidate.post(&format!("{path}parts/"), signed_part(number, &part)).await;
    assert_refusal!(more(7).await, @r#"400 {"code":"too_large","detail":"The parts of this take are too large for the time to answer."}"#);
    more(6).await.expect(200);
    assert_eq!(put(&ahead, seventh.to_vec()).await.status, 200);
    let finished = async |parts: u32| one.candidate.patch(&path, json!({ "parts": parts })).await;
    assert_refusal!(finished(7).await, @r#"400 {"code":"too_large","detail":"The parts of this take are too large for the time to answer."}"#);
    assert_eq!(answer_of(&one).await["open_take"]["number"], take);
    // Without the last part, it is small enough.
    assert_eq!(finished(6).await.expect(200).json()["status"], "pending");
}

#[tokio::test]
async fn reloads_use_up_takes_and_show_nothing_early() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let fields = json!({ "allow_hash_login": true, "interview_platform": "builtin" });
    let project = owner.running_project(fields).await;
    let hidden = "Which mistake would you repeat?";
    let mut questions = Vec::new();
    for question in
        [json!({ "text": "Why us?", "takes": null }), json!({ "text": hidden, "preparation_seconds": 30 })]
    {
        questions.push(
            owner.post(&format!("{project}questions/"), question).await.expect(201).uri("resource_uri"),
        );
    }
    let candidate = owner.invite(&project, json!({})).await;
    for _ in ["confirmed", "interviewing"] {
        candidate.advance(&candidate.uri).await.expect(200);
    }
    let answers: Vec<String> = questions
        .iter()
        .map(|question| format!("{}answers/{}/", candidate.uri, last_segment(question)))
        .collect();

    let mut statuses = BTreeMap::<u16, usize>::new();
    for _ in 0..50 {
        let begun = candidate.post(&format!("{}takes/", answers[0]), json!({})).await;
        *statuses.entry(begun.status.as_u16()).or_default() += 1;
    }
    assert_eq!(statuses, BTreeMap::from([(201, 20), (400, 30)]));

    // No route shows the candidate the question before its first take, and no history keeps it.
    let reads = AccessTable::read().rows.into_iter().filter(|row| row.method.is_safe());
    let mut read = 0;
    for row in reads {
        let path = row.path.replace("{companyId}", "acme").replace("{projectId}", last_segment(&project));
        let path = path.replace("{candidateId}", last_segment(&candidate.uri));
        let path = path.replace("{questionId}", last_segment(&questions[1]));
        let answered = candidate.get(&path.replace(['{', '}'], "")).await;
        assert!(!String::from_utf8_lossy(&answered.body).contains(hidden), "{answered}");
        read += usize::from(answered.status.is_success());
    }
    assert!(read > 8, "{read}");
    app.settle().await;
    let texts = app.table().snapshot().await;
    let about_candidate = texts.iter().filter(|((pk, _), item)| {
        pk.contains(last_segment(&candidate.uri)) || item.to_string().contains(last_segment(&candidate.uri))
    });
    for (key, item) in about_candidate {
        assert!(!item.to_string().contains(hidden), "{key:?}: {item}");
    }
    candidate.post(&format!("{}takes/", answers[1]), json!({})).await.expect(201);
    let shown = candidate.get(&questions[1]).await.expect(200).json();
    assert_eq!(shown["text"], hidden);
}
