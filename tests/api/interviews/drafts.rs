//! Drafts of written answers: saved while candidates type, and answers once the interview has ended.

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::clock::Clock as _;
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, Invited, Staff, last_segment};
use tests::http::{Request, Response};

use super::{answer, begin, interview, project, status, write};

const CANARY: &str = "Kanarienvogel";

/// The owner, a candidate in an interview of 30 minutes, and the addresses of a required and an optional written question and of
/// an optional recorded one.
async fn given(app: &TestApp) -> (Staff, Invited, [String; 3]) {
    let owner = app.owner().await;
    let asked = [
        json!({ "text": "Why us?", "kind": "text" }),
        json!({ "text": "Since when?", "kind": "text", "is_required": false }),
        json!({ "text": "Who are you?", "is_required": false }),
    ];
    let (project, questions) = project(&owner, json!({ "max_interview_time": 30 }), &asked).await;
    let candidate = begin(&owner, &project).await;
    (owner, candidate, questions.try_into().unwrap())
}

fn draft(candidate: &Invited, question: &str) -> String {
    format!("{}draft/", answer(candidate, question))
}

fn typed(candidate: &Invited, question: &str, text: &str) -> Request {
    Request::put(&draft(candidate, question)).json(&json!({ "text": text }))
}

async fn save(candidate: &Invited, question: &str, text: &str) -> Response {
    candidate.send(typed(candidate, question, text)).await
}

/// The text and the draft of each answer, as `caller` sees them.
async fn texts(caller: &impl Caller, candidate: &Invited) -> Vec<[Value; 2]> {
    let shown = interview(caller, &candidate.uri).await;
    let answers = shown["answers"].as_array().unwrap();
    answers.iter().map(|one| [one["text"].clone(), one["draft"]["text"].clone()]).collect()
}

async fn read(caller: &dyn Caller, path: &str) -> Response {
    caller.app().send(caller.sign(Request::get(path))).await
}

/// The items of what candidates have written.
async fn stored(app: &TestApp) -> Vec<Value> {
    let items = app.table().snapshot().await;
    items.into_iter().filter(|((pk, _), _)| pk.starts_with("TEXTS#")).map(|(_, item)| item).collect()
}

#[tokio::test]
async fn a_draft_is_for_the_candidate_alone_and_no_answer() {
    let app = TestApp::start().await;
    let (owner, candidate, [why, ..]) = given(&app).await;
    let events = async || owner.get("/companies/acme/events/").await.expect(200).json()["meta"].clone();
    let entries = async || {
        let items = app.table().snapshot().await;
        items.keys().filter(|(pk, _)| pk.starts_with("HISTORY#")).count()
    };
    let (before, entries_before) = (events().await, entries().await);
    let saved = save(&candidate, &why, "The race\nin our").await.expect(204);
    assert_eq!(entries().await, entries_before + 1, "a draft has begun");
    let own = interview(&candidate, &candidate.uri).await;
    let tag = saved.header("etag").unwrap().to_owned();
    let expected = json!({ "text": "The race\nin our", "saved_at": "2026-11-08T10:00:00Z", "tag": tag });
    assert_eq!((&own["answers"][0]["draft"], &own["answers"][0]["status"]), (&expected, &Value::Null));
    assert_eq!(own["missing"], json!([why]), "it is no answer");
    let staffs = interview(&owner, &candidate.uri).await;
    assert_eq!((&staffs["answers"][0]["draft"], &staffs["missing"]), (&Value::Null, &json!([why])));
    for caller in [&candidate as &dyn Caller, &owner] {
        read(caller, &answer(&candidate, &why)).await.expect(404);
    }
    let data = format!("{}data/", candidate.uri);
    let shown = candidate.get(&data).await.expect(200).json();
    assert_eq!(shown["answers"][0]["draft"]["text"], "The race\nin our");
    let shown = owner.get(&data).await.expect(200).json().to_string();
    assert!(!shown.contains("The race"), "{shown}");
    let begun = entries().await;
    for text in ["", " \n "] {
        let none = save(&candidate, &why, text).await.expect(204);
        assert!(none.header("etag").unwrap().starts_with("\"0-"), "{none:?}");
        assert_eq!(texts(&candidate, &candidate).await[0], [Value::Null, Value::Null]);
        save(&candidate, &why, "Anew").await.expect(204);
    }
    for _ in 0..2 {
        candidate.delete(&draft(&candidate, &why)).await.expect(204);
        assert_eq!(texts(&candidate, &candidate).await[0], [Value::Null, Value::Null]);
    }
    assert_eq!((events().await, entries().await), (before, begun), "typing is no change of an answer");
}

