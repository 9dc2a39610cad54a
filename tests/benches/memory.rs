//! The peak memory of each function's real binary in the heaviest work that we found for it, beside the memory that
//! template.yaml grants.
//!
//! Conversions of videos have their own benchmark.
#![recursion_limit = "256"]

use std::error::Error;

use chrono::TimeDelta;
use embedded::Template;
use image::DynamicImage;
use image::ImageFormat::{Jpeg, Png};
use serde_json::{Value, json};
use shared::clock::{Clock, Stopwatch};
use shared::domain::candidate::CandidateStatus;
use tests::app::{FULL_COST, TestApp};
use tests::caller::{Caller, PASSWORD, Staff, last_segment};
use tests::figures::{print, round};
use tests::files::{data_uri, put};
use tests::function::{Function, http_event, queue_event};
use tests::http::Request;
use tests::receiver::Receiver;
use tests::videos::film;
use tokio::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The maximum size of a picture, in pixels.
const WIDTH: u32 = 8_000;
const HEIGHT: u32 = 5_000;
const ENTRIES: usize = 1_000;
const OVERDUE: usize = 10_000;
const LIMIT: std::time::Duration = std::time::Duration::from_secs(900);

struct Bench {
    app: TestApp,
    template: &'static Template,
    token: String,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let app = TestApp::start_with(&FULL_COST).await;
    let owner = app.owner().await;
    let mut bench = Bench { app, template: Template::of_workspace()?, token: String::new() };
    bench.auth().await?;
    bench.of_requests(&owner).await?;
    bench.of_events(&owner).await
}

impl Bench {
    /// Logs in for the other requests: the binaries use the real time.
    async fn auth(&mut self) -> Result<()> {
        let login = json!({ "company": "acme", "username": "owner", "password": PASSWORD });
        let mut auth = self.start("AuthFunction", "auth").await?;
        let answer = auth.request("POST", "/api-token-auth/", "", &login).await?;
        let answer: Value = serde_json::from_str(answer["body"].as_str().unwrap_or_default())?;
        let token = answer["token"].as_str().ok_or("no token")?.to_owned();
        auth.print("a login");
        drop(auth);
        self.token = token;
        Ok(())
    }

    async fn of_requests(&self, owner: &Staff) -> Result<()> {
        let project = owner.running_project(json!({ "default_interview_period": 9 })).await;
        let project = path_of(&project);
        for number in 0..100 {
            owner.project(json!({ "name": format!("Project {number}"), "evaluators": [owner.uri] })).await;
            let video = json!({
                "name": "Welcome", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 9,
            });
            owner.post("/companies/acme/videos/", video).await.expect(201);
            owner.label(&format!("Label {number}")).await;
        }
        let mut companies = self.start("CompaniesFunction", "companies").await?;
        companies.request("GET", "/companies/acme/labels/", "page_size=100", &Value::Null).await?;
        companies.print("a page of 100 labels");

        let mut projects = self.start("ProjectsFunction", "projects").await?;
        let query = "page_size=100&expand=evaluators,interview_managers,reviewers,roles,labels,videos";
        projects.request("GET", "/companies/acme/projects/", query, &Value::Null).await?;
        projects.print("a page of 100 projects with everything that can be nested");

        let mut videos = self.start("VideosFunction", "videos").await?;
        videos.request("GET", "/companies/acme/videos/", "page_size=100", &Value::Null).await?;
        videos.print("a page of 100 videos");

        let mut evaluations = self.start("EvaluationsFunction", "evaluations").await?;
        let results = format!("{}results/", path_of(&rated(owner).await));
        evaluations.request("GET", &results, "page_size=100", &Value::Null).await?;
        evaluations.print("a page of 100 results with the longest comments");

        self.app.settle().await;
        let mut events = self.start("EventsFunction", "events").await?;
        events.request("GET", "/companies/acme/events/", "page_size=100", &Value::Null).await?;
        events.print("a page of 100 events");

        let mut customers = self.start("CustomersFunction", "customers").await?;
        for (kind, picture) in pictures()? {
            let picture = json!({ "photo": data_uri(kind, &picture) });
            customers.request("PATCH", path_of(&owner.uri), "", &picture).await?;
        }
        customers.print("photos of 40 megapixels");

        let mut candidates = self.start("CandidatesFunction", "candidates").await?;
        let entries: Vec<Value> = (0..ENTRIES).map(entry).collect();
        candidates.request("POST", &format!("{project}candidates/import/"), "", &entries.into()).await?;
        candidates.print("an import of 1,000");
        let ada = owner.candidate(project, json!({})).await;
        for (kind, picture) in pictures()? {
            let picture = json!({ "photo": data_uri(kind, &picture) });
            candidates.request("PATCH", path_of(&ada), "", &picture).await?;
        }
        candidates.print("the same, then photos of 40 megapixels");

        let mut search = self.start("SearchFunction", "search").await?;
        search.request("GET", "/companies/acme/search/", "q=ada+lovelace", &Value::Null).await?;
        search.print("a search with two terms among 1,000 namesakes");

        // Without compression, so that each file is unpacked.
        let mut docs = self.start("DocsFunction", "docs").await?;
        for path in ["/openapi.json", "/docs/", "/docs/reference.js"] {
            docs.request("GET", path, "", &Value::Null).await?;
        }
        docs.print("the document and the largest part of the page");
        Ok(())
    }

