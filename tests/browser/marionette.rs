//! Firefox, told what to do by its Marionette protocol: JSON behind its length. Debian has no geckodriver.

use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::PATIENCE;
use crate::options::kill_group;

/// Fake devices that need no permission, and films that play for scripts. The fake microphone is a constant tone.
const PREFERENCES: &str = "user_pref(\"marionette.port\", 0);
user_pref(\"media.navigator.streams.fake\", true);
user_pref(\"media.navigator.permission.disabled\", true);
user_pref(\"media.autoplay.default\", 0);
user_pref(\"browser.shell.checkDefaultBrowser\", false);
user_pref(\"network.captive-portal-service.enabled\", false);
user_pref(\"app.update.enabled\", false);
";

/// A page in a Firefox of its own, which ends with it.
pub(crate) struct FirefoxPage {
    firefox: Child,
    _profile: Arc<TempDir>,
    connection: BufReader<TcpStream>,
    last_id: u64,
}

impl FirefoxPage {
    /// An empty page in a browser with this profile, which another one may have left.
    pub(crate) async fn open(profile: &Arc<TempDir>) -> Self {
        let folder = profile.path();
        tokio::fs::write(folder.join("user.js"), PREFERENCES).await.unwrap();
        let mut firefox = Command::new("firefox-esr");
        firefox.args([
            "--headless",
            "--marionette",
            "--remote-allow-system-access",
            "--no-remote",
            "--profile",
        ]);
        firefox.arg(folder).env("MOZ_DISABLE_AUTO_SAFE_MODE", "1");
        firefox.stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0).kill_on_drop(true);
        let mut firefox = firefox.spawn().unwrap_or_else(|error| panic!("firefox-esr: {error}"));
        let mut told = BufReader::new(firefox.stdout.take().unwrap()).lines();
        let listening = async {
            while let Some(line) = told.next_line().await.unwrap() {
                if let Some((_, port)) = line.split_once("Listening on port ") {
                    return port.trim().parse::<u16>().unwrap();
                }
            }
            panic!("firefox-esr has ended");
        };
        let port = tokio::time::timeout(PATIENCE, listening).await.unwrap();
        // Read on, or the browser would wait for it.
        tokio::spawn(async move { while let Ok(Some(_)) = told.next_line().await {} });
        let connection = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let mut page =
            Self { firefox, _profile: profile.clone(), connection: BufReader::new(connection), last_id: 0 };
        page.receive().await;
        let timeouts = json!({ "script": PATIENCE.as_millis(), "pageLoad": PATIENCE.as_millis() });
        page.call(
            "WebDriver:NewSession",
            json!({ "capabilities": { "alwaysMatch": { "timeouts": timeouts } } }),
        )
        .await;
        page
    }

    /// Goes to an address.
    pub(crate) async fn go(&mut self, address: &str) {
        self.call("WebDriver:Navigate", json!({ "url": address })).await;
    }

    /// The value that a JavaScript promise resolves to.
    pub(crate) async fn evaluate(&mut self, promise: &str) -> Value {
        let script = format!("Promise.resolve({promise}).then(arguments[arguments.length - 1])");
        self.call("WebDriver:ExecuteAsyncScript", json!({ "script": script, "args": [] })).await["value"]
            .take()
    }

    /// Waits until a JavaScript promise leads to something true.
    pub(crate) async fn until(&mut self, promise: &str) {
        let waiting = format!(
            "(async () => {{ while (!(await ({promise}))) await new Promise(requestAnimationFrame); return true; }})()"
        );
        assert_eq!(self.evaluate(&waiting).await, true, "{promise}");
    }

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

    /// Kills the browser with all of its processes, as a crash of the computer would.
    pub(crate) async fn kill(self) {
        kill_group(self.firefox).await;
    }

    async fn call(&mut self, command: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let message = json!([0, self.last_id, command, parameters]).to_string();
        self.connection.write_all(format!("{}:{message}", message.len()).as_bytes()).await.unwrap();
        let mut answer = tokio::time::timeout(PATIENCE, self.receive()).await.unwrap();
        assert_eq!(answer[2], Value::Null, "{command} {parameters}");
        answer[3].take()
    }

    async fn receive(&mut self) -> Value {
        let mut length = Vec::new();
        self.connection.read_until(b':', &mut length).await.unwrap();
        assert_eq!(length.pop(), Some(b':'), "the browser has ended");
        let mut message = vec![0; String::from_utf8(length).unwrap().parse().unwrap()];
        self.connection.read_exact(&mut message).await.unwrap();
        serde_json::from_slice(&message).unwrap()
    }
}
