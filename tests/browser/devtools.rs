//! Chromium, told what to do over the pipe of its DevTools.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};
use tokio::process::{Child, Command};

use crate::PATIENCE;
pub(crate) use crate::options::BrowserOptions;
use crate::options::kill_group;

/// Which responses never reach the page, though the service has answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LostResponses {
    /// The first one to each request.
    First,
    /// Every tenth.
    Tenth,
}

/// The state of a page's network.
#[derive(Clone, Copy)]
pub(crate) enum Network {
    /// All of it.
    Whole,
    /// Nothing.
    Off,
    /// All of it, but requests leave at this rate.
    Uplink { bits_per_second: u32 },
}

/// A page in a browser of its own, which ends with it.
pub(crate) struct Page {
    chromium: Child,
    _options: BrowserOptions,
    lost: Option<LostResponses>,
    answered: usize,
    lost_once: HashSet<String>,
    commands: Sender,
    answers: BufReader<Receiver>,
    /// The identifier and the session of each tab.
    tabs: Vec<[String; 2]>,
    tab: usize,
    last_id: u64,
    /// The events that the browser has sent, besides answers.
    events: Vec<Value>,
}

impl Page {
    /// An empty page.
    pub(crate) async fn open() -> Self {
        Self::open_with(BrowserOptions::new()).await
    }

