//! Takes on their way from parts to a video that plays.

use std::process::Command;
use std::sync::OnceLock;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::files::{fetch, put};
use tests::logs;
use tests::takes::Interviewee;
use tests::videos::{probed, recorded};

/// Two seconds as a browser records them.
fn webm() -> &'static [u8] {
    static FILM: OnceLock<Vec<u8>> = OnceLock::new();
    let how = "-f lavfi -i testsrc2=s=320x240:r=25:d=2 -f lavfi -i sine=d=2 -c:v libvpx -deadline realtime -cpu-used 8 \
               -g 25 -c:a libopus -live 1";
    FILM.get_or_init(|| recorded(how, "webm"))
}

fn parts() -> Vec<&'static [u8]> {
    webm().chunks(webm().len() / 3).collect()
}

async fn given() -> (TestApp, Interviewee) {
    let app = TestApp::start().await;
    let person = Interviewee::asked(&app, json!({ "takes": 2 })).await;
    (app, person)
}

/// The names of all objects, without what comes before them.
fn names(app: &TestApp) -> Vec<String> {
    app.object_keys().iter().map(|key| last_segment(key).to_owned()).collect()
}

#[tokio::test]
async fn parts_become_one_video() {
    let (app, person) = given().await;
    let take = person.record(&parts()).await;
    app.settle().await;
    let answer = person.answer().await;
    assert_eq!((&answer["status"], &answer["seconds"]), (&json!("successful"), &json!(2)));
    assert_eq!(answer["dimensions"], json!({ "width": 320, "height": 240 }));
    assert_eq!(names(&app), [format!("{take}-1.jpg"), format!("{take}-1.mp4")]);
    let address = answer["streams"]["mp4"].as_str().unwrap();
    let redirect = app.anonymous().get(address).await.expect(302);
    let video = probed(&fetch(redirect.header("location").unwrap(), &[]).await.body);
    let codecs: Vec<&Value> =
        video["streams"].as_array().unwrap().iter().map(|one| &one["codec_name"]).collect();
    assert_eq!(codecs, ["h264", "aac"]);
    let events = person.owner.get("/companies/acme/events/?page_size=100").await.expect(200).json();
    let told = events["objects"].as_array().unwrap().iter().find(|event| event["type"] == "answer.converted");
    let told = &told.unwrap()["data"];
    assert_eq!((&told["take"], &told["seconds"]), (&json!(take), &json!(2)), "{told}");
    assert_eq!(told["question"], answer["question"], "an address, as everywhere");
}

#[tokio::test]
async fn the_bucket_takes_a_part_once_and_no_other_bytes() {
    let (app, person) = given().await;
    let take = person.begin().await;
    let first = person.announced(take, 1, b"first").await;
    assert_eq!(put(&first, b"fisrt".to_vec()).await.status, 400);
    let other = person.announced(take, 2, b"firsts").await;
    let mut forged = first.clone();
    for name in ["content-length", "x-amz-checksum-sha256"] {
        forged["upload"]["headers"][name] = other["upload"]["headers"][name].clone();
    }
    assert_eq!(put(&forged, b"firsts".to_vec()).await.status, 403);
    assert!(app.object_keys().is_empty());
    assert_eq!(put(&first, b"first".to_vec()).await.status, 200);
    assert_eq!(put(&first, b"first".to_vec()).await.status, 412);
    let second = person.announced(take, 1, b"other").await;
    assert_eq!(put(&second, b"other".to_vec()).await.status, 412);
    assert_eq!(names(&app), ["0001"]);
}

