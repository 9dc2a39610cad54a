//! Captions of recorded answers: put by managers, shown to everyone who watches but the candidate, gone with their take.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::files::Form;
use tests::http::{Request, Response};
use tests::takes::{Interviewee, captions_of};
use tests::videos::film;
use tests::{assert_refusal, assert_refusals};

use super::guests::GuestFixture;
use super::{begin, interview, project};

const SENT: &str =
    "WEBVTT\r\n\r\n1\r\n00:01.000 --> 00:02.000 region:r\r\n<b>Because</b> I like &amp; know it\r\n";
const WRITTEN: &str = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nBecause I like &amp; know it\n";

/// A candidate who has recorded an answer, which is converted, and the number of the take.
async fn given() -> (TestApp, Interviewee, u64) {
    let app = TestApp::start().await;
    let person = Interviewee::asked(&app, json!({ "takes": 3 })).await;
    let take = person.record(&[&film()]).await;
    app.settle().await;
    (app, person, take)
}

fn languages(answer: &Value) -> Vec<&str> {
    answer["captions"].as_array().unwrap().iter().map(|one| one["language"].as_str().unwrap()).collect()
}

fn url(answer: &Value, index: usize) -> String {
    answer["captions"][index]["url"].as_str().unwrap().to_owned()
}

/// The sort keys of all captions of answers.
fn stored(app: &TestApp) -> Vec<Value> {
    let items = app.items().into_iter();
    let found = items.filter(|item| item["pk"]["S"].as_str().unwrap().starts_with("TAKE_CAPTIONS#"));
    found.map(|item| item["sk"]["S"].clone()).collect()
}

async fn shown_to(caller: &impl Caller, person: &Interviewee) -> Value {
    interview(caller, &person.candidate.uri).await["answers"][0].clone()
}

