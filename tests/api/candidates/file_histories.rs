//! Files through whatever happens: none is left that nobody has, and nobody has one that is not there.

use axum::http::Method;
use chrono::TimeDelta;
use image::ImageFormat::Jpeg;
use serde_json::{Value, json};
use shared::clock::SystemEntropy;
use shared::domain::random::RandomSource;
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::chaos::Chaos;
use tests::effort;
use tests::files::{Form, pdf, photo, put};
use tests::http::Request;
use tests::videos::film;

/// A stream of choices that tells what it began with, so that a history can be had again.
struct RandomChoices(u64);

impl RandomChoices {
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

fn with_files(choices: &mut RandomChoices, form: Form) -> Form {
    let mut form = form;
    if choices.below(2) == 0 {
        form = form.file("photo", "p.jpg", "image/jpeg", &photo(Jpeg, 9, 9));
    }
    if choices.below(2) == 0 {
        form = form.file("cv", "cv.pdf", "application/pdf", &pdf(100));
    }
    form
}

/// Everything that can have files in a history, and what clients have yet to put.
struct FileHistory {
    app: TestApp,
    admin: Staff,
    candidates: String,
    choices: RandomChoices,
    people: Vec<String>,
    staff: Vec<String>,
    videos: Vec<String>,
    announced: Vec<(Value, Vec<u8>)>,
}

impl FileHistory {
    async fn new() -> Self {
        let app = TestApp::start().await;
        app.owner().await;
        let admin = app.staff("admin").await;
        let candidates = format!("{}candidates/", admin.project(json!({})).await);
        let (people, staff, videos, announced) = Default::default();
        Self { app, admin, candidates, choices: RandomChoices::new(), people, staff, videos, announced }
    }

    async fn step(&mut self) {
        match self.choices.below(15) {
            0..=1 => {
                let form = Form::new().text("first_name", "Ada").text("last_name", "Byron");
                let request = Request::post(&self.candidates).form(with_files(&mut self.choices, form));
                self.people.push(self.admin.send(request).await.expect(201).uri("resource_uri"));
            }
            2..=3 if !self.people.is_empty() => {
                let one = self.choices.below(self.people.len());
                let form = with_files(&mut self.choices, Form::new());
                self.admin.send(Request::patch(&self.people[one]).form(form)).await.expect(200);
            }
            4 if !self.people.is_empty() => {
                let field = ["photo", "cv"][self.choices.below(2)];
                let one = self.choices.below(self.people.len());
                self.admin.patch(&self.people[one], json!({ field: "" })).await.expect(200);
            }
            5 if !self.people.is_empty() => {
                let one = self.choices.below(self.people.len());
                let uploads = format!("{}uploads/", self.people[one]);
                self.announce(&uploads, json!({ "field": "cv" }), pdf(100)).await;
            }
            6 if !self.people.is_empty() => {
                let one = self.choices.below(self.people.len());
                self.admin.delete(&self.people.swap_remove(one)).await.expect(204);
            }
            7 => {
                let name = format!("grace-{}", self.choices.below(usize::MAX >> 32));
                let form =
                    ["first_name", "last_name"].iter().fold(Form::new(), |form, name| form.text(name, "G"));
                let form =
                    form.text("email", &format!("{name}@acme.example")).text("preferred_language", "en");
                let form = form.text("account_type", "recruiter");
                let form = form.file("photo", "p.jpg", "image/jpeg", &photo(Jpeg, 9, 9));
                let request = Request::post("/companies/acme/customers/").form(form);
                self.staff.push(self.admin.send(request).await.expect(201).uri("resource_uri"));
            }
            8 if !self.staff.is_empty() => {
                let one = self.choices.below(self.staff.len());
                let uploads = format!("{}uploads/", self.staff[one]);
                self.announce(&uploads, json!({ "field": "photo" }), photo(Jpeg, 9, 9)).await;
            }
            9 if !self.staff.is_empty() => {
                let one = self.choices.below(self.staff.len());
                self.admin.delete(&self.staff.swap_remove(one)).await.expect(204);
            }
            10 => {
                let bytes = if self.choices.below(2) == 0 { film() } else { pdf(100) };
                let video = json!({ "name": "Welcome", "upload_filename": "a.mp4" });
                let video = self.announce("/companies/acme/videos/", video, bytes).await;
                self.videos.push(video);
            }
            11 if !self.videos.is_empty() => {
                let one = self.choices.below(self.videos.len());
                self.admin.delete(&self.videos.swap_remove(one)).await.expect(204);
            }
            12..=13 if !self.announced.is_empty() => {
                let one = self.choices.below(self.announced.len());
                let (announced, bytes) = self.announced.swap_remove(one);
                assert_eq!(put(&announced, bytes).await.status, 200);
            }
            _ => {
                self.app.settle().await;
            }
        }
    }

    /// Announces bytes, to be put at another time, and gives the address of what they are announced as.
    async fn announce(&mut self, to: &str, mut body: Value, bytes: Vec<u8>) -> String {
        body["content_type"] = "application/octet-stream".into();
        body["size"] = bytes.len().into();
        let announced = self.admin.post(to, body).await.expect(201);
        self.announced.push((announced.json(), bytes));
        announced.uri("resource_uri")
    }
}

#[tokio::test]
async fn after_any_history_there_is_every_file_and_no_other() {
    let mut history = FileHistory::new().await;
    for _ in 0..200 {
        history.step().await;
    }
    let app = &history.app;
    app.settle().await;
    // Until everything that never came is given up.
    app.clock().advance(TimeDelta::hours(8));
    app.sweep().await;
    app.settle().await;
    app.assert_files_sound().await;
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
        for calls in effort::numbers(3) {
            let request = Request::new(method.clone(), target);
            let request = if method == Method::DELETE { request } else { request.form(form()) };
            chaos.cut_after(calls);
            let status = owner.send(request).await.status;
            chaos.heal();
            app.clock().advance(TimeDelta::minutes(6));
            app.sweep().await;
            app.settle().await;
            app.assert_files_sound().await;
            app.assert_sound();
            if status.is_success() {
                break;
            }
            assert!(calls < effort::bound(10, 13), "{method} goes on for ever");
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
