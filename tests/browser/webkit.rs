//! WebKitGTK, whose recorder yields nothing on Debian 12: the page says so, and candidates answer with files.

use std::process::Stdio;

use axum::http::Method;
use serde_json::{Value, json};
use tests::files::send_to;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

use crate::PATIENCE;
use crate::visit::{Visit, film_file};

/// A page in a WebKitGTK of its own, driven by WebDriver on a virtual screen.
struct WebKitPage {
    _screen: Child,
    _driver: Child,
    session: String,
}

impl WebKitPage {
    async fn open() -> Self {
        let mut screen = Command::new("Xvfb");
        screen.args(["-displayfd", "1", "-screen", "0", "1280x900x24"]);
        let mut screen =
            screen.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
        let mut output = BufReader::new(screen.stdout.take().unwrap()).lines();
        let display = format!(":{}", output.next_line().await.unwrap().unwrap());

        let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let mut driver = Command::new("WebKitWebDriver");
        driver.arg(format!("--port={port}")).env("DISPLAY", display).env("GDK_BACKEND", "x11");
        driver.env("LIBGL_ALWAYS_SOFTWARE", "1").env("WEBKIT_DISABLE_COMPOSITING_MODE", "1");
        driver.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let driver = driver.spawn().unwrap();
        let listening = async {
            while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, listening).await.unwrap();

        let browser = Command::new("sh").args(["-c", "ls /usr/lib/*/webkit2gtk-4.1/MiniBrowser"]).output();
        let browser = String::from_utf8(browser.await.unwrap().stdout).unwrap();
        let arguments = ["--automation", "--enable-mock-capture-devices=true", "--enable-media-stream=true"];
        let options = json!({ "binary": browser.trim(), "args": arguments });
        let capabilities =
            json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": options } } });
        let address = format!("http://127.0.0.1:{port}/session");
        let session = ask(Method::POST, &address, capabilities).await;
        let session = format!("{address}/{}", session["sessionId"].as_str().unwrap());
        let page = Self { _screen: screen, _driver: driver, session };
        page.call("timeouts", json!({ "script": PATIENCE.as_millis() })).await;
        page
    }

    async fn call(&self, command: &str, parameters: Value) -> Value {
        ask(Method::POST, &format!("{}/{command}", self.session), parameters).await
    }

    /// Waits until a JavaScript expression holds.
    async fn until(&self, expression: &str) {
        let script = format!(
            "const [done] = arguments;
            const look = () => {{ if ({expression}) {{ observer.disconnect(); done(true); }} }};
            const observer = new MutationObserver(look);
            observer.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
            look();"
        );
        assert_eq!(self.call("execute/async", json!({ "script": script, "args": [] })).await, true);
    }

    async fn on(&self, screen: &str) {
        self.until(&format!("document.querySelector('main')?.dataset.screen === '{screen}'")).await;
    }

    async fn press(&self, text: &str) {
        let button = format!(
            "[...document.querySelectorAll('button')].find(one => one.textContent === {} && one.checkVisibility())",
            json!(text)
        );
        self.until(&button).await;
        self.call("execute/sync", json!({ "script": format!("{button}.click()"), "args": [] })).await;
    }

    async fn close(self) {
        ask(Method::DELETE, &self.session, Value::Null).await;
    }
}

async fn ask(method: Method, address: &str, parameters: Value) -> Value {
    let body = parameters.to_string().into();
    let asked = send_to(method, address, &[("content-type", "application/json")], body);
    let answer = tokio::time::timeout(PATIENCE, asked).await;
    let answer = answer.unwrap_or_else(|_| panic!("the browser told nothing of {address} {parameters}"));
    let text = String::from_utf8_lossy(&answer.body);
    assert_eq!(answer.status, 200, "{address} {parameters}: {text}");
    serde_json::from_str::<Value>(&text).unwrap()["value"].take()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_records_nothing_says_so_and_sends_files() {
    let visit = Visit::with_one_question().await;
    let page = WebKitPage::open().await;
    page.call("url", json!({ "url": visit.link })).await;
    page.on("welcome").await;
    page.press("Continue to the camera test").await;
    page.press("Turn on camera and microphone").await;
    page.press("Record 5 seconds").await;
    page.until(
        "document.querySelector('.test .problem')?.textContent.startsWith('This browser recorded nothing.')",
    )
    .await;
    page.press("Record 5 seconds").await;
    page.until(
        "document.querySelector('.stage > .problem')?.textContent.startsWith('This browser cannot record.')",
    )
    .await;
    page.press("Continue without camera").await;
    page.press("Begin the interview").await;
    page.press("Answer question 1").await;
    page.until("document.querySelector('input[type=file]')?.checkVisibility()").await;
    let film = film_file(".mp4").await;
    let input = json!({ "using": "css selector", "value": "input[type=file]" });
    let input = page.call("element", input).await;
    let input = input.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned();
    page.call(&format!("element/{input}/value"), json!({ "text": film.to_str() })).await;
    page.on("review").await;
    page.press("Keep this answer").await;
    page.press("Complete the interview").await;
    page.press("Yes, complete it now").await;
    page.on("done").await;
    page.close().await;
    let answers = visit.answers().await;
    assert_eq!((&answers[0]["status"], &answers[0]["seconds"]), (&json!("successful"), &json!(2)));
}
