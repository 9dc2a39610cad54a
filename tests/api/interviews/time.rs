//! The end and the close of interviews.

use chrono::{DateTime, TimeDelta, Utc};
use deadline_expiry::ExpirySummary;
use serde_json::{Value, json};
use shared::domain::transition::project_counts::shard_of;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Invited, PASSWORD, Staff, last_segment};
use tests::files::Form;
use tests::http::Request;
use tests::videos::film;

use super::{answer, begin, begin_take, interview, project, record, send_part, status, write};

/// The service, its owner, a candidate who has begun an interview of 30 minutes, and the addresses of two questions: one to be
/// recorded, and one that may be answered in writing.
async fn given() -> (TestApp, Staff, String, Invited, [String; 2]) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let asked = [
        json!({ "text": "Why us?", "takes": 3 }),
        json!({ "text": "Since when?", "kind": "text", "is_required": false }),
    ];
    let (project, questions) = project(&owner, json!({ "max_interview_time": 30 }), &asked).await;
    let candidate = begin(&owner, &project).await;
    let questions = questions.try_into().unwrap();
    (app, owner, project, candidate, questions)
}

fn times(interview: &Value) -> [&Value; 2] {
    [&interview["ends_at"], &interview["closes_at"]]
}

#[tokio::test]
async fn the_end_follows_deadline_and_factor() {
    let (app, owner, project, candidate, _) = given().await;
    let uri = &candidate.uri;
    let shown = async || interview(&candidate, uri).await;
    assert_eq!(times(&shown().await), ["2026-11-08T10:30:00Z", "2026-11-08T11:30:00Z"]);
    owner.patch(uri, json!({ "adjustments": { "time_factor": 1.5 } })).await.expect(200);
    assert_eq!(times(&shown().await), ["2026-11-08T10:45:00Z", "2026-11-08T11:45:00Z"]);
    owner.set_deadline(uri, "2026-11-08T10:40:00Z").await.expect(200);
    assert_eq!(times(&shown().await), ["2026-11-08T10:40:00Z", "2026-11-08T11:40:00Z"]);
    let later = app.clock().in_days(7);
    owner.patch(uri, json!({ "deadline": later, "adjustments": null })).await.expect(200);
    assert_eq!(times(&shown().await), ["2026-11-08T10:30:00Z", "2026-11-08T11:30:00Z"]);
    // The time of those who have begun stays.
    owner.patch(&project, json!({ "max_interview_time": 5 })).await.expect(200);
    assert_eq!(times(&shown().await), ["2026-11-08T10:30:00Z", "2026-11-08T11:30:00Z"]);
    let later = owner.invite(&project, json!({})).await;
    let before = interview(&later, &later.uri).await;
    assert_eq!([times(&before)[0], times(&before)[1]], [&json!(app.clock().in_days(7)), &Value::Null]);
    assert_eq!([&before["answers"], &before["missing"]], [&json!([]), &json!([])]);
}

#[tokio::test]
async fn the_limit_is_known_before_the_beginning_to_those_who_may_know_of_adjustments() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let evaluator = app.staff("hiring-manager").await;
    let settings = json!({ "evaluators": [evaluator.uri], "max_interview_time": 30 });
    let (project, _) = project(&owner, settings, &[json!({ "text": "Why us?" })]).await;
    let candidate = owner.invite(&project, json!({})).await;
    let uri = &candidate.uri;
    let limits = async || {
        let own = interview(&candidate, uri).await["limit_seconds"].clone();
        assert_eq!(interview(&owner, uri).await["limit_seconds"], own);
        assert_eq!(interview(&evaluator, uri).await["limit_seconds"], Value::Null);
        own
    };
    assert_eq!(limits().await, 1800);
    owner.patch(uri, json!({ "adjustments": { "time_factor": 1.5 } })).await.expect(200);
    assert_eq!(limits().await, 2700);
    owner.patch(&project, json!({ "max_interview_time": 20 })).await.expect(200);
    assert_eq!(limits().await, 1800);
    for _ in 0..2 {
        candidate.advance(uri).await.expect(200);
    }
    // The time of those who have begun stays.
    owner.patch(&project, json!({ "max_interview_time": null })).await.expect(200);
    assert_eq!(limits().await, 1800);
    let later = owner.invite(&project, json!({})).await;
    assert_eq!(interview(&later, &later.uri).await["limit_seconds"], Value::Null);
}