    /// An empty page in a browser with these options.
    pub(crate) async fn open_with(options: BrowserOptions) -> Self {
        let folder = options.profile.path();
        let (commands, answers) = (folder.join("commands"), folder.join("answers"));
        for pipe in [&commands, &answers] {
            // One of a browser that was killed may be there.
            let _ = tokio::fs::remove_file(pipe).await;
            make_pipe(pipe).await;
        }
        // Both ends of each, so that neither side waits for the other to open it.
        let both = OpenOptions::new().read_write(true).clone();
        let (sender, receiver) =
            (both.open_sender(&commands).unwrap(), both.open_receiver(&answers).unwrap());
        let mut chromium = Command::new("sh");
        chromium
            .args(["-c", r#"exec "$@" 3<"$0/commands" 4>"$0/answers""#])
            .arg(folder)
            .arg(options.program());
        chromium.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
        chromium.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        chromium.arg("--remote-debugging-pipe");
        chromium.args(["--use-fake-device-for-media-stream", "--mute-audio"]);
        let permission = if options.allows_devices {
            "--use-fake-ui-for-media-stream"
        } else {
            "--deny-permission-prompts"
        };
        chromium.arg(permission);
        if let Some(sound) = &options.sound {
            chromium.arg(format!("--use-file-for-fake-audio-capture={}", sound.display()));
        }
        let data = folder.join("data");
        // A killed browser has left it, and the next one would wait for that browser.
        let _ = tokio::fs::remove_file(data.join("SingletonLock")).await;
        chromium.arg(format!("--user-data-dir={}", data.display()));
        // A group of its own, to be killed with all of its processes.
        chromium.process_group(0);
        chromium.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let chromium = chromium.spawn().unwrap_or_else(|error| panic!("sh: {error}"));
        let answers = BufReader::new(receiver);
        let mut page = Self {
            chromium,
            _options: options,
            lost: None,
            answered: 0,
            lost_once: HashSet::new(),
            commands: sender,
            answers,
            tabs: Vec::new(),
            tab: 0,
            last_id: 0,
            events: Vec::new(),
        };
        page.open_tab().await;
        page
    }

    /// Opens another tab of the browser, turns to it and returns its number.
    pub(crate) async fn open_tab(&mut self) -> usize {
        // Commands without a session are for the browser.
        self.tab = self.tabs.len();
        let mut created = self.call("Target.createTarget", json!({ "url": "about:blank" })).await;
        let target = created["targetId"].take();
        let mut attached =
            self.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await;
        let names = [target, attached["sessionId"].take()];
        self.tabs.push(names.map(|name| name.as_str().unwrap().to_owned()));
        for domain in ["Log", "Network", "Page", "Runtime"] {
            self.call(&format!("{domain}.enable"), json!({})).await;
        }
        self.tab
    }

    pub(crate) async fn turn_to(&mut self, tab: usize) {
        self.tab = tab;
        self.call("Page.bringToFront", json!({})).await;
    }

    /// Closes the tab, whatever it warns of, and turns to another one.
    pub(crate) async fn close_tab(&mut self, next: usize) {
        let target = self.tabs[self.tab][0].clone();
        self.call("Target.closeTarget", json!({ "targetId": target })).await;
        self.turn_to(next).await;
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

    /// Makes the system prefer less motion.
    pub(crate) async fn reduce_motion(&mut self) {
        let features = json!([{ "name": "prefers-reduced-motion", "value": "reduce" }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    /// Puts the computer into a time zone.
    pub(crate) async fn move_to(&mut self, zone: &str) {
        self.call("Emulation.setTimezoneOverride", json!({ "timezoneId": zone })).await;
    }

    /// Goes to an address.
    pub(crate) async fn go(&mut self, address: &str) {
        self.call("Page.navigate", json!({ "url": address })).await;
    }

    /// Loads the page again, whatever it warns of.
    pub(crate) async fn reload(&mut self) {
        let address = self.evaluate("location.href").await;
        self.go(address.as_str().unwrap()).await;
    }

    /// Runs a script before those of every page that is opened from now on.
    pub(crate) async fn prepare(&mut self, script: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await;
    }

    /// Kills the browser with all of its processes, as a crash of the computer would.
    pub(crate) async fn kill(self) {
        kill_group(self.chromium).await;
    }

    /// Changes what the page has of the network.
    pub(crate) async fn set_network(&mut self, network: Network) {
        let bytes_per_second = match network {
            Network::Uplink { bits_per_second } => i64::from(bits_per_second / 8),
            Network::Whole | Network::Off => -1,
        };
        let conditions = json!({
            "offline": matches!(network, Network::Off), "latency": 0,
            "downloadThroughput": -1, "uploadThroughput": bytes_per_second,
        });
        self.call("Network.emulateNetworkConditions", conditions).await;
    }

    /// The memory that the page's process has to itself, in kilobytes.
    pub(crate) fn memory_kilobytes(&self) -> u64 {
        let group = self.chromium.id().unwrap().to_string();
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        let of_page = processes.filter(|process| {
            let [stat, command] = ["stat", "cmdline"]
                .map(|file| std::fs::read_to_string(process.join(file)).unwrap_or_default());
            // After the name in brackets: state, parent, group.
            let group_of = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(2));
            group_of == Some(&group) && command.contains("--type=renderer")
        });
        let private = of_page.filter_map(|process| {
            let status = std::fs::read_to_string(process.join("status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
            line.split_whitespace().next()?.parse().ok()
        });
        private.max().unwrap()
    }

    /// Loses responses from now on.
    pub(crate) async fn lose_responses(&mut self, lost: LostResponses) {
        self.lost = Some(lost);
        let patterns = json!([{ "resourceType": "Fetch", "requestStage": "Response" }]);
        self.call("Fetch.enable", json!({ "patterns": patterns })).await;
    }

    /// Ends the session that a cookie holds.
    pub(crate) async fn forget_cookies(&mut self) {
        self.call("Network.clearBrowserCookies", json!({})).await;
    }

    /// Leaves the pages of this origin so many bytes of the disk.
    pub(crate) async fn limit_disk(&mut self, origin: &str, bytes: u64) {
        self.call("Storage.overrideQuotaForOrigin", json!({ "origin": origin, "quotaSize": bytes })).await;
    }

    /// Chooses a file for the input that a selector finds.
    pub(crate) async fn choose_file(&mut self, selector: &str, file: &Path) {
        let document = self.call("DOM.getDocument", json!({})).await;
        let found = json!({ "nodeId": document["root"]["nodeId"], "selector": selector });
        let node = self.call("DOM.querySelector", found).await["nodeId"].take();
        let files: [PathBuf; 1] = [file.to_owned()];
        self.call("DOM.setFileInputFiles", json!({ "nodeId": node, "files": files })).await;
    }

    /// Presses a key.
    pub(crate) async fn press_key(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            " " => (32, " "),
            "ArrowLeft" => (37, ""),
            "ArrowUp" => (38, ""),
            "ArrowRight" => (39, ""),
            _ => (0, key),
        };
        for kind in ["keyDown", "keyUp"] {
            let stroke = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code, "text": text });
            self.call("Input.dispatchKeyEvent", stroke).await;
        }
    }

    /// Role and name of each node of the accessibility tree, in the order in which a screen reader tells them.
    pub(crate) async fn accessibility_tree(&mut self) -> Vec<[String; 2]> {
        let tree = self.call("Accessibility.getFullAXTree", json!({})).await;
        let nodes = tree["nodes"].as_array().unwrap();
        let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
        let mut told = Vec::new();
        let mut next = vec![&nodes[0]["nodeId"]];
        while let Some(id) = next.pop() {
            let Some(node) = nodes.iter().find(|node| node["nodeId"] == *id) else { continue };
            if node["ignored"] != true {
                told.push([text(&node["role"]), text(&node["name"])]);
            }
            next.extend(node["childIds"].as_array().into_iter().flatten().rev());
        }
        told
    }

    /// The value of a JavaScript expression; of a promise, what it resolves to.
    pub(crate) async fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = loop {
            let answer = self.ask("Runtime.evaluate", asked.clone()).await;
            // A page that has just changed is asked again.
            if answer["error"]["message"] != "Inspected target navigated or closed" {
                break answer["result"].clone();
            }
        };
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

    /// Waits until a JavaScript promise leads to something true, which is asked for again with each picture of the page.
    pub(crate) async fn until_promised(&mut self, promise: &str) {
        let waiting = format!(
            "(async () => {{ while (!(await ({promise}))) await new Promise(requestAnimationFrame); }})()"
        );
        self.evaluate(&waiting).await;
    }

    /// The addresses that were asked for so far, without those of data in the page itself.
    pub(crate) fn requested(&self) -> Vec<&str> {
        let requests = self.events_of("Network.requestWillBeSent");
        let addresses = requests.filter_map(|params| params["request"]["url"].as_str());
        addresses.filter(|address| !address.starts_with("data:")).collect()
    }

    /// The errors so far, as the console shows them.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        let entries = self.events_of("Log.entryAdded").filter(|params| params["entry"]["level"] == "error");
        let calls = self.events_of("Runtime.consoleAPICalled").filter(|params| params["type"] == "error");
        entries.chain(calls).chain(self.events_of("Runtime.exceptionThrown")).collect()
    }

    fn events_of(&self, method: &str) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(move |event| event["method"] == method).map(|event| &event["params"])
    }

    /// Passes a response on to the page, or loses it.
    async fn let_pass(&mut self, paused: &Value) {
        let request = &paused["request"];
        let address = request["url"].as_str().unwrap().split('?').next().unwrap();
        self.answered += 1;
        let is_lost = match self.lost {
            Some(LostResponses::First) => self.lost_once.insert(format!("{} {address}", request["method"])),
            Some(LostResponses::Tenth) => self.answered.is_multiple_of(10),
            None => false,
        };
        let id = &paused["requestId"];
        if is_lost {
            self.tell("Fetch.failRequest", json!({ "requestId": id, "errorReason": "ConnectionReset" }))
                .await;
        } else {
            self.tell("Fetch.continueRequest", json!({ "requestId": id })).await;
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The result of a command, or its error.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.tell(method, params.clone()).await;
        let id = self.last_id;
        let answer = tokio::time::timeout(PATIENCE, Box::pin(self.answer(id))).await;
        answer.unwrap_or_else(|_| panic!("the browser told nothing of {method} {params}"))
    }

    /// Sends a command without awaiting its answer.
    async fn tell(&mut self, method: &str, params: Value) {
        self.last_id += 1;
        let mut command = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some([_, session]) = self.tabs.get(self.tab) {
            command["sessionId"] = json!(session);
        }
        let mut command = command.to_string().into_bytes();
        command.push(0);
        self.commands.write_all(&command).await.unwrap();
    }

    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut message = Vec::new();
            self.answers.read_until(0, &mut message).await.unwrap();
            assert_eq!(message.pop(), Some(0), "the browser has ended");
            let message = parsed(message);
            if message["id"] == id {
                return message;
            }
            match message["method"].as_str() {
                Some("Fetch.requestPaused") => self.let_pass(&message["params"]).await,
                Some("Page.javascriptDialogOpening") => {
                    self.tell("Page.handleJavaScriptDialog", json!({ "accept": true })).await;
                }
                _ => self.events.push(message),
            }
        }
    }
}

async fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().await.unwrap().success());
}

/// A message, in which the browser may quote bytes that it has sent as half of a character.
fn parsed(message: Vec<u8>) -> Value {
    serde_json::from_slice(&message).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(&message);
        let mut parts = text.split("\\ud");
        let mut whole = parts.next().unwrap_or_default().to_owned();
        // The three digits that follow are those of a half as well.
        parts.for_each(|rest| whole.extend(["\\ufffd", &rest[3..]]));
        serde_json::from_str(&whole).unwrap()
    })
}
