//! Two conversions of one take at once: the last one that has begun is what plays, whichever ends first.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::chaos::Chaos;
use tests::files::fetch;
use tests::takes::Interviewee;
use tests::videos::{probed, recorded};
use tokio::sync::oneshot;

/// Three seconds as a browser records them, in parts of a second at least.
fn parts() -> [Vec<u8>; 2] {
    let how = "-f lavfi -i testsrc2=s=64x48:r=10:d=3 -f lavfi -i sine=d=3 -c:v libvpx -deadline realtime -cpu-used 8 -g 10 \
               -c:a libopus -live 1";
    let film = recorded(how, "webm");
    let (head, tail) = film.split_at(film.len() / 2);
    [head.to_vec(), tail.to_vec()]
}

/// The names of the objects of the only candidate.
fn names(app: &TestApp) -> Vec<String> {
    app.object_keys().iter().map(|key| last_segment(key).to_owned()).collect()
}

/// A take whose first part waits for its conversion, since the candidate was away.
async fn interrupted() -> (TestApp, [Chaos; 2], Interviewee, u64) {
    let (app, proxies) = TestApp::start_with_storage_chaos().await;
    let person = Interviewee::asked(&app, json!({ "takes": 2, "answer_seconds": 10 })).await;
    let take = person.begin().await;
    person.send(take, 1, &parts()[0]).await;
    app.clock().advance(TimeDelta::hours(1));
    app.sweep().await;
    app.events().deliver_stream().await.unwrap();
    (app, proxies, person, take)
}

/// Fails unless what plays is the whole recording.
async fn assert_whole(app: &TestApp, person: &Interviewee) {
    let answer = person.owner.new_token().await.get(&person.answer).await.expect(200).json();
    assert_eq!((&answer["status"], &answer["seconds"]), (&json!("successful"), &json!(3)), "{answer}");
    let redirect = app.anonymous().get(answer["streams"]["mp4"].as_str().unwrap()).await.expect(302);
    let video = probed(&fetch(redirect.header("location").unwrap(), &[]).await.body);
    let seconds: f64 = video["format"]["duration"].as_str().unwrap().parse().unwrap();
    assert!(seconds > 2.5, "{seconds} of 3");
}

#[tokio::test]
async fn a_conversion_without_the_last_parts_that_ends_late_replaces_nothing() {
    // While it stores the video, and while it writes its result.
    for (proxy, operation) in [(1, "PUT"), (0, "TransactWriteItems")] {
        let (app, proxies, person, take) = interrupted().await;
        let held = proxies[proxy].pause_about(operation, if proxy == 0 { "successful" } else { "" });
        let finished_meanwhile = async {
            held.reached().await;
            app.clock().advance(TimeDelta::seconds(5));
            person.send(take, 2, &parts()[1]).await;
            person.finish(take, Some(2), 3).await;
            app.settle().await;
            assert_whole(&app, &person).await;
            held.resume();
        };
        let (first, ()) =
            tokio::join!(app.events().put_event(person.marker_event(take, "first")), finished_meanwhile);
        assert_eq!(first.unwrap()["VideoConversionFunction"].as_ref().unwrap(), "ignored", "{operation}");
        assert_whole(&app, &person).await;
        assert_eq!(names(&app), [format!("{take}-2.jpg"), format!("{take}-2.mp4")], "{operation}");
        app.assert_files_sound().await;
    }
}

#[tokio::test]
async fn a_conversion_without_the_last_parts_leaves_one_that_waits_or_is_under_way() {
    for is_under_way in [false, true] {
        let (app, [_table, s3], person, take) = interrupted().await;
        let held = s3.pause("PUT");
        let (end, ended) = oneshot::channel();
        let first = async {
            let outcome = app.events().put_event(person.marker_event(take, "first")).await.unwrap();
            end.send(()).unwrap();
            outcome
        };
        let later = async {
            held.reached().await;
            app.clock().advance(TimeDelta::seconds(5));
            person.send(take, 2, &parts()[1]).await;
            person.finish(take, Some(2), 3).await;
            // Only videos have this mark.
            let later = is_under_way.then(|| s3.pause_about("PUT", "ftyp"));
            let first_ends = async {
                if let Some(later) = &later {
                    later.reached().await;
                }
                held.resume();
                ended.await.unwrap();
                if let Some(later) = &later {
                    later.resume();
                }
            };
            if is_under_way {
                tokio::join!(first_ends, app.settle());
            } else {
                first_ends.await;
                app.settle().await;
            }
        };
        let (first, ()) = tokio::join!(first, later);
        assert_eq!(first["VideoConversionFunction"].as_ref().unwrap(), "ignored", "{is_under_way}");
        assert_whole(&app, &person).await;
        assert_eq!(names(&app), [format!("{take}-2.jpg"), format!("{take}-2.mp4")], "{is_under_way}");
    }
}

#[tokio::test]
async fn a_conversion_that_is_needless_by_its_end_stores_nothing() {
    let (app, [table, s3], person, take) = interrupted().await;
    let fetching = s3.pause("GET");
    let finished_meanwhile = async {
        fetching.reached().await;
        // It looks at the take once more.
        let looking = table.pause("BatchGetItem");
        fetching.resume();
        looking.reached().await;
        assert!(!names(&app).contains(&format!("{take}-1.mp4")), "it looks before");
        app.clock().advance(TimeDelta::seconds(5));
        person.send(take, 2, &parts()[1]).await;
        person.finish(take, Some(2), 3).await;
        app.settle().await;
        looking.resume();
        s3.requests("PUT")
    };
    let (_, stored) =
        tokio::join!(app.events().put_event(person.marker_event(take, "first")), finished_meanwhile);
    assert_eq!(s3.requests("PUT"), stored);
    assert_whole(&app, &person).await;
}

#[tokio::test]
async fn a_conversion_that_begins_again_deletes_what_a_killed_one_has_stored() {
    let (app, [table, _s3]) = TestApp::start_with_storage_chaos().await;
    let person = Interviewee::asked(&app, json!({ "takes": 2 })).await;
    let take = person.record(&[&parts().concat()]).await;
    app.events().deliver_stream().await.unwrap();
    // It has its turn and its lease, and has stored both renditions.
    table.cut_after_writes(2);
    let killed = app.events().put_event(person.marker_event(take, "first")).await.unwrap();
    assert!(killed["VideoConversionFunction"].is_err());
    table.heal();
    assert_eq!(names(&app)[..2], [format!("{take}-1.jpg"), format!("{take}-1.mp4")]);
    app.events().put_event(person.marker_event(take, "first")).await.unwrap();
    app.settle().await;
    assert_eq!(names(&app), [format!("{take}-2.jpg"), format!("{take}-2.mp4")]);
}
