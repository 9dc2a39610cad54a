//! Candidates who take an interview on the page, in Chromium.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use axum::extract::Request as Incoming;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use embedded::LocalProvider;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff, merge};
use tests::files::fetch;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::task::JoinHandle;

use crate::devtools::Page;
use crate::listener;

/// The service on a port of its own, and a candidate who was invited by mail.
pub(crate) struct Visit {
    pub(crate) app: TestApp,
    /// The origin of the page.
    pub(crate) origin: String,
    /// The manager.
    pub(crate) owner: Staff,
    pub(crate) candidate: Invited,
    /// The link in the mail.
    pub(crate) link: String,
    refusals: Arc<Mutex<FileRefusals>>,
    server: JoinHandle<()>,
}

/// Which files of the page are refused, as the gateway does with too many requests.
#[derive(Default)]
enum FileRefusals {
    #[default]
    None,
    /// Each for the first time. The others were refused already.
    Once(BTreeSet<String>),
    All,
}

impl FileRefusals {
    fn refuse(&mut self, path: &str) -> bool {
        path.starts_with("/page/")
            && match self {
                Self::None => false,
                Self::Once(refused) => refused.insert(path.to_owned()),
                Self::All => true,
            }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Visit {
    /// Invites a candidate to a project with these questions, which needs no password unless `fields` say so.
    pub(crate) async fn invited(fields: Value, questions: &[Value]) -> Self {
        let (listener, origin) = listener().await;
        // That of a former base URL, which an operator allows while invitations with it are out.
        let former = former_origin(&origin);
        let base_url = format!("{origin}/api/v3");
        let variables = [("BASE_URL", base_url.as_str()), ("ALLOWED_ORIGINS", former.as_str())];
        let app = TestApp::start_with(&variables).await;
        let service = app.clone();
        let refusals = Arc::new(Mutex::new(FileRefusals::None));
        let refusing = refusals.clone();
        let provider = LocalProvider::new(&origin, app.shared_clock()).unwrap();
        let router = provider.router().fallback(async move |request: Incoming| {
            let is_refused = refusing.lock().unwrap().refuse(request.uri().path());
            if is_refused {
                return StatusCode::TOO_MANY_REQUESTS.into_response();
            }
            service.answer(request).await.into_response()
        });
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });

        let owner = app.owner().await;
        let mut project =
            json!({ "interview_platform": "builtin", "allow_hash_login": true, "support_lang": "en" });
        merge(&mut project, fields);
        let project = owner.running_project(project).await;
        for (position, question) in (1..).zip(questions) {
            let mut asked = json!({ "text": format!("Question {position}?"), "position": position });
            merge(&mut asked, question.clone());
            owner.post(&format!("{project}questions/"), asked).await.expect(201);
        }
        let candidate = owner.invite(&project, json!({})).await;
        let link = mailed_link(&app, &candidate, &origin).await;
        Self { app, origin, owner, candidate, link, refusals, server }
    }

    /// The link in the mail, as it was under a former base URL.
    pub(crate) fn former_link(&self) -> String {
        self.link.replace(&self.origin, &former_origin(&self.origin))
    }

    /// Refuses each file of the page for the first time.
    pub(crate) fn refuse_files_once(&self) {
        *self.refusals.lock().unwrap() = FileRefusals::Once(BTreeSet::new());
    }

    /// Refuses all files of the page.
    pub(crate) fn refuse_files(&self) {
        *self.refusals.lock().unwrap() = FileRefusals::All;
    }

    /// Has one recorded question.
    pub(crate) async fn with_one_question() -> Self {
        Self::invited(json!({}), &[json!({})]).await
    }

    /// Invites another candidate to the same project, for a year. Returns their link.
    pub(crate) async fn invite_another(&self) -> String {
        let (project, _) = self.candidate.uri.split_once("candidates/").unwrap();
        let fields = json!({ "deadline": self.app.clock().in_days(365) });
        let another = self.owner.invite(project, fields).await;
        mailed_link(&self.app, &another, &self.origin).await
    }