#[tokio::test]
async fn files_without_video_fail_and_give_the_take_back() {
    let hostile: [&[u8]; 4] = [
        b"\0",
        b"#EXTM3U\n#EXTINF:4,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n",
        b"<svg onload=alert(1)>",
        &[0; 100_000],
    ];
    for file in hostile {
        let (app, person) = given().await;
        let take = person.record(&[file]).await;
        app.settle().await;
        let answer = person.answer().await;
        assert_eq!(
            (&answer["status"], &answer["streams"]["mp4"]),
            (&json!("failed"), &Value::Null),
            "{answer}"
        );
        assert!(answer["error"].as_str().is_some_and(|error| !error.is_empty()), "{answer}");
        let history = format!("{}data/", person.candidate.uri);
        let history = person.owner.get(&history).await.expect(200).json();
        let told = history["history"].as_array().unwrap().iter().find(|one| one["type"] == "answer.failed");
        assert_eq!(told.unwrap()["data"]["question"], answer["question"]);
        let seen = person.candidate.get(&person.answer).await.expect(200).json();
        assert_eq!((&seen["takes_begun"], &seen["takes_left"]), (&json!(1), &json!(2)));
        assert_eq!(names(&app), ["0001"], "for a retry by the operator");
        person.record(&parts()).await;
        app.settle().await;
        assert_eq!(names(&app), [format!("{}-1.jpg", take + 1), format!("{}-1.mp4", take + 1)]);
    }
}

#[tokio::test]
async fn an_earlier_take_is_deleted_once_the_next_one_can_be_played() {
    let (app, person) = given().await;
    person.record(&parts()).await;
    app.settle().await;
    let first = person.answer().await["streams"]["mp4"].clone();
    person.record(&parts()).await;
    app.anonymous().get(first.as_str().unwrap()).await.expect(302);
    app.settle().await;
    app.anonymous().get(first.as_str().unwrap()).await.expect(404);
    assert_eq!(names(&app), ["2-1.jpg", "2-1.mp4"]);
}

#[tokio::test]
async fn an_interrupted_take_plays_as_far_as_it_came_and_may_grow() {
    let (app, person) = given().await;
    let take = person.begin().await;
    for (number, part) in (1..).zip(&parts()[..2]) {
        person.send(take, number, part).await;
    }
    // The next take closes it.
    person.begin().await;
    app.settle().await;
    let answer = person.answer().await;
    assert_eq!((&answer["status"], &answer["interruptions"]), (&json!("successful"), &json!(1)));
    assert_eq!(names(&app), ["1-1.jpg", "1-1.mp4", "0001", "0002"]);
}

#[tokio::test]
async fn an_interrupted_take_plays_until_the_rest_of_it_is_converted_too() {
    let (app, person) = given().await;
    let take = person.begin().await;
    person.send(take, 1, parts()[0]).await;
    app.clock().advance(TimeDelta::hours(1));
    app.sweep().await;
    app.settle().await;
    let first = person.owner.new_token().await.get(&person.answer).await.expect(200).json();
    assert_eq!((&first["status"], &first["take"]["is_interrupted"]), (&json!("successful"), &json!(true)));
    for (number, part) in (2..).zip(&parts()[1..]) {
        person.send(take, number, part).await;
    }
    person.finish(take, Some(parts().len()), 2).await;
    let staff = person.owner.new_token().await;
    let pending = staff.get(&person.answer).await.expect(200).json();
    assert_eq!(pending["status"], "pending");
    app.anonymous().get(pending["streams"]["mp4"].as_str().unwrap()).await.expect(302);
    app.settle().await;
    let whole = staff.get(&person.answer).await.expect(200).json();
    assert_eq!((&whole["status"], &whole["take"]["is_interrupted"]), (&json!("successful"), &json!(false)));
    assert!(whole["seconds"].as_u64() > first["seconds"].as_u64(), "{first} {whole}");
}

