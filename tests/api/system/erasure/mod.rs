//! Deleted people stay deleted, whatever moment the table is restored to.

pub(crate) mod planted;
mod remains;
mod restores;

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use image::ImageFormat::Jpeg;
use serde_json::{Value, json};
use tests::app::{TestApp, person};
use tests::assert_refusal;
use tests::caller::{Caller, PASSWORD, Staff, last_segment};
use tests::files::{Form, pdf, photo};
use tests::http::Request;
use tests::table::Contents;

use crate::events::feed::{FEED, read_all, read_on};

/// A company in which there is something to erase, and a table as it was then.
struct ErasureFixture {
    app: TestApp,
    owner: Staff,
    project: String,
    ada: String,
    leaver: Staff,
    video: String,
    before: Contents,
    since: String,
}

impl ErasureFixture {
    async fn new() -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let video = json!({
            "name": "Welcome", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 9,
        });
        let video = owner.post("/companies/acme/videos/", video).await.expect(201).uri("resource_uri");
        let leaver = owner.colleague("recruiter", json!({ "username": "leaver" })).await.activate().await;
        let form = Form::new().file("photo", "p.jpg", "image/jpeg", &photo(Jpeg, 9, 9));
        leaver.send(Request::patch(&leaver.uri).form(form)).await.expect(200);
        let project = json!({ "evaluators": [leaver.uri], "videos": [{ "uri": video, "position": 1 }] });
        let project = owner.running_project(project).await;
        let ada = create(&owner, &project, "ada").await;
        create(&owner, &project, "grace").await;
        owner.post(&format!("{ada}shares/"), json!({ "customer": leaver.uri })).await.expect(201);
        app.settle().await;
        let (before, since) = (app.table().contents().await, app.clock().in_days(0));
        app.clock().advance(TimeDelta::minutes(1));
        Self { app, owner, project, ada, leaver, video, before, since }
    }

    async fn delete_all(&self) {
        for uri in [&self.ada, &self.leaver.uri, &self.video] {
            self.owner.delete(uri).await.expect(204);
        }
        self.app.settle().await;
    }

    /// Erases again, and returns the outcome once the outbox has done its part.
    pub(crate) async fn erase_again(&self) -> Value {
        let outcome = erase_again(&self.app, &self.since).await;
        self.app.settle().await;
        outcome
    }

    async fn assert_sound(&self) {
        self.app.assert_sound();
        self.app.assert_files_sound().await;
        assert_eq!(drift(&self.app).await, json!([]));
    }

    async fn found(&self, words: &str) -> usize {
        let found = self.owner.get(&format!("/companies/acme/search/?q={words}")).await.expect(200);
        found.json().as_array().unwrap().len()
    }
}

/// A candidate with a user name, a client's key, an address and files.
async fn create(owner: &Staff, project: &str, name: &str) -> String {
    let form = [("first_name", name), ("last_name", "Byron"), ("username", name), ("external_id", name)];
    let form = form.into_iter().fold(Form::new(), |form, (name, text)| form.text(name, text));
    let form = form.text("email", &format!("{name}@mail.example"));
    let form = form.file("photo", "p.jpg", "image/jpeg", &photo(Jpeg, 9, 9));
    let form = form.file("cv", "cv.pdf", "application/pdf", &pdf(100));
    let request = Request::post(&format!("{project}candidates/")).form(form);
    owner.send(request).await.expect(201).uri("resource_uri")
}

pub(crate) async fn erase_again(app: &TestApp, since: &str) -> Value {
    let outcome = app.operate(json!({ "command": "erase-again", "since": since })).await.unwrap();
    outcome["erased_again"].clone()
}

pub(crate) async fn drift(app: &TestApp) -> Value {
    let outcome = app.operate(json!({ "command": "recount", "company": "acme" })).await.unwrap();
    outcome["recount"]["drift"].clone()
}