#[tokio::test]
async fn a_draft_is_written_once_in_two_seconds_for_the_price_of_its_size() {
    let app = TestApp::start().await;
    let (_, candidate, [why, ..]) = given(&app).await;
    save(&candidate, &why, "a").await.expect(204);
    let mut units = Vec::new();
    for length in [10, 800, 1_800] {
        let since = app.clock().now();
        let saved = save(&candidate, &why, &"b".repeat(length)).await.expect(204);
        units.push((saved.log().write_units, saved.log().dynamodb_calls));
        let waited = app.clock().now() - since;
        assert!((TimeDelta::seconds(2)..TimeDelta::milliseconds(2_200)).contains(&waited), "{waited}");
    }
    assert_eq!(units, [(1.0, 2), (2.0, 2), (3.0, 2)], "by kilobyte, with what is stored beside the text");
    let since = app.clock().now();
    let repeated = save(&candidate, &why, &"b".repeat(1_800)).await.expect(204);
    assert_eq!((repeated.log().write_units, app.clock().now() - since), (0.0, TimeDelta::zero()));
    app.clock().advance(TimeDelta::seconds(2));
    let since = app.clock().now();
    save(&candidate, &why, "later").await.expect(204);
    assert_eq!(app.clock().now(), since, "nothing to wait for");
}

#[tokio::test]
async fn of_two_texts_on_their_way_the_later_one_counts() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (_, candidate, [why, ..]) = given(&app).await;
    save(&candidate, &why, "one").await.expect(204);
    app.clock().advance(TimeDelta::seconds(5));
    let paused = chaos.pause("PutItem");
    let later = async {
        paused.reached().await;
        app.clock().advance(TimeDelta::milliseconds(1));
        let saved = save(&candidate, &why, "one two three").await.expect(204);
        paused.resume();
        saved
    };
    let (earlier, _) = tokio::join!(save(&candidate, &why, "one two"), later);
    earlier.expect(204);
    assert_eq!(texts(&candidate, &candidate).await[0][1], "one two three");
}

#[tokio::test]
async fn a_clock_that_lags_drops_no_text_of_a_client_that_names_the_former_one() {
    let app = TestApp::start().await;
    let (_, candidate, [why, ..]) = given(&app).await;
    let tag_of = |saved: &Response| saved.header("etag").unwrap().to_owned();
    let first = tag_of(&save(&candidate, &why, "one").await.expect(204));
    app.clock().advance(-TimeDelta::milliseconds(200));
    for unproven in [typed(&candidate, &why, "zero"), typed(&candidate, &why, "zero").header("if-match", "*")]
    {
        let dropped = candidate.send(unproven).await.expect(204);
        assert_eq!(tag_of(&dropped), first, "the tag is that of the stored text");
        assert_eq!(texts(&candidate, &candidate).await[0][1], "one");
    }
    let next =
        candidate.send(typed(&candidate, &why, "one two").header("if-match", &first)).await.expect(204);
    assert_eq!(texts(&candidate, &candidate).await[0][1], "one two");
    assert_ne!(tag_of(&next), first);
}

#[tokio::test]
async fn a_second_window_does_not_overwrite_what_the_first_has_typed() {
    let app = TestApp::start().await;
    let (_, candidate, [why, ..]) = given(&app).await;
    let with = |tag: &str, text: &str| typed(&candidate, &why, text).header("if-match", tag);
    let first = candidate.send(with("\"0-\"", "one")).await.expect(204);
    let first = first.header("etag").unwrap().to_owned();
    candidate.send(with("\"0-\"", "of another window")).await.expect(412);
    let second = candidate.send(with(&first, "one two")).await.expect(204);
    let second = second.header("etag").unwrap().to_owned();
    candidate.send(with(&first, "one, or two")).await.expect(412);
    let delete = |tag: &str| Request::delete(&draft(&candidate, &why)).header("if-match", tag);
    candidate.send(delete(&first)).await.expect(412);
    assert_eq!(texts(&candidate, &candidate).await[0][1], "one two");
    candidate.send(delete(&second)).await.expect(204);
    candidate.send(with("\"0-\"", "anew")).await.expect(204);
    // Without a tag, it is taken.
    save(&candidate, &why, "last").await.expect(204);
    assert_eq!(texts(&candidate, &candidate).await[0][1], "last");
}