fn text_of(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

#[tokio::test]
async fn managers_caption_an_answer_in_several_languages() {
    let (app, person, take) = given().await;
    let shown = person.caption(take, "de", SENT).await.expect(200).json();
    assert_eq!(languages(&shown), ["de"]);
    person.caption(take, "en", SENT).await.expect(200);
    let shown = shown_to(&person.owner, &person).await;
    assert_eq!(languages(&shown), ["en", "de"]);

    let file = app.anonymous().get(&url(&shown, 1)).await.expect(200);
    assert_eq!(file.header("content-type"), Some("text/vtt; charset=utf-8"));
    assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(file.header("cache-control"), Some("private, no-store"));
    assert_eq!(text_of(&file), WRITTEN);
    let tag = file.header("etag").unwrap();
    app.anonymous().send(Request::get(&url(&shown, 1)).header("if-none-match", tag)).await.expect(304);

    let other = WRITTEN.replace("Because", "Since");
    person.caption(take, "de", &other).await.expect(200);
    assert_eq!(text_of(&app.anonymous().get(&url(&shown, 1)).await.expect(200)), other);
    let german = format!("{}captions/de/", person.answer);
    person.owner.delete(&german).await.expect(204);
    person.owner.delete(&german).await.expect(404);
    app.anonymous().get(&url(&shown, 1)).await.expect(404);
    assert_eq!(languages(&person.answer().await), ["en"]);
    assert_eq!(stored(&app).len(), 1);
}

#[tokio::test]
async fn candidates_see_captions_in_their_data_alone() {
    let (app, person, take) = given().await;
    person.caption(take, "en", SENT).await.expect(200);
    assert_eq!(shown_to(&person.candidate, &person).await["captions"], json!([]));
    let own = person.candidate.get(&person.answer).await.expect(200).json();
    assert_eq!(own["captions"], json!([]));
    for caller in [
        person.candidate.get(&format!("{}data/", person.candidate.uri)).await,
        person.owner.get(&format!("{}data/", person.candidate.uri)).await,
    ] {
        let data = caller.expect(200).json();
        let captions = &data["answers"][0]["takes"][0]["captions"][0];
        assert_eq!(captions["language"], "en");
        let file = app.anonymous().get(captions["url"].as_str().unwrap()).await.expect(200);
        assert_eq!(text_of(&file), WRITTEN);
    }
    let captions = format!("{}captions/en/", person.answer);
    person.candidate.send(Request::put(&captions).form(captions_of(take, SENT))).await.expect(403);
    person.candidate.delete(&captions).await.expect(403);
}

#[tokio::test]
async fn guests_and_people_with_a_share_see_captions_as_long_as_they_may_watch() {
    let given = GuestFixture::start().await;
    let GuestFixture { app, owner, candidate, questions, .. } = &given;
    app.settle().await;
    let captions = format!("{}answers/{}/captions/en/", candidate.uri, last_segment(&questions[0]));
    owner.send(Request::put(&captions).form(captions_of(1, SENT))).await.expect(200);
    let link = owner.send(given.creation(json!({}))).await.expect(201);
    let key = last_segment(&link.uri("url")).to_owned();
    let read = || Request::get("/review/").header("authorization", &format!("GuestKey {key}"));
    let seen = app.send(read()).await.expect(200).json();
    let answers: Vec<&Value> = [0, 1].map(|number| &seen["questions"][number]["answer"]).into();
    assert_eq!((languages(answers[0]), languages(answers[1])), (vec!["en"], vec![]));
    let guest = url(answers[0], 0);
    assert_eq!(text_of(&app.anonymous().get(&guest).await.expect(200)), WRITTEN);
    app.anonymous().get(&guest.replace("/en/", "/de/")).await.expect_code(401, "invalid_credential");

    let sharee = app.staff("hiring-manager").await;
    owner.post(&format!("{}shares/", candidate.uri), json!({ "customer": sharee.uri })).await.expect(201);
    let shown = interview(&sharee, &candidate.uri).await["answers"][0].clone();
    let shared = url(&shown, 0);
    assert_eq!(text_of(&app.anonymous().get(&shared).await.expect(200)), WRITTEN);
    sharee.delete(&captions).await.expect(403);

    owner.delete(&link.uri("resource_uri")).await.expect(204);
    app.anonymous().get(&guest).await.expect_code(401, "invalid_credential");
    let share = owner.get(&format!("{}shares/", candidate.uri)).await.expect(200).json();
    owner.delete(share["objects"][0]["resource_uri"].as_str().unwrap()).await.expect(204);
    app.anonymous().get(&shared).await.expect(404);
}

#[tokio::test]
async fn a_url_is_good_for_its_session_its_answer_and_its_language_alone() {
    let (app, person, take) = given().await;
    let other = Interviewee::asked(&app, json!({})).await;
    let of_other = other.record(&[&film()]).await;
    person.caption(take, "en", SENT).await.expect(200);
    person.caption(take, "de", SENT).await.expect(200);
    other.caption(of_other, "en", SENT).await.expect(200);
    let session = person.owner.new_token().await;
    let address = url(&session.get(&person.answer).await.expect(200).json(), 0);
    app.anonymous().get(&address).await.expect(200);
    for wrong in [
        address.replace("/en/", "/de/"),
        address.replace("/en/", "/xx/"),
        address.replace(last_segment(&person.answer), last_segment(&other.answer)),
        address.replace(last_segment(&person.candidate.uri), last_segment(&other.candidate.uri)),
        address.replace("/acme/", "/globex/"),
        address.replace("/captions/en/", &format!("/takes/{take}/thumb/")),
    ] {
        app.anonymous().get(&wrong).await.expect(401);
    }
    session.post("/api-token-invalidate/", json!({})).await.expect(204);
    app.anonymous().get(&address).await.expect(401);
}

#[tokio::test]
async fn captions_need_a_take_and_the_number_of_the_one_that_is_the_answer() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let asked = [json!({ "text": "Why us?" }), json!({ "text": "Since when?", "kind": "text" })];
    let (project, questions) = project(&owner, json!({}), &asked).await;
    let candidate = begin(&owner, &project).await;
    let captions = |question: usize, language: &str| {
        format!("{}answers/{}/captions/{language}/", candidate.uri, last_segment(&questions[question]))
    };
    let put = async |question: usize, form: Form| {
        owner.send(Request::put(&captions(question, "en")).form(form)).await
    };
    let stranger = app.owner_of("globex").await;
    let before = app.table().snapshot().await;
    assert_refusals!([
        put(0, captions_of(1, SENT)).await,
        owner.delete(&captions(0, "en")).await,
        put(1, captions_of(1, SENT)).await,
        owner.delete(&captions(1, "en")).await,
    ], @r#"
    2 x 400 {"code":"no_take","detail":"The candidate has not recorded an answer to this question yet."}
    2 x 400 {"code":"not_recorded","detail":"This question is answered in writing."}
    "#);
    let vtt = || Form::new().file("file", "captions.vtt", "text/vtt", SENT.as_bytes());
    assert_refusals!([
        put(0, vtt()).await,
        put(0, vtt().text("take", "0")).await,
        put(0, vtt().text("take", "first")).await,
        put(0, Form::new().text("take", "1")).await,
        put(0, captions_of(1, "1\n00:00:01,000 --> 00:00:02,000\nSubRip\n")).await,
    ], @r#"
    400 {"take":["This field is required."]}
    400 {"take":["Ensure this value is from 1 to 999999999."]}
    400 {"take":["A valid integer is required."]}
    400 {"file":["Send the captions as a multipart/form-data part with a file name."]}
    400 {"file":["Send captions as WebVTT: a first line WEBVTT, then cues, each after an empty line."]}
    "#);
    owner
        .send(Request::put(&captions(0, "xx")).form(captions_of(1, SENT)))
        .await
        .expect_code(404, "not_found");
    stranger.delete(&captions(0, "en")).await.expect(404);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn captions_of_a_take_never_become_those_of_the_next_one_and_go_with_it() {
    let (app, person, first) = given().await;
    person.caption(first, "en", SENT).await.expect(200);
    let seen = url(&person.answer().await, 0);
    let second = person.record(&[&film()]).await;
    // The client has captioned the recording that it fetched before.
    assert_refusal!(person.caption(first, "de", SENT).await, @r#"400 {"code":"take_replaced","detail":"Another take is the answer now. Caption that one, and send its number as `take`."}"#);
    assert_eq!(languages(&person.answer().await), Vec::<&str>::new());
    app.anonymous().get(&seen).await.expect(404);
    app.settle().await;
    assert!(stored(&app).is_empty(), "{:?}", stored(&app));
    person.caption(second, "de", SENT).await.expect(200);
    assert_eq!(stored(&app), [format!("{}#{second}#de", last_segment(&person.answer))]);
    person.owner.delete(&person.answer).await.expect(204);
    app.settle().await;
    assert!(stored(&app).is_empty(), "a reset deletes them");
}

#[tokio::test]
async fn a_url_shows_captions_of_the_take_that_is_the_answer_alone() {
    let (app, person, first) = given().await;
    person.caption(first, "en", SENT).await.expect(200);
    let seen = url(&person.answer().await, 0);
    let former = app.anonymous().get(&seen).await.expect(200);
    let tag = former.header("etag").unwrap();
    let again = || Request::get(&seen).header("if-none-match", tag);
    // The former captions are stored until the outbox deletes them.
    let second = person.record(&[&film()]).await;
    assert_eq!(stored(&app).len(), 1);
    app.anonymous().send(again()).await.expect(404);
    let other = WRITTEN.replace("Because", "Since");
    person.caption(second, "en", &other).await.expect(200);
    assert_eq!(stored(&app).len(), 2);
    assert_eq!(text_of(&app.anonymous().send(again()).await.expect(200)), other);
    app.settle().await;
    assert_eq!(stored(&app).len(), 1);
    assert_eq!(text_of(&app.anonymous().send(again()).await.expect(200)), other);
}

#[tokio::test]
async fn captions_that_a_new_take_overtakes_are_refused() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let person = Interviewee::asked(&app, json!({})).await;
    let first = person.record(&[&film()]).await;
    let held = chaos.pause_about("TransactWriteItems", last_segment(&person.candidate.uri));
    let mut late = Box::pin(person.caption(first, "en", SENT));
    tokio::select! {
        answer = &mut late => panic!("nothing was written: {answer}"),
        () = held.reached() => {}
    }
    person.record(&[&film()]).await;
    held.resume();
    late.await.expect_code(400, "take_replaced");
    assert!(stored(&app).is_empty(), "{:?}", stored(&app));
    assert_eq!(languages(&person.answer().await), Vec::<&str>::new());
}

#[tokio::test]
async fn a_failed_take_gives_the_answer_its_captions_back() {
    let (app, person, first) = given().await;
    person.caption(first, "en", SENT).await.expect(200);
    person.record(&[b"not a video"]).await;
    app.settle().await;
    assert_eq!(languages(&person.answer().await), ["en"]);
}

#[tokio::test]
async fn captions_can_be_put_while_a_candidate_is_on_hold_and_go_with_the_candidate() {
    let (app, person, take) = given().await;
    app.complete(&person.candidate.uri).await;
    let hold = format!("{}hold/", person.candidate.uri);
    person.owner.send(Request::put(&hold).json(&json!({ "reason": "A claim." }))).await.expect(200);
    person.caption(take, "en", SENT).await.expect(200);
    person.owner.delete(&hold).await.expect(204);
    person.owner.delete(&person.candidate.uri).await.expect(204);
    app.settle().await;
    assert!(stored(&app).is_empty(), "{:?}", stored(&app));
}

#[tokio::test]
async fn new_and_deleted_captions_are_an_event_and_a_revision() {
    let (app, person, take) = given().await;
    let captions = format!("{}captions/en/", person.answer);
    let tag = person.owner.get(&person.answer).await.expect(200).header("etag").unwrap().to_owned();
    let put = |tag: &str| Request::put(&captions).form(captions_of(take, SENT)).header("if-match", tag);
    let changed = person.owner.send(put(&tag)).await.expect(200);
    person.owner.send(put(&tag)).await.expect_code(412, "precondition_failed");
    // The same captions are no change.
    let again = person.owner.send(put(changed.header("etag").unwrap())).await.expect(200);
    let revision =
        |response: &Response| response.header("etag").unwrap().split('-').next().unwrap().to_owned();
    assert_eq!(revision(&again), revision(&changed));
    person.owner.delete(&captions).await.expect(204);
    app.settle().await;
    let events = person.owner.get("/companies/acme/events/?type=answer.captioned").await.expect(200).json();
    let told = events["objects"].as_array().unwrap();
    assert_eq!(told.len(), 2, "{events}");
    for event in told {
        let data = &event["data"];
        assert_eq!((&data["take"], &data["seconds"]), (&json!(take), &json!(2)), "{event}");
        assert_eq!(data["question"], person.answer().await["question"]);
        assert_eq!(data["resource_uri"], json!(format!("{}interview/", person.candidate.uri)));
        assert!(!event.to_string().contains("Because"), "no text: {event}");
    }
}