    /// Follows the link and begins the interview.
    pub(crate) async fn begin(&self, page: &mut Page) {
        self.begin_by(page, &self.link).await;
    }

    /// Follows another link and begins the interview.
    pub(crate) async fn begin_by(&self, page: &mut Page, link: &str) {
        page.go(link).await;
        page.on("welcome").await;
        page.press("Continue to the camera test").await;
        page.on("check").await;
        page.press("Turn on camera and microphone").await;
        page.press("It works: continue").await;
        page.on("practice").await;
        page.press("Begin the interview").await;
        page.on("overview").await;
    }

    /// The answers to all questions, after everything was converted.
    pub(crate) async fn answers(&self) -> Vec<Value> {
        self.app.settle().await;
        let interview = self.owner.get(&format!("{}interview/", self.candidate.uri)).await.expect(200).json();
        interview["answers"].as_array().unwrap().clone()
    }

    /// The status of the candidate.
    pub(crate) async fn status(&self) -> Value {
        self.owner.get(&self.candidate.uri).await.expect(200).json()["status"].clone()
    }

    /// The address in the bucket of the rendition of an answer.
    pub(crate) async fn rendition(&self, answer: &Value) -> String {
        let video = answer["streams"]["mp4"].as_str().unwrap_or_else(|| panic!("{answer}"));
        self.owner.get(video).await.expect(302).header("location").unwrap().to_owned()
    }

    /// How often the fake microphone beeps in the rendition of an answer. It does so twice a second, so what is missing of a
    /// recording is counted without any code of the service.
    pub(crate) async fn beeps(&self, answer: &Value) -> usize {
        let loud = self.loudness(answer).await;
        loud.windows(2).filter(|pair| !pair[0] && pair[1]).count() + usize::from(loud.first() == Some(&true))
    }

    /// For how many seconds something is heard in the rendition of an answer: in Firefox, the fake microphone is a tone.
    pub(crate) async fn sounding_seconds(&self, answer: &Value) -> usize {
        let loud = self.loudness(answer).await.into_iter().filter(|is_loud| *is_loud).count();
        (loud * WINDOW).div_ceil(RATE)
    }

    /// Whether something is heard, for each window of the rendition of an answer.
    async fn loudness(&self, answer: &Value) -> Vec<bool> {
        let video = fetch(&self.rendition(answer).await, &[]).await;
        assert_eq!(video.status, 200);
        let file = tempfile::NamedTempFile::new().unwrap();
        tokio::fs::write(file.path(), video.body).await.unwrap();
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args(["-v", "error", "-nostdin", "-i"]).arg(file.path());
        ffmpeg.args(["-ac", "1", "-ar", &RATE.to_string(), "-f", "f32le", "-"]).stderr(Stdio::inherit());
        let sound = ffmpeg.output().await.unwrap();
        assert!(sound.status.success());
        let samples = sound.stdout.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes).abs());
        samples
            .collect::<Vec<_>>()
            .chunks(WINDOW)
            .map(|window| window.iter().any(|sample| *sample > LOUD))
            .collect()
    }
}

/// Another name of the same service.
fn former_origin(origin: &str) -> String {
    origin.replace("localhost", "127.0.0.1")
}

/// The link in the invitation of a candidate.
pub(crate) async fn mailed_link(app: &TestApp, candidate: &Invited, origin: &str) -> String {
    app.settle().await;
    let mail = app.mails_to(&candidate.email).pop().unwrap();
    let mut words = mail.text.as_deref().unwrap().split_whitespace();
    words.find(|word| word.starts_with(origin)).unwrap().to_owned()
}

/// Beeps are much louder; everything else is silence.
const LOUD: f32 = 0.06;
/// Samples a second.
const RATE: usize = 8000;
/// 20 ms: a beep is longer, the pause between two as well.
const WINDOW: usize = 160;

/// The length of an answer in seconds, as the page has measured it.
pub(crate) fn recorded_seconds(answer: &Value) -> usize {
    answer["take"]["recorded_seconds"].as_u64().unwrap_or_else(|| panic!("{answer}")).try_into().unwrap()
}