    async fn of_events(&self, owner: &Staff) -> Result<()> {
        let mut outbox = self.start("OutboxFunction", "outbox").await?;
        outbox.event(&json!({ "detail-type": "Scheduled Event" })).await?;
        outbox.print("1,000 mails in one sweep");

        let receiver = Receiver::start(|_| {}).await;
        let webhook = json!({ "url": receiver.url, "after": 0 });
        owner.post("/companies/acme/webhooks/", webhook).await.expect(201);
        let mut webhooks = self.start("WebhookSenderFunction", "webhook-sender").await?;
        webhooks.event(&json!({ "detail-type": "Scheduled Event" })).await?;
        webhooks.print("1,000 events to one webhook");

        let project = owner.running_project(json!({})).await;
        self.app.fill(&project, OVERDUE, self.app.clock().now() + TimeDelta::hours(1)).await;
        let mut expiry = self.start("DeadlineExpiryFunction", "deadline-expiry").await?;
        expiry.event(&json!({})).await?;
        expiry.print("10,000 deadlines in one sweep");

        let candidate = owner.candidate(&project, json!({})).await;
        let mut platform = self.start("PlatformEventsFunction", "platform-events").await?;
        let detail = json!({ "candidate": candidate });
        let completed = json!({
            "id": "bench", "source": "interview.platform", "detail-type": "interview.completed",
            "time": "2026-11-08T10:00:00Z", "detail": detail,
        });
        platform.event(&queue_event(&completed)).await?;
        platform.print("an event");

        let mut uploads = self.start("UploadsFunction", "uploads").await?;
        for (kind, picture) in pictures()? {
            let announced = json!({ "field": "photo", "content_type": kind, "size": picture.len() });
            let announced = owner.post(&format!("{candidate}uploads/"), announced).await.expect(201).json();
            put(&announced, picture).await;
            let upload = announced["resource_uri"].as_str().map(last_segment).ok_or("no upload")?;
            let object = json!({ "key": format!("uploads/files/{upload}") });
            let created = json!({ "id": upload, "detail": { "object": object } });
            uploads.event(&created).await?;
        }
        uploads.print("photos of 40 megapixels");

        let mut admin = self.start("AdminFunction", "admin").await?;
        admin.event(&json!({ "command": "recount", "company": "acme" })).await?;
        admin.event(&json!({ "command": "reindex-search", "company": "acme" })).await?;
        admin.print("11,000 candidates counted and their search entries compared");

        let mut conversion = self.start("VideoConversionFunction", "video-conversion").await?;
        let video = json!({
            "name": "Welcome", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": film().len(),
        });
        let announced = owner.post("/companies/acme/videos/", video).await.expect(201).json();
        put(&announced, film()).await;
        let video = announced["resource_uri"].as_str().map(last_segment).ok_or("no video")?;
        let object = json!({ "key": format!("uploads/admitted/acme/{video}") });
        conversion.event(&json!({ "id": "bench", "detail": { "object": object } })).await?;
        conversion.print("a short video, without ffmpeg");
        Ok(())
    }