#[tokio::test]
async fn events_that_come_again_or_late_change_nothing() {
    let (app, person) = given().await;
    let take = person.record(&parts()).await;
    app.settle().await;
    let (before, keys) = (app.table().snapshot().await, app.object_keys());
    for id in ["same", "same", "another"] {
        let answers = app.events().put_event(person.marker_event(take, id)).await.unwrap();
        assert_eq!(answers["VideoConversionFunction"].as_ref().unwrap(), "ignored");
    }
    assert_eq!((app.table().snapshot().await, app.object_keys()), (before, keys));

    person.record(&parts()).await;
    person.owner.delete(&person.candidate.uri).await.expect(204);
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(30));
    app.sweep().await;
    app.settle().await;
    let answers = app.events().put_event(person.marker_event(take + 1, "late")).await.unwrap();
    assert_eq!(answers["VideoConversionFunction"].as_ref().unwrap(), "ignored");
    assert!(app.object_keys().is_empty(), "{:?}", app.object_keys());
}

#[tokio::test]
async fn the_parts_of_a_recording_without_its_beginning_are_deleted_at_once() {
    let (app, person) = given().await;
    person.record(&parts()).await;
    let bucket = app.app().config().bucket.clone().unwrap();
    let first = app.object_keys().into_iter().find(|key| key.ends_with("/0001")).unwrap();
    app.app().aws().s3().delete_object().bucket(bucket).key(first).send().await.unwrap();
    app.settle().await;
    let answer = person.answer().await;
    assert_eq!(answer["error"], "The recording did not arrive completely. Record the answer again.");
    assert!(app.object_keys().is_empty(), "{:?}", app.object_keys());
    assert_eq!(retry(&app).await, 0);
    let seen = person.candidate.get(&person.answer).await.expect(200).json();
    assert_eq!((&seen["takes_begun"], &seen["takes_left"]), (&json!(1), &json!(2)));
}

async fn retry(app: &TestApp) -> Value {
    let command = json!({ "command": "retry-conversions", "company": "acme" });
    app.operate(command).await.unwrap()["retried"]["conversion"].clone()
}

/// The length that a candidate states takes no release back, and deletes nothing.
#[tokio::test]
async fn a_doubtful_answer_is_a_warning_and_can_be_converted_again() {
    for recorded in [60, 6] {
        let (app, person) = given().await;
        person.record(&parts()).await;
        app.settle().await;
        let take = person.begin().await;
        person.send(take, 1, webm()).await;
        logs::take_lines("conversion");
        person.finish(take, Some(1), recorded).await;
        app.settle().await;
        // The template has a metric of these lines.
        let lines = logs::take_lines("conversion");
        assert!(lines.iter().all(|line| line["level"] != "ERROR"), "{lines:?}");
        let message = "the length of an answer is doubtful";
        let doubt = lines.iter().find(|line| line["message"] == message).unwrap();
        let told = (&doubt["level"], &doubt["recorded"], &doubt["seconds"]);
        assert_eq!(told, (&json!("WARN"), &json!(recorded), &json!(2)), "{doubt}");
        let kept = |number: u32| {
            let second = ["jpg", "mp4"].map(|extension| format!("2-{number}.{extension}"));
            ["1-1.jpg", "1-1.mp4", second[0].as_str(), second[1].as_str(), "0001"].map(str::to_owned)
        };
        assert_eq!(names(&app), kept(1));
        let staff = person.owner.new_token().await;
        for number in [2, 3] {
            assert_eq!(retry(&app).await, 1);
            let again = staff.get(&person.answer).await.expect(200).json();
            assert_eq!(again["status"], "pending");
            app.anonymous().get(again["streams"]["mp4"].as_str().unwrap()).await.expect(302);
            app.settle().await;
            let answer = staff.get(&person.answer).await.expect(200).json();
            let shown = (&answer["status"], &answer["take"]["is_interrupted"]);
            assert_eq!(shown, (&json!("successful"), &json!(false)));
            assert_eq!(names(&app), kept(number));
        }
        app.clock().advance(TimeDelta::days(31));
        assert_eq!(retry(&app).await, 0);
    }
}

#[tokio::test]
async fn failed_conversions_are_retried_by_the_operator_for_thirty_days() {
    let (app, person) = given().await;
    person.record(&[b"no video"]).await;
    app.settle().await;
    assert_eq!(person.answer().await["status"], "failed");
    assert_eq!((retry(&app).await, retry(&app).await), (json!(1), json!(0)));
    app.settle().await;
    assert_eq!(person.answer().await["status"], "failed");
    app.clock().advance(TimeDelta::days(31));
    app.sweep().await;
    assert_eq!(retry(&app).await, 0);
}