#[tokio::test]
async fn a_restored_table_forgets_again() {
    let given = ErasureFixture::new().await;
    let ErasureFixture { app, owner, project, ada, leaver, video, before, .. } = &given;
    given.delete_all().await;
    let project_id = last_segment(project);
    assert_eq!(
        app.ledger(),
        [
            format!("erased/20261108T100100Z/acme/candidates/{project_id}/{}", last_segment(ada)),
            format!("erased/20261108T100100Z/acme/customers/{}", last_segment(&leaver.uri)),
            format!("erased/20261108T100100Z/acme/videos/{}", last_segment(video)),
        ]
    );
    let mails = app.mails_to(&leaver.email).len();

    app.table().restore(before).await;
    owner.get(ada).await.expect(200);
    leaver.new_token().await;
    app.clock().advance(TimeDelta::minutes(1));
    assert_eq!(given.erase_again().await, json!({ "noted": 3, "erased": 3, "kept": [] }));

    for uri in [ada, &leaver.uri, video] {
        owner.get(uri).await.expect_code(404, "not_found");
    }
    for name in ["leaver", &leaver.email] {
        app.anonymous().log_in("acme", name, PASSWORD).await.expect_code(401, "invalid_credentials");
    }
    assert_eq!((given.found("ada").await, given.found("grace").await), (0, 1));
    let project = owner.get(project).await.expect(200).json();
    let shown = ["candidates_count", "evaluators", "videos"].map(|field| project[field].clone());
    assert_eq!(shown, [json!(1), json!([]), json!([])]);
    assert_eq!(app.mails_to(&leaver.email).len(), mails, "nobody is told twice");
    assert_eq!(app.object_keys().len(), 2, "those of who was not deleted");
    given.assert_sound().await;

    // Once more finds it done, and what it did itself in the ledger.
    let before = app.table().snapshot().await;
    assert_eq!(given.erase_again().await, json!({ "noted": 6, "erased": 0, "kept": [] }));
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn the_new_owner_of_a_name_stays() {
    let given = ErasureFixture::new().await;
    let ErasureFixture { app, owner, project, ada, leaver, before, .. } = &given;
    given.delete_all().await;
    let another_ada = create(owner, project, "ada").await;
    let fields = json!({ "username": "leaver", "email": leaver.email });
    let another = owner.colleague("admin", fields).await;
    app.settle().await;

    app.table().put_back(before).await;
    owner.get(ada).await.expect(200);
    assert_ne!(drift(app).await, json!([]), "those who were put back are counted");
    app.clock().advance(TimeDelta::minutes(1));
    assert_eq!(given.erase_again().await, json!({ "noted": 3, "erased": 3, "kept": [] }));
    owner.get(ada).await.expect_code(404, "not_found");
    owner.get(&leaver.uri).await.expect_code(404, "not_found");

    owner.get(&another_ada).await.expect(200);
    assert_eq!(given.found("ada").await, 1);
    another.activate().await;
    app.settle().await;
    given.assert_sound().await;
    // Names and key are taken.
    let same_key = json!({ "first_name": "A", "last_name": "B", "external_id": "ada" });
    let taken = owner.post(&format!("{project}candidates/"), same_key).await.expect(409);
    assert_eq!(taken.uri("resource_uri"), another_ada);
    assert_refusal!(owner.post(
&format!("{project}candidates/"),
json!({ "first_name": "A", "last_name": "B", "username": "ada" }),
).await, @r#"400 {"username":["This username is already in use."]}"#);
}

#[tokio::test]
async fn no_reader_is_ahead_of_a_restored_feed_and_no_identifier_comes_twice() {
    let given = ErasureFixture::new().await;
    let ErasureFixture { app, owner, project, ada, before, .. } = &given;
    let latest = async || owner.get(FEED).await.expect(200).json()["meta"]["latest"].as_u64().unwrap();
    let phone = async |phone: &str| {
        owner.patch(ada, json!({ "phone": phone })).await.expect(200);
        app.settle().await;
        read_all(owner, "before=latest&page_size=1").await.remove(0)
    };
    let lost = phone("1").await;
    given.delete_all().await;
    let cursor = latest().await;
    app.table().restore(before).await;
    app.clock().advance(TimeDelta::minutes(1));
    assert_refusal!(owner.get(&format!("{FEED}?after={cursor}")).await, @r#"400 {"after":["`after` is beyond the latest event, number 11."]}"#);

    let advanced = json!({ "command": "advance-sequence", "company": "acme" });
    let advanced = app.operate(advanced).await.unwrap()["last_event"].as_u64().unwrap();
    assert!(advanced > cursor && advanced == latest().await);
    let mut next = format!("{FEED}?after={cursor}");
    assert_eq!(read_on(owner, &mut next).await.len(), 0);
    let again = phone("1").await;
    assert_eq!(again["data"], lost["data"]);
    assert_ne!((&again["id"], &again["sequence"]), (&lost["id"], &lost["sequence"]));
    // The event after them tells that the numbers before it were left out.
    assert_eq!(read_on(owner, &mut next).await, [again]);
    let whole = read_all(owner, "page_size=7").await;
    assert_eq!(read_all(owner, &format!("page_size=7&after={}", cursor - 1)).await.len(), 1);

    given.erase_again().await;
    let new = read_all(owner, &format!("after={advanced}")).await;
    assert_eq!(new.len() + whole.len() - 1, read_all(owner, "").await.len());
    for uri in [ada, &given.leaver.uri, &given.video] {
        let events = read_all(owner, &format!("resource={uri}")).await;
        assert!(events.iter().all(|event| event["data"]["changed"] == json!([])), "{events:?}");
        let ends = |event: &Value, end| event["types"][0].as_str().unwrap().ends_with(end);
        let mut last = events.last().unwrap();
        if uri == ada {
            assert!(ends(last, ".erased") && last["by"]["kind"] == "system", "{last}");
            assert_eq!(last["data"]["reason"], "restored");
            last = &events[events.len() - 2];
        }
        assert!(ends(last, ".deleted") && last["by"]["kind"] == "operator", "{last}");
    }
    assert_eq!(
        read_all(owner, &format!("resource={project}")).await.last().unwrap()["types"],
        json!(["project.updated"])
    );
    let unknown =
        app.operate(json!({ "command": "advance-sequence", "company": "globex" })).await.unwrap_err();
    assert!(unknown.to_string().contains("There is no such company."), "{unknown}");
    given.assert_sound().await;
}

#[tokio::test]
async fn only_deletions_since_then_are_repeated() {
    let given = ErasureFixture::new().await;
    let ErasureFixture { app, owner, ada, before, .. } = &given;
    let stranger = app.owner_of("globex").await;
    let elsewhere = create(&stranger, &stranger.project(json!({})).await, "ada").await;
    given.delete_all().await;
    app.clock().advance(TimeDelta::minutes(1));
    let later = app.clock().in_days(0);
    app.leave_unsound("deleted items are put back without their counts");
    app.table().put_back(before).await;
    assert_eq!(erase_again(app, &later).await, json!({ "noted": 0, "erased": 0, "kept": [] }));
    owner.get(ada).await.expect(200);
    // The very second counts, in any zone.
    let outcome = erase_again(app, "2026-11-08T11:01:00+01:00").await;
    assert_eq!(outcome, json!({ "noted": 3, "erased": 3, "kept": [] }));
    stranger.get(&elsewhere).await.expect(200);
    for since in ["", "yesterday", "2026-11-08T10:00:00", "2026-11-08"] {
        let refused = app.operate(json!({ "command": "erase-again", "since": since })).await.unwrap_err();
        assert!(refused.to_string().contains("\"since\""), "{refused}");
    }
}

#[tokio::test]
async fn a_company_keeps_its_last_owner_until_there_is_another() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (before, since) = (app.table().contents().await, app.clock().in_days(0));
    let second = json!({
        "command": "create-customer", "company": "acme", "account_type": "owner",
        "customer": person("second", "second@acme.example"),
    });
    app.operate(second.clone()).await.unwrap();
    // Owners are deleted once they are none any more.
    app.table().set_customer(&owner.uri, "account_type", AttributeValue::S("recruiter".to_owned())).await;
    let token = app.anonymous().log_in("acme", "second", PASSWORD).await.expect(200).uri("token");
    app.token(&token).delete(&owner.uri).await.expect(204);
    app.settle().await;

    app.table().restore(&before).await;
    let reason = "This is the company's last owner who can log in. Add another owner first.";
    let kept = json!([{ "uri": owner.uri, "reason": reason }]);
    assert_eq!(erase_again(&app, &since).await, json!({ "noted": 1, "erased": 0, "kept": kept }));
    app.operate(second).await.unwrap();
    assert_eq!(erase_again(&app, &since).await, json!({ "noted": 1, "erased": 1, "kept": [] }));
    app.settle().await;
}

#[tokio::test]
async fn candidates_on_hold_are_kept_and_named_until_the_hold_is_deleted() {
    let given = ErasureFixture::new().await;
    let ErasureFixture { app, owner, ada, .. } = &given;
    let hold = format!("{ada}hold/");
    owner.send(Request::put(&hold).json(&json!({ "reason": "A lawsuit." }))).await.expect(200);
    app.settle().await;
    let before = app.table().contents().await;
    app.clock().advance(TimeDelta::minutes(1));
    owner.delete(&hold).await.expect(204);
    owner.delete(ada).await.expect(204);
    app.settle().await;

    app.table().restore(&before).await;
    app.clock().advance(TimeDelta::minutes(1));
    let reason = "The candidate is on hold and cannot be erased. Delete the hold first.";
    let kept = json!([{ "uri": ada, "reason": reason }]);
    assert_eq!(given.erase_again().await, json!({ "noted": 1, "erased": 0, "kept": kept }));
    assert_eq!(owner.get(ada).await.expect(200).json()["is_on_hold"], true);

    owner.delete(&hold).await.expect(204);
    assert_eq!(given.erase_again().await, json!({ "noted": 1, "erased": 1, "kept": [] }));
    owner.get(ada).await.expect_code(404, "not_found");
    given.assert_sound().await;
}

#[tokio::test]
async fn a_long_ledger_is_read_to_its_end() {
    let given = ErasureFixture::new().await;
    let ErasureFixture { app, before, .. } = &given;
    // A thousand are a page.
    let bucket = app.app().config().bucket.as_deref().unwrap();
    for number in 0..1_000 {
        let key = format!("erased/20261108T100030Z/acme/customers/01ARZ3NDEKTSV4RRFFQ69G{number:04}");
        app.app().aws().s3().put_object().bucket(bucket).key(key).send().await.unwrap();
    }
    given.delete_all().await;
    app.table().restore(before).await;
    assert_eq!(given.erase_again().await, json!({ "noted": 1_003, "erased": 3, "kept": [] }));
    given.assert_sound().await;
}

#[tokio::test]
async fn an_item_that_is_put_back_goes_on_after_its_history() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let ada = owner.candidate(&project, json!({})).await;
    owner.patch(&ada, json!({ "phone": "1" })).await.expect(200);
    let partition = format!("COMPANY#acme#PROJECT#{}", last_segment(&project));
    let item = (partition, format!("CANDIDATE#{}", last_segment(&ada)));
    let version = |number: u64| AttributeValue::N(number.to_string());
    app.table().set(&item, "version", version(1)).await;
    let refused = owner.patch(&ada, json!({ "phone": "2" })).await;
    assert_refusal!(refused, @r#"500 {"code":"internal_error","detail":"Internal error. If it persists, report the `X-Request-Id` of this response."}"#);
    let cause = refused.log().cause.unwrap_or_default();
    assert!(cause.contains("raise the version of an item that is put back"), "{cause}");
    app.table().set(&item, "version", version(1_000_001)).await;
    owner.patch(&ada, json!({ "phone": "2" })).await.expect(200);
    app.settle().await;
    let events = read_all(&owner, &format!("resource={ada}")).await;
    let versions: Vec<&Value> = events.iter().map(|event| &event["data"]["version"]).collect();
    assert_eq!(versions, [&json!(1), &json!(2), &json!(1_000_002)]);
}

#[tokio::test]
async fn what_is_still_to_be_erased_of_a_candidate_stays_if_they_were_brought_back() {
    let given = ErasureFixture::new().await;
    let id = last_segment(&given.ada).to_owned();
    let files = async || given.app.object_keys().into_iter().filter(|key| key.contains(&id)).count();
    assert_eq!(files().await, 2);
    given.owner.delete(&given.ada).await.expect(204);
    // The operator brings them back before the outbox has done its part.
    let (_, candidate) =
        given.before.iter().find(|((_, sk), _)| *sk == format!("CANDIDATE#{id}")).expect("a candidate");
    let mut candidate: Value = serde_dynamo::from_item(candidate.clone()).unwrap();
    candidate["version"] = (candidate["version"].as_u64().unwrap() + 1_000_000).into();
    given.app.table().load(&[candidate]).await;
    given.app.settle().await;
    assert_eq!(files().await, 2);
    let types = read_all(&given.owner, "type=candidate.*").await;
    assert!(types.iter().all(|event| event["type"] != "candidate.erased"));
    given.app.leave_unsound("a candidate was put back without what follows from them");
}