    async fn start(&self, function: &'static str, binary: &str) -> Result<Measured<'_>> {
        let path = tests::binaries::of_workspace().get(binary).ok_or("the function was not built")?;
        let mut process = Function::start(Command::new(path), self.app.environment()).await?;
        process.ready().await?;
        Ok(Measured { function, process, bench: self, seconds: 0.0 })
    }
}

/// A function under measurement.
struct Measured<'a> {
    function: &'static str,
    process: Function,
    bench: &'a Bench,
    seconds: f64,
}

impl Measured<'_> {
    async fn request(&mut self, method: &str, path: &str, query: &str, body: &Value) -> Result<Value> {
        let authorization = format!("Token {}", self.bench.token);
        let headers = json!({ "authorization": authorization, "content-type": "application/json" });
        let mut event = http_event(method, &format!("/api/v3{path}"), headers);
        event["rawQueryString"] = query.into();
        if !body.is_null() {
            event["body"] = body.to_string().into();
        }
        let answer = self.event(&event).await?;
        if answer["statusCode"].as_u64().is_none_or(|status| status >= 300) {
            return Err(format!("{method} {path}: {answer}").into());
        }
        Ok(answer)
    }

    async fn event(&mut self, event: &Value) -> Result<Value> {
        let stopwatch = Stopwatch::start();
        let answer = self.process.invoke_within(event, LIMIT).await?;
        self.seconds = self.seconds.max(stopwatch.elapsed().as_secs_f64());
        Ok(answer)
    }

    fn print(&self, asked: &str) {
        let peak = self.process.peak_kilobytes() / 1_024;
        let given = self.bench.template.memory_size(self.function).unwrap_or_default();
        print(&json!({
            "figure": "peak_megabytes", "function": self.function, "asked": asked, "value": peak,
            "memory_size": given, "share": round(peak as f64 / given as f64), "longest_seconds": round(self.seconds),
        }));
    }
}

/// Pictures that take the most memory when decoded.
fn pictures() -> Result<[(&'static str, Vec<u8>); 2]> {
    let packed = |picture: DynamicImage, format| -> Result<Vec<u8>> {
        let mut bytes = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format)?;
        Ok(bytes.into_inner())
    };
    let jpeg = packed(DynamicImage::new_rgb8(WIDTH, HEIGHT), Jpeg)?;
    let png = packed(DynamicImage::new_rgba8(WIDTH, HEIGHT), Png)?;
    Ok([("image/jpeg", jpeg), ("image/png", png)])
}

/// A project with 100 candidates, each evaluated with the longest comments.
async fn rated(owner: &Staff) -> String {
    let fields = json!({ "allow_hash_login": true, "evaluators": [owner.uri] });
    let project = owner.running_project(fields).await;
    let criterion = owner.post(&format!("{project}criteria/"), json!({ "name": "Listening" })).await;
    let criterion = criterion.expect(201).uri("resource_uri");
    for _ in 0..100 {
        let candidate = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
        let rating = json!({ "criterion": criterion, "value": 4, "comment": "x".repeat(500) });
        let body = json!({ "ratings": [rating], "comment": "x".repeat(2_000), "completed": true });
        let target = format!("{candidate}evaluations/{}/", owner.id());
        owner.send(Request::put(&target).json(&body)).await.expect(201);
    }
    project
}

fn entry(number: usize) -> Value {
    json!({
        "first_name": "Ada",
        "last_name": format!("Lovelace-{number}"),
        "email": format!("ada.{number}@mail.example"),
        "deadline": "2126-12-24T18:00:00Z",
    })
}

/// The part of a URL after the version.
fn path_of(uri: &str) -> &str {
    uri.split_once("/api/v3").map_or(uri, |(_, path)| path)
}
