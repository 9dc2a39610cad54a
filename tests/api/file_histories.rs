//! Files through whatever happens: none is left that nobody has, and nobody has one that is not there.

use axum::http::Method;
use chrono::TimeDelta;
use image::ImageFormat::Jpeg;
use serde_json::{Value, json};
use shared::clock::{Entropy, SystemEntropy};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::chaos::Chaos;
use tests::files::{Form, pdf, photo, put};
use tests::http::Request;

/// A stream of choices that tells what it began with, so that a history can be had again.
struct Choices(u64);

impl Choices {
    #[expect(clippy::print_stdout, reason = "so that a history that fails can be had again")]
    fn new() -> Self {
        let mut seed = [0; 8];
        SystemEntropy.fill(&mut seed);
        let seed = u64::from_be_bytes(seed);
        println!("this history begins with {seed}");
        Self(seed)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

fn with_files(choices: &mut Choices, form: Form) -> Form {
    let mut form = form;
    if choices.below(2) == 0 {
        form = form.file("photo", "p.jpg", "image/jpeg", &photo(Jpeg, 9, 9));
    }
    if choices.below(2) == 0 {
        form = form.file("cv", "cv.pdf", "application/pdf", &pdf(100));
    }
    form
}

#[tokio::test]
async fn after_any_history_there_is_every_file_and_no_other() {
    let app = TestApp::start().await;
    app.owner().await;
    let admin = app.staff("admin").await;
    let project = admin.project(json!({})).await;
    let candidates = format!("{project}candidates/");
    let mut choices = Choices::new();
    let mut people: Vec<String> = Vec::new();
    let mut announced: Vec<Value> = Vec::new();
    for _ in 0..150 {
        let one = (!people.is_empty()).then(|| choices.below(people.len()));
        match (choices.below(10), one) {
            (0..=1, _) | (_, None) => {
                let form = Form::new().text("first_name", "Ada").text("last_name", "Byron");
                let request = Request::post(&candidates).form(with_files(&mut choices, form));
                people.push(admin.send(request).await.expect(201).uri("resource_uri"));
            }
            (2..=3, Some(one)) => {
                let request = Request::patch(&people[one]).form(with_files(&mut choices, Form::new()));
                admin.send(request).await.expect(200);
            }
            (4, Some(one)) => {
                let field = ["photo", "cv"][choices.below(2)];
                admin.patch(&people[one], json!({ field: "" })).await.expect(200);
            }
            (5..=6, Some(one)) => {
                let size = pdf(100).len();
                let body = json!({ "field": "cv", "content_type": "application/pdf", "size": size });
                let upload = admin.post(&format!("{}uploads/", people[one]), body).await.expect(201);
                announced.push(upload.json());
            }
            (7, Some(_)) if !announced.is_empty() => {
                let upload = announced.swap_remove(choices.below(announced.len()));
                assert_eq!(put(&upload, pdf(100)).await.status, 200);
            }
            (8, Some(one)) => {
                admin.delete(&people.swap_remove(one)).await.expect(204);
            }
            _ => {
                app.settle().await;
            }
        }
    }
    app.settle().await;
    app.clock().advance(TimeDelta::hours(3));
    app.sweep().await;
    app.settle().await;
    app.assert_files_sound().await;
    app.table().assert_sound().await;
}

/// The service, its owner and a candidate with files.
async fn given() -> (TestApp, Chaos, Staff, String) {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    (app, chaos, owner, format!("{project}candidates/"))
}

#[tokio::test]
async fn a_process_that_dies_anywhere_leaves_no_file_behind() {
    let (app, chaos, owner, candidates) = given().await;
    let form = || {
        let form = Form::new().text("first_name", "Ada").text("last_name", "Byron");
        let form = form.file("photo", "p.jpg", "image/jpeg", &photo(Jpeg, 9, 9));
        form.file("cv", "cv.pdf", "application/pdf", &pdf(100))
    };
    let candidate = owner.send(Request::post(&candidates).form(form())).await.expect(201).uri("resource_uri");
    app.settle().await;
    let requests = [(Method::POST, &candidates), (Method::PATCH, &candidate), (Method::DELETE, &candidate)];
    for (method, target) in requests {
        for calls in 0.. {
            let request = Request::new(method.clone(), target);
            let request = if method == Method::DELETE { request } else { request.form(form()) };
            chaos.cut_after(calls);
            let status = owner.send(request).await.status;
            chaos.heal();
            app.clock().advance(TimeDelta::minutes(6));
            app.sweep().await;
            app.settle().await;
            app.assert_files_sound().await;
            app.table().assert_sound().await;
            if status.is_success() {
                break;
            }
            assert!(calls < 10, "{method} goes on for ever");
        }
    }
}

#[tokio::test]
async fn taking_a_file_in_can_break_off_anywhere_and_is_done_by_the_next_event() {
    let (app, chaos, owner, candidates) = given().await;
    let ada = json!({ "first_name": "Ada", "last_name": "Byron" });
    let candidate = owner.post(&candidates, ada).await.expect(201).uri("resource_uri");
    for calls in 0.. {
        let size = pdf(100).len();
        let body = json!({ "field": "cv", "content_type": "application/pdf", "size": size });
        let announced = owner.post(&format!("{candidate}uploads/"), body).await.expect(201).json();
        put(&announced, pdf(100)).await;
        chaos.cut_after(calls);
        let first = app.events().deliver_objects().await;
        chaos.heal();
        let uri = announced["resource_uri"].as_str().unwrap();
        if first.is_err() {
            let key = format!("uploads/files/{}", last_segment(uri));
            let detail = json!({ "bucket": { "name": "MediaBucket" }, "object": { "key": key } });
            app.put_event(json!({ "source": "aws.s3", "detail-type": "Object Created", "detail": detail }))
                .await;
        }
        app.settle().await;
        assert_eq!(owner.get(uri).await.expect(200).json()["status"], "successful");
        app.assert_files_sound().await;
        if first.is_ok() {
            return;
        }
        assert!(calls < 10, "it goes on for ever");
    }
}