#[tokio::test]
async fn drafts_are_refused_like_answers() {
    let app = TestApp::start().await;
    let (owner, candidate, [why, _, video]) = given(&app).await;
    let too_long = "x".repeat(2_001);
    let empty = candidate.send(Request::put(&draft(&candidate, &why)).json(&json!({}))).await;
    let long = save(&candidate, &why, &too_long).await;
    let recorded = save(&candidate, &video, "In writing.").await;
    let deleted = candidate.delete(&draft(&candidate, &video)).await;
    save(&candidate, &why, &"é".repeat(2_000)).await.expect(204);
    let uri = &candidate.uri;
    owner.patch(uri, json!({ "adjustments": { "may_write": true } })).await.expect(200);
    save(&candidate, &video, "In writing.").await.expect(204);
    let unknown = format!("{uri}answers/{}/draft/", "0".repeat(26));
    candidate.send(Request::put(&unknown).json(&json!({ "text": "x" }))).await.expect(404);
    app.clock().advance(TimeDelta::minutes(31) - TimeDelta::seconds(10));
    save(&candidate, &why, "Within the minute after the end.").await.expect(204);
    app.clock().advance(TimeDelta::seconds(10));
    let late = save(&candidate, &why, "Later.").await;
    let late_deleted = candidate.delete(&draft(&candidate, &why)).await;
    assert_refusals!([empty, long, recorded, deleted, late, late_deleted], @r#"
    400 {"text":["This field is required."]}
    400 {"text":["Ensure this field has no more than 2000 characters."]}
    2 x 400 {"code":"not_written","detail":"This question is answered by a recording."}
    2 x 400 {"code":"time_over","detail":"The time of the interview is over."}
    "#);
}

#[tokio::test]
async fn drafts_are_answers_once_the_candidate_completes_the_interview() {
    let app = TestApp::start().await;
    let (owner, candidate, [why, when, _]) = given(&app).await;
    save(&candidate, &when, "2019").await.expect(204);
    candidate.advance(&candidate.uri).await.expect_code(400, "answers_missing");
    assert_eq!(texts(&candidate, &candidate).await[1], [Value::Null, json!("2019")], "it stays a draft");
    save(&candidate, &why, "Because").await.expect(204);
    owner.patch(&why, json!({ "text": "Why you?" })).await.expect(200);
    candidate.advance(&candidate.uri).await.expect(200);
    let shown = texts(&owner, &candidate).await;
    assert_eq!(shown[..2], [[json!("Because"), Value::Null], [json!("2019"), Value::Null]]);
    let read = owner.get(&answer(&candidate, &why)).await.expect(200).json();
    assert_eq!((&read["text"], &read["status"]), (&json!("Because"), &json!("successful")));
    assert_eq!(read["question_text"], "Why us?", "as it was when the candidate typed");
    assert!(stored(&app).await.iter().all(|item| item.get("draft").is_none()));
}

#[tokio::test]
async fn a_draft_beside_an_answer_replaces_it_only_when_it_is_sent() {
    let app = TestApp::start().await;
    let (owner, candidate, [why, when, _]) = given(&app).await;
    write(&candidate, &why, "Sent.").await.expect(201);
    save(&candidate, &why, "Sent, and more").await.expect(204);
    assert_eq!(texts(&candidate, &candidate).await[0], [json!("Sent."), json!("Sent, and more")]);
    assert_eq!(texts(&owner, &candidate).await[0], [json!("Sent."), Value::Null]);
    write(&candidate, &why, "Sent, and more.").await.expect(200);
    assert_eq!(texts(&candidate, &candidate).await[0], [json!("Sent, and more."), Value::Null]);
    for (question, text) in [(&why, "dropped"), (&when, "")] {
        save(&candidate, question, "x").await.expect(204);
        save(&candidate, question, text).await.expect(204);
    }
    candidate.advance(&candidate.uri).await.expect(200);
    let shown = texts(&owner, &candidate).await;
    assert_eq!(shown[..2], [[json!("Sent, and more."), Value::Null], [Value::Null, Value::Null]]);
    assert_eq!(stored(&app).await.len(), 1, "an empty draft leaves nothing");
}

#[tokio::test]
async fn drafts_are_answers_when_the_time_is_over() {
    let app = TestApp::start().await;
    let (owner, candidate, [why, when, _]) = given(&app).await;
    save(&candidate, &why, "In the middle of a wo").await.expect(204);
    app.clock().advance(TimeDelta::minutes(30) - TimeDelta::seconds(1));
    assert_eq!(texts(&owner, &candidate).await[0], [Value::Null, Value::Null]);
    app.clock().advance(TimeDelta::seconds(1));
    // Once the time is over, everyone sees the draft as the answer, and its last words may still arrive.
    for caller in [&owner as &dyn Caller, &candidate] {
        let read = read(caller, &answer(&candidate, &why)).await.expect(200).json();
        assert_eq!(read["text"], "In the middle of a wo");
    }
    save(&candidate, &why, "In the middle of a word").await.expect(204);
    let shown = interview(&owner, &candidate.uri).await;
    assert_eq!(
        (&shown["answers"][0]["text"], &shown["missing"]),
        (&json!("In the middle of a word"), &json!([]))
    );
    let data = owner.get(&format!("{}data/", candidate.uri)).await.expect(200).json();
    assert_eq!(data["answers"][0]["text"], "In the middle of a word");
    // With more time, it is a draft again.
    owner.patch(&candidate.uri, json!({ "adjustments": { "time_factor": 2 } })).await.expect(200);
    assert_eq!(texts(&candidate, &candidate).await[0], [Value::Null, json!("In the middle of a word")]);
    for text in ["2019", ""] {
        save(&candidate, &when, text).await.expect(204);
    }
    app.clock().advance(TimeDelta::minutes(91));
    app.expire_overdue().await;
    assert_eq!(status(&app, &candidate.uri).await, "interviewed");
    let shown = texts(&owner, &candidate).await;
    assert_eq!(shown[..2], [[json!("In the middle of a word"), Value::Null], [Value::Null, Value::Null]]);
    let stored = stored(&app).await;
    assert!(stored.len() == 1 && stored[0].get("draft").is_none(), "an empty draft leaves nothing");
}

#[tokio::test]
async fn drafts_are_answers_when_the_platform_ends_the_interview() {
    for (completes, expected) in [(true, "interviewed"), (false, "aborted")] {
        let app = TestApp::start().await;
        let (owner, candidate, [why, when, _]) = given(&app).await;
        save(&candidate, &why, "Because").await.expect(204);
        write(&candidate, &when, "2019").await.expect(201);
        save(&candidate, &when, "2020").await.expect(204);
        let uri = &candidate.uri;
        if completes {
            app.complete(uri).await
        } else {
            app.abort(uri).await
        }
        assert_eq!(status(&app, uri).await, expected);
        let shown = texts(&owner, &candidate).await;
        assert_eq!(shown[..2], [[json!("Because"), Value::Null], [json!("2019"), Value::Null]]);
        assert!(stored(&app).await.iter().all(|item| item.get("draft").is_none()));
    }
}

#[tokio::test]
async fn no_draft_is_saved_after_the_end_of_the_interview() {
    for is_first in [true, false] {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let (owner, candidate, [why, when, _]) = given(&app).await;
        save(&candidate, &why, "Because").await.expect(204);
        if !is_first {
            save(&candidate, &when, "20").await.expect(204);
            app.clock().advance(TimeDelta::seconds(5));
        }
        // The first draft of a question takes a transaction, the others do not.
        let paused = chaos.pause(if is_first { "TransactWriteItems" } else { "PutItem" });
        let meanwhile = async {
            paused.reached().await;
            app.complete(&candidate.uri).await;
            paused.resume();
        };
        let (saved, ()) = tokio::join!(save(&candidate, &when, "2019"), meanwhile);
        saved.expect(401);
        let expected = if is_first { Value::Null } else { json!("20") };
        let shown = texts(&owner, &candidate).await;
        assert_eq!(shown[..2], [[json!("Because"), Value::Null], [expected, Value::Null]]);
        assert_eq!(stored(&app).await.len(), if is_first { 1 } else { 2 });
    }
}

#[tokio::test]
async fn a_completion_has_the_draft_that_was_saved_meanwhile() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let (owner, candidate, [why, when, _]) = given(&app).await;
    save(&candidate, &why, "Because").await.expect(204);
    let paused = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        paused.reached().await;
        save(&candidate, &why, "Because of you").await.expect(204);
        save(&candidate, &when, "2019").await.expect(204);
        paused.resume();
    };
    let (completed, ()) = tokio::join!(candidate.advance(&candidate.uri), meanwhile);
    completed.expect(200);
    let shown = texts(&owner, &candidate).await;
    assert_eq!(shown[..2], [[json!("Because of you"), Value::Null], [json!("2019"), Value::Null]]);
}

#[tokio::test]
async fn a_reset_and_an_erasure_leave_no_draft() {
    let app = TestApp::start().await;
    let (owner, candidate, [why, when, _]) = given(&app).await;
    for question in [&why, &when] {
        save(&candidate, question, CANARY).await.expect(204);
    }
    let found = async || {
        let items = app.table().snapshot().await;
        items.values().filter(|item| item.to_string().contains(CANARY)).count()
    };
    assert_eq!(found().await, 2);
    owner.delete(&answer(&candidate, &why)).await.expect(204);
    owner.delete(&answer(&candidate, &why)).await.expect(404);
    assert_eq!(
        (found().await, texts(&candidate, &candidate).await[0].clone()),
        (1, [Value::Null, Value::Null])
    );
    save(&candidate, &why, CANARY).await.expect(204);
    let key = last_segment(&candidate.uri).to_owned();
    owner.delete(&candidate.uri).await.expect(204);
    app.settle().await;
    assert_eq!((found().await, stored(&app).await.len()), (0, 0), "{key}");
}