/// Whether the browser has kept at least so many slices of a recording, which are a second each, as a promise.
pub(crate) fn has_kept(slices: usize) -> String {
    format!(
        "(async () => {{
            const settled = request => new Promise(done => {{ request.onsuccess = () => done(request.result); }});
            for (const {{ name }} of await indexedDB.databases()) {{
                const database = await settled(indexedDB.open(name));
                const count = await settled(database.transaction('slices').objectStore('slices').count());
                database.close();
                if (count >= {slices}) return true;
            }}
            return false;
        }})()"
    )
}

impl Page {
    /// Waits for a screen.
    pub(crate) async fn on(&mut self, screen: &str) {
        self.until(&format!("document.querySelector('main')?.dataset.screen === '{screen}'")).await;
    }

    /// Presses the button with this text as soon as it is there.
    pub(crate) async fn press(&mut self, text: &str) {
        let button = format!(
            "[...document.querySelectorAll('button')].find(one => one.textContent === {} && one.checkVisibility())",
            json!(text)
        );
        self.until(&button).await;
        self.evaluate(&format!("{button}.click()")).await;
    }

    /// Logs in, on the screen for that.
    pub(crate) async fn log_in(&mut self, email: &str, password: &str) {
        self.on("login").await;
        self.fill("email", email).await;
        self.fill("password", password).await;
        self.press("Log in").await;
    }

    /// Has all uploads fail until the page is loaded again.
    pub(crate) async fn refuse_uploads(&mut self) {
        self.evaluate(
            "{ const send = window.fetch; window.fetch = (address, options) =>
                options?.method === 'PUT' ? Promise.reject(new TypeError('refused')) : send(address, options); }",
        )
        .await;
    }

    /// Begins to record the answer to a question.
    pub(crate) async fn record(&mut self, number: usize) {
        self.press(&format!("Answer question {number}")).await;
        self.press("Record answer").await;
        self.recording().await;
    }

    /// Records another answer to a question that is answered.
    pub(crate) async fn record_again(&mut self, number: usize) {
        self.press(&format!("Change answer {number}")).await;
        self.press("Record answer").await;
        self.recording().await;
    }

    /// Waits until the service has everything.
    pub(crate) async fn saved(&mut self) {
        self.until("document.body.innerText.includes('Everything is saved.')").await;
    }

    /// Waits until the page records, after its countdown.
    pub(crate) async fn recording(&mut self) {
        self.on("record").await;
        self.until("document.querySelector('.mark.recording')").await;
    }

    /// Ends the recording and keeps it.
    pub(crate) async fn stop_and_keep(&mut self) {
        self.press("Stop recording").await;
        self.keep().await;
    }

    /// Keeps what was recorded.
    pub(crate) async fn keep(&mut self) {
        self.on("review").await;
        self.press("Keep this answer").await;
        self.on("overview").await;
    }

    pub(crate) async fn complete(&mut self) {
        self.press("Complete the interview").await;
        self.press("Yes, complete it now").await;
        self.on("done").await;
    }

    /// Fills in a field.
    pub(crate) async fn fill(&mut self, name: &str, value: &str) {
        self.evaluate(&format!("document.querySelector('input[name={name}]').value = {}", json!(value)))
            .await;
    }

    /// The visible text of the page.
    pub(crate) async fn text(&mut self) -> String {
        self.evaluate("document.body.innerText").await.as_str().unwrap().to_owned()
    }
}

/// A film of two seconds, as a phone's own camera app stores it, whose name ends so.
pub(crate) async fn film_file(ending: &str) -> tempfile::TempPath {
    let file = tempfile::Builder::new().prefix("IMG_").suffix(ending).tempfile().unwrap();
    let (mut written, path) =
        (tokio::fs::File::from_std(file.as_file().try_clone().unwrap()), file.into_temp_path());
    let how =
        "-f lavfi -i testsrc2=s=320x180:r=25:d=2 -f lavfi -i sine=d=2 -c:v libx264 -pix_fmt yuv420p -c:a aac";
    written.write_all(&tests::videos::recorded(how, "mp4")).await.unwrap();
    written.flush().await.unwrap();
    path
}