/// A program that crashes on every file says nothing about the recording.
#[tokio::test]
async fn a_take_waits_while_ffmpeg_crashes() {
    let folder = tempfile::tempdir().unwrap();
    // Linux starts no file that is open for writing, so another process writes it: what is open here, programs that other
    // tests start at the same time have too.
    let write = "printf '#!/bin/sh\\nkill -SEGV $$\\n' >\"$0\" && chmod +x \"$0\"";
    let status = Command::new("sh").args(["-c", write]).arg(folder.path().join("ffmpeg")).status();
    assert!(status.unwrap().success());
    let programs = TestApp::start().await.environment()["PATH"].clone();
    let path = format!("{}:{programs}", folder.path().display());
    let app = TestApp::start_with(&[("PATH", &path)]).await;
    let person = Interviewee::asked(&app, json!({ "takes": 2 })).await;
    person.record(&parts()).await;
    app.events().deliver_stream().await.unwrap();
    app.events().deliver_objects().await.unwrap_err();
    assert_eq!(person.answer().await["status"], "processing");
    let parts = ["0001", "0002", "0003"].map(str::to_owned);
    assert!(parts.iter().all(|part| names(&app).contains(part)), "{:?}", names(&app));
}

#[tokio::test]
async fn recordings_that_waited_at_the_moment_of_a_restore_are_converted_again() {
    let (app, person) = given().await;
    let take = person.begin().await;
    let mut sent = Vec::new();
    for (number, part) in (1..).zip(parts()) {
        sent.push((person.announced(take, number, part).await, part));
    }
    for (part, bytes) in &sent {
        assert_eq!(put(part, bytes.to_vec()).await.status, 200);
    }
    let operate = async |command: Value| app.operate(command).await.unwrap();
    let restart = async || operate(json!({ "command": "restart-conversions" })).await["restarted"].clone();
    assert_eq!(restart().await["conversion"], 0, "an open take is the candidate's");
    person.finish(take, Some(sent.len()), 2).await;
    let (then, files) = (app.table().contents().await, app.object_keys());
    app.settle().await;

    // Effects that are done stay done, but the answers are taken back.
    let now = app.table().contents().await;
    let is_effect = |key: &tests::table::Key| key.0.starts_with("EFFECT#");
    let restored = then.into_iter().filter(|(key, _)| !is_effect(key));
    let restored = restored.chain(now.into_iter().filter(|(key, _)| is_effect(key))).collect();
    app.table().restore(&restored).await;
    for (part, bytes) in &sent {
        assert_eq!(put(part, bytes.to_vec()).await.status, 200);
    }
    let renditions: Vec<String> = app.object_keys().into_iter().filter(|key| !files.contains(key)).collect();
    assert_eq!(renditions.len(), 2, "{renditions:?}");
    let other = renditions[0].replace(&format!("/{take}-"), "/7-");
    let newer: Vec<&String> = renditions.iter().chain([&files[0], &other]).collect();
    let needed = operate(json!({ "command": "files-of-takes", "files": newer })).await;
    assert_eq!(needed["files_of_takes"], json!([renditions[0], renditions[1], files[0]]));

    app.settle().await;
    assert_eq!(person.answer().await["status"], "pending", "nothing is left that would convert it");
    app.clock().advance(TimeDelta::minutes(1));
    assert_eq!(restart().await["conversion"], 1);
    app.settle().await;
    let answer = person.answer().await;
    assert_eq!((&answer["status"], &answer["seconds"]), (&json!("successful"), &json!(2)));
    assert_eq!(names(&app), [format!("{take}-1.jpg"), format!("{take}-1.mp4")]);
    assert_eq!(restart().await["conversion"], 0);
}