#[tokio::test]
async fn without_time_of_its_own_an_interview_lasts_until_the_deadline() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (project, questions) = project(&owner, json!({}), &[json!({ "text": "Why us?" })]).await;
    let candidate = begin(&owner, &project).await;
    let deadline = app.clock().in_days(7);
    assert_eq!(interview(&candidate, &candidate.uri).await["ends_at"], deadline);
    app.clock().advance(TimeDelta::days(6));
    assert_eq!(app.expire_overdue().await, ExpirySummary::default());
    record(&candidate, &questions[0]).await;
    candidate.advance(&candidate.uri).await.expect(200);
}

#[tokio::test]
async fn answers_begin_until_the_end_and_are_sent_until_the_interview_closes() {
    let (app, _, _, candidate, [video, text]) = given().await;
    app.clock().advance(TimeDelta::minutes(31) - TimeDelta::seconds(1));
    // A minute is tolerated.
    let take = begin_take(&candidate, &video).await;
    write(&candidate, &text, "2019").await.expect(201);
    app.clock().advance(TimeDelta::seconds(1));
    let takes = format!("{}takes/", answer(&candidate, &video));
    assert_refusal!(candidate.post(&takes, json!({})).await, @r#"400 {"code":"time_over","detail":"The time of the interview is over."}"#);
    assert_refusal!(write(&candidate, &text, "2020").await, @r#"400 {"code":"time_over","detail":"The time of the interview is over."}"#);
    app.clock().advance(TimeDelta::minutes(59) - TimeDelta::seconds(1));
    assert_eq!(app.expire_overdue().await, ExpirySummary::default(), "not a second too early");
    send_part(&candidate, &take, 1).await;
    candidate.patch(&take, json!({ "parts": 1 })).await.expect(200);
    let done = candidate.advance(&candidate.uri).await.expect(200).json();
    assert_eq!(done["status"], "interviewed");
}

#[tokio::test]
async fn with_its_interview_the_key_of_a_candidate_ends() {
    let (app, owner, _, candidate, [video, _]) = given().await;
    let whoami = candidate.get("/whoami/").await.expect(200).json();
    assert_eq!(whoami["token"]["expires_at"], "2026-11-08T11:30:00Z");
    // A deadline in the past leaves an hour.
    owner.set_deadline(&candidate.uri, "2026-11-08T09:30:00Z").await.expect(200);
    assert_eq!(times(&interview(&candidate, &candidate.uri).await)[1], "2026-11-08T10:30:00Z");
    app.clock().advance(TimeDelta::minutes(30) - TimeDelta::seconds(1));
    candidate.get(&candidate.uri).await.expect(200);
    app.clock().advance(TimeDelta::seconds(1));
    candidate.get(&candidate.uri).await.expect(401);
    // Nor can those go on who have a password.
    owner.set_deadline(&candidate.uri, "2026-11-08T12:30:00Z").await.expect(200);
    let session = candidate.register().await;
    app.clock().advance(TimeDelta::hours(1));
    assert_refusal!(session.advance(&candidate.uri).await, @r#"400 {"code":"time_over","detail":"The time of the interview is over."}"#);
    let takes = format!("{}takes/", answer(&candidate, &video));
    assert_refusal!(session.post(&takes, json!({})).await, @r#"400 {"code":"time_over","detail":"The time of the interview is over."}"#);
}

#[tokio::test]
async fn an_interview_keeps_a_deadline() {
    let (_, owner, _, candidate, _) = given().await;
    let cleared = owner.patch(&candidate.uri, json!({ "deadline": null })).await;
    assert_refusal!(cleared, @r#"400 {"code":"deadline_missing","detail":"A candidate in the interview needs a deadline. Replace it instead of removing it."}"#);
    let later = owner.patch(&candidate.uri, json!({ "deadline": "2026-12-24T18:00:00Z" })).await.expect(200);
    assert_eq!(later.json()["deadline"], "2026-12-24T18:00:00Z");
}

#[tokio::test]
async fn a_film_that_is_shown_with_a_take_has_its_own_time_before_the_preparation() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let form = Form::new().text("name", "Why us?").file("file", "film.mp4", "video/mp4", &film());
    let film = owner.send(Request::post("/companies/acme/videos/").form(form)).await.expect(201);
    app.settle().await;
    let film = film.uri("resource_uri");
    let seconds = owner.get(&film).await.expect(200).json()["length"].as_i64().unwrap();
    assert!(seconds > 0);
    let asked = [Some(30), None].map(|preparation| {
        json!({ "text": "Why us?", "video": film, "preparation_seconds": preparation, "answer_seconds": 60 })
    });
    let (project, questions) = project(&owner, json!({}), &asked).await;
    let candidate = begin(&owner, &project).await;
    owner.patch(&candidate.uri, json!({ "adjustments": { "time_factor": 2.0 } })).await.expect(200);
    for (question, before, calls) in [(&questions[0], seconds + 60, 3), (&questions[1], 0, 2)] {
        let takes = format!("{}takes/", answer(&candidate, question));
        let begun = candidate.post(&takes, json!({})).await.expect(201);
        assert_eq!(begun.log().dynamodb_calls, calls);
        let begun = begun.json();
        let [at, from, until] = ["begun_at", "record_from", "record_until"]
            .map(|name| begun[name].as_str().unwrap().parse::<DateTime<Utc>>().unwrap());
        assert_eq!((from - at, until - from), (TimeDelta::seconds(before), TimeDelta::seconds(120)));
        assert_eq!(begun["question"]["video"], json!(film));
    }
}

#[tokio::test]
async fn when_an_interview_closes_it_is_complete_if_nothing_required_is_missing() {
    let (app, owner, project, answered, questions) = given().await;
    let [recording, missing, unsent, elsewhere] = [
        begin(&owner, &project).await,
        begin(&owner, &project).await,
        begin(&owner, &project).await,
        owner.invite(&project, json!({ "deadline": "2026-11-08T11:30:00Z" })).await,
    ];
    let [video, text] = &questions;
    record(&answered, video).await;
    let open = begin_take(&recording, video).await;
    send_part(&recording, &open, 1).await;
    send_part(&recording, &open, 3).await;
    write(&missing, text, "2019").await.expect(201);
    // Without its first part, a recording cannot be played.
    let broken = begin_take(&unsent, video).await;
    send_part(&unsent, &broken, 2).await;
    app.clock().advance(TimeDelta::minutes(90) - TimeDelta::seconds(1));
    assert_eq!(app.expire_overdue().await, ExpirySummary::default(), "not a second too early");
    app.clock().advance(TimeDelta::seconds(1));
    let expected = ExpirySummary { expired: 1, aborted: 2, interviewed: 2, ..ExpirySummary::default() };
    assert_eq!(app.expire_overdue().await, expected);
    for (candidate, expected) in [
        (&answered, "interviewed"),
        (&recording, "interviewed"),
        (&missing, "aborted"),
        (&unsent, "aborted"),
        (&elsewhere, "expired"),
    ] {
        assert_eq!(status(&app, &candidate.uri).await, expected);
        candidate.get(&candidate.uri).await.expect(401);
    }
    let shown = interview(&owner, &recording.uri).await;
    let (first, take) = (&shown["answers"][0], &shown["answers"][0]["take"]);
    assert_eq!([&first["open_take"], &shown["missing"]], [&Value::Null, &json!([])]);
    assert_eq!([&take["is_interrupted"], &first["interruptions"]], [&json!(true), &json!(1)]);
    let shown = interview(&owner, &unsent.uri).await;
    assert_eq!(shown["missing"], json!([video]));
    let none = &shown["answers"][0];
    assert_eq!(
        [&none["open_take"], &none["take"], &none["takes_begun"]],
        [&Value::Null, &Value::Null, &json!(1)]
    );
    let before = app.table().snapshot().await;
    assert_eq!(app.expire_overdue().await, ExpirySummary::default(), "nobody twice");
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn after_an_interview_was_aborted_a_new_deadline_lets_the_candidate_go_on() {
    let (app, owner, _, candidate, [video, text]) = given().await;
    let uri = &candidate.uri;
    write(&candidate, &text, "2019").await.expect(201);
    candidate.choose_password().await;
    app.clock().advance(TimeDelta::minutes(90));
    assert_eq!(app.expire_overdue().await.aborted, 1);
    assert_eq!(interview(&owner, uri).await["answers"][1]["text"], "2019");
    owner.set_deadline(uri, "2026-11-08T20:00:00Z").await.expect(200);
    let login = app.anonymous().log_in("acme", &candidate.email, PASSWORD).await.expect(200);
    let session = app.token(&login.uri("token"));
    assert_eq!(owner.advance(uri).await.expect(200).json()["status"], "confirmed");
    let waiting = interview(&owner, uri).await;
    assert_eq!(times(&waiting), [&json!("2026-11-08T20:00:00Z"), &Value::Null]);
    assert_refusal!(session.post(&format!("{}takes/", answer(&candidate, &video)), json!({})).await, @r#"400 {"code":"not_interviewing","detail":"The interview has not begun, or it has ended."}"#);
    app.clock().advance(TimeDelta::hours(1));
    session.advance(uri).await.expect(200);
    let again = interview(&session, uri).await;
    assert_eq!(times(&again), ["2026-11-08T13:00:00Z", "2026-11-08T14:00:00Z"]);
    assert_eq!(again["answers"][1]["text"], "2019");
    session.post(&format!("{}takes/", answer(&candidate, &video)), json!({})).await.expect(201);
}

#[tokio::test]
async fn a_slow_bucket_holds_up_no_deadline_and_a_run_without_time_closes_an_interview() {
    let (app, [_table, bucket]) = TestApp::start_with_storage_chaos().await;
    let owner = app.owner().await;
    let settings = json!({ "max_interview_time": 30 });
    let (project, questions) = project(&owner, settings, &[json!({ "text": "Why us?" })]).await;
    let shard = |uri: &str| shard_of(last_segment(uri).parse().unwrap());
    let begun = begin(&owner, &project).await;
    begin_take(&begun, &questions[0]).await;
    // The candidates share a shard of the counts, which one run looks at.
    let late = loop {
        let late = owner.invite(&project, json!({ "deadline": "2026-11-08T11:29:00Z" })).await;
        if shard(&late.uri) == shard(&begun.uri) {
            break late;
        }
    };
    app.clock().advance(TimeDelta::minutes(90));
    let pause = bucket.pause("LIST");
    let run = tokio::spawn({
        let app = app.clone();
        async move { app.expire_overdue().await }
    });
    pause.reached().await;
    assert_eq!(status(&app, &late.uri).await, "expired");
    assert_eq!(status(&app, &begun.uri).await, "interviewing");
    pause.resume();
    assert_eq!(run.await.unwrap().aborted, 1);

    let mut begun = Vec::new();
    for _ in 0..3 {
        begun.push(begin(&owner, &project).await);
    }
    app.clock().advance(TimeDelta::minutes(90));
    let mut closed = 0;
    for _ in &begun {
        closed += app.expire_without_time().await.aborted;
    }
    assert_eq!(closed, 3);
}
