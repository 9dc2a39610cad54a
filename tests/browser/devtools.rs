//! Chromium, told what to do over the pipe of its DevTools.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};
use tokio::process::{Child, Command};

use crate::PATIENCE;

/// A page in a browser of its own, which ends with it.
pub(crate) struct Page {
    _chromium: Child,
    _profile: TempDir,
    commands: Sender,
    answers: BufReader<Receiver>,
    session: Option<String>,
    last_id: u64,
    /// What the browser has told besides answers.
    events: Vec<Value>,
}

impl Page {
    /// An empty page.
    pub(crate) async fn open() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let (commands, answers) = (profile.path().join("commands"), profile.path().join("answers"));
        make_pipe(&commands).await;
        make_pipe(&answers).await;
        // Both ends of each, so that neither side waits for the other to open it.
        let both = OpenOptions::new().read_write(true).clone();
        let (sender, receiver) =
            (both.open_sender(&commands).unwrap(), both.open_receiver(&answers).unwrap());
        let mut chromium = Command::new("sh");
        chromium.args(["-c", r#"exec chromium "$@" 3<"$0/commands" 4>"$0/answers""#]).arg(profile.path());
        chromium.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
        chromium.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        chromium.arg("--remote-debugging-pipe");
        chromium.arg(format!("--user-data-dir={}", profile.path().join("data").display()));
        chromium.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let chromium = chromium.spawn().unwrap_or_else(|error| panic!("chromium: {error}"));
        let answers = BufReader::new(receiver);
        let mut page = Self {
            _chromium: chromium,
            _profile: profile,
            commands: sender,
            answers,
            session: None,
            last_id: 0,
            events: Vec::new(),
        };
        let target =
            page.call("Target.createTarget", json!({ "url": "about:blank" })).await["targetId"].take();
        let attached =
            page.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await;
        page.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Log", "Network", "Page", "Runtime"] {
            page.call(&format!("{domain}.enable"), json!({})).await;
        }
        page
    }

    /// Gives the page this size, in CSS pixels; a narrow one is a phone's.
    pub(crate) async fn resize(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Makes the system prefer this colour scheme, `light` or `dark`.
    pub(crate) async fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    /// Goes to an address.
    pub(crate) async fn go(&mut self, address: &str) {
        self.call("Page.navigate", json!({ "url": address })).await;
    }

    /// What a JavaScript expression gives; of a promise, what it leads to.
    pub(crate) async fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", asked).await;
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// Waits until a JavaScript expression holds, which is asked for again whenever the page has changed.
    pub(crate) async fn until(&mut self, expression: &str) {
        let waiting = format!(
            "new Promise(done => {{
                const look = () => {{ if ({expression}) {{ observer.disconnect(); done(true); }} }};
                const observer = new MutationObserver(look);
                observer.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
                look();
            }})"
        );
        self.evaluate(&waiting).await;
    }

    /// The addresses that were asked for so far, without those of data in the page itself.
    pub(crate) fn requested(&self) -> Vec<&str> {
        let requests = self.told("Network.requestWillBeSent");
        let addresses = requests.filter_map(|params| params["request"]["url"].as_str());
        addresses.filter(|address| !address.starts_with("data:")).collect()
    }

    /// What went wrong so far, as the console shows it.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        let entries = self.told("Log.entryAdded").filter(|params| params["entry"]["level"] == "error");
        let calls = self.told("Runtime.consoleAPICalled").filter(|params| params["type"] == "error");
        entries.chain(calls).chain(self.told("Runtime.exceptionThrown")).collect()
    }

    fn told(&self, method: &str) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(move |event| event["method"] == method).map(|event| &event["params"])
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut command = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let mut command = command.to_string().into_bytes();
        command.push(0);
        self.commands.write_all(&command).await.unwrap();
        let answer = tokio::time::timeout(PATIENCE, self.answer(self.last_id)).await;
        let answer = answer.unwrap_or_else(|_| panic!("the browser told nothing of {method} {params}"));
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut message = Vec::new();
            self.answers.read_until(0, &mut message).await.unwrap();
            assert_eq!(message.pop(), Some(0), "the browser has ended");
            let message: Value = serde_json::from_slice(&message).unwrap();
            if message["id"] == id {
                return message;
            }
            self.events.push(message);
        }
    }
}

async fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().await.unwrap().success());
}
