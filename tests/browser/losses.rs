//! How much of a recording is lost when something goes wrong, counted in beeps of the fake microphone, which Chromium makes
//! and ffmpeg hears. `tests/run browser losses --ignored --nocapture --test-threads 1` prints the figures of
//! `tests/benches/README.md` in half an hour.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Value, json};
use tests::figures::print;

use crate::devtools::{BrowserOptions, Network, Page};
use crate::visit::{Visit, recorded_seconds};

/// When browsers are killed, in seconds from the beginning of a recording.
const KILLS: [u32; 6] = [3, 6, 9, 12, 15, 18];
/// Makes the page record WebM, which it does where mp4 cannot be recorded.
const ONLY_WEBM: &str = "const isSupported = MediaRecorder.isTypeSupported;
    MediaRecorder.isTypeSupported = type => type.includes('webm') && isSupported.call(MediaRecorder, type);";

/// A browser in the middle of a recording.
struct Recording {
    visit: Visit,
    options: BrowserOptions,
    page: Page,
}

impl Recording {
    async fn begin(answer_seconds: u32, script: &str) -> Self {
        let question = json!({ "answer_seconds": answer_seconds });
        let visit = Visit::invited(json!({}), &[question.clone(), question]).await;
        let options = BrowserOptions { is_whole: true, ..BrowserOptions::with_devices() };
        let mut page = Page::open_with(options.clone()).await;
        page.prepare(script).await;
        visit.begin(&mut page).await;
        page.record(1).await;
        page.evaluate("globalThis.recordingBegan = performance.now(); undefined").await;
        Self { visit, options, page }
    }

    /// Waits until the recording has lasted for so many seconds.
    async fn reach(&mut self, seconds: f64) {
        let mut reached = 0.0;
        while reached < seconds {
            // In steps, as the browser is expected to answer within two minutes.
            reached = f64::min(reached + 60.0, seconds);
            let promise = format!("performance.now() - recordingBegan >= {}", reached * 1000.0);
            self.page.until_promised(&promise).await;
        }
    }

    /// Kills the browser, and keeps what one with these options finds of the recording. Returns how many seconds can be heard.
    async fn kill_and_keep(self, options: BrowserOptions) -> f64 {
        let is_other = !std::sync::Arc::ptr_eq(&options.profile, &self.options.profile);
        self.page.kill().await;
        let mut page = Page::open_with(options).await;
        page.go(&self.visit.link).await;
        if is_other {
            page.press("Change answer 1").await;
            page.until("document.querySelector('.hint[role=status]:not(:empty), .hint[role=status] + button:not([hidden])')").await;
            if page.text().await.contains("Nothing of it has arrived yet.") {
                return 0.0;
            }
            page.press("Keep what has arrived").await;
            page.on("overview").await;
        } else {
            page.keep().await;
            page.until("document.querySelector('li').dataset.state === 'kept'").await;
        }
        seconds_heard(&self.visit).await
    }
}

/// Seconds of the first answer that can be heard: the microphone beeps twice in each. Nothing is heard of a recording that
/// was cut off in its first seconds, before there was anything to play.
async fn seconds_heard(visit: &Visit) -> f64 {
    let answers = visit.answers().await;
    if answers[0]["status"] == "failed" {
        return 0.0;
    }
    f64::from(u32::try_from(visit.beeps(&answers[0]).await).unwrap()) / 2.0
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes ten minutes, and prints figures"]
async fn losses_of_killed_browsers() {
    for (format, script, [bound, bound_elsewhere]) in
        [("mp4", "", [4.0, 10.0]), ("webm", ONLY_WEBM, [2.0, 8.0])]
    {
        let (mut most, mut most_elsewhere) = (0.0_f64, 0.0_f64);
        for seconds in KILLS.map(f64::from) {
            let mut recording = Recording::begin(60, script).await;
            recording.reach(seconds).await;
            let options = recording.options.clone();
            most = most.max(seconds - recording.kill_and_keep(options).await);

            let mut recording = Recording::begin(60, script).await;
            recording.reach(seconds).await;
            most_elsewhere = most_elsewhere.max(
                seconds
                    - recording
                        .kill_and_keep(BrowserOptions { is_whole: true, ..BrowserOptions::with_devices() })
                        .await,
            );
        }
        print(&json!({
            "figure": "seconds_lost", "recorded": format, "kills": KILLS, "same_browser": most, "another_browser": most_elsewhere,
        }));
        // A beep is half a second.
        assert!(
            most <= bound + 0.5 && most_elsewhere <= bound_elsewhere + 0.5,
            "{format}: {most}, {most_elsewhere}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes eight minutes, and prints figures"]
async fn losses_without_a_network() {
    for (name, outage) in [("20 s", 20.0), ("3 min", 180.0)] {
        let mut recording = Recording::begin(300, "").await;
        recording.reach(10.0).await;
        recording.page.set_network(Network::Off).await;
        recording.reach(10.0 + outage).await;
        recording.page.set_network(Network::Whole).await;
        recording.reach(20.0 + outage).await;
        recording.page.stop_and_keep().await;
        print_losses(&recording.visit, &mut recording.page, json!({ "network_away_for": name })).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes twelve minutes, and prints figures"]
async fn losses_of_ten_minutes_over_a_slow_uplink() {
    let mut recording = Recording::begin(600, "").await;
    recording.page.set_network(Network::Uplink { bits_per_second: 256_000 }).await;
    let mut most_memory = 0;
    for minute in 1..=10 {
        // The page ends the recording by itself.
        recording.reach(f64::from(minute) * 60.0 - 5.0).await;
        most_memory = most_memory.max(recording.page.memory_kilobytes());
    }
    let page = &mut recording.page;
    page.keep().await;
    page.evaluate("globalThis.asked = performance.now(); undefined").await;
    page.record(2).await;
    let next = page.evaluate("(performance.now() - asked) / 1000").await;
    page.until_promised("performance.now() - asked > 20000").await;
    page.stop_and_keep().await;
    let sent = page.evaluate("document.querySelector('footer .status').textContent").await;
    // The rest would take half an hour.
    page.set_network(Network::Whole).await;
    let figure = json!({
        "uplink_kilobits": 256, "megabytes_of_page": most_memory / 1000, "seconds_to_next_question": next, "status_before_the_limit_was_lifted": sent,
    });
    print_losses(&recording.visit, page, figure).await;
    assert!(most_memory < 200_000, "{most_memory}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes ten minutes, and prints figures"]
async fn losses_at_random() {
    let chance = RandomState::new();
    for round in 0..12_u32 {
        let pick = |what: &str, below: u64| (chance.hash_one((what, round)) % below) as f64;
        let (off, outage, end) = (pick("off", 15), pick("outage", 15), 5.0 + pick("end", 25));
        let mut recording = Recording::begin(60, if round % 2 == 0 { "" } else { ONLY_WEBM }).await;
        recording.reach(off.min(end)).await;
        recording.page.set_network(Network::Off).await;
        recording.reach((off + outage).min(end)).await;
        recording.page.set_network(Network::Whole).await;
        recording.reach(end).await;
        let options = recording.options.clone();
        let lost = end - recording.kill_and_keep(options).await;
        print(
            &json!({ "figure": "seconds_lost_at_random", "off_at": off, "off_for": outage, "killed_at": end, "seconds": lost }),
        );
        assert!(lost <= if round % 2 == 0 { 4.5 } else { 2.5 }, "{lost}");
    }
}

/// Completes the interview, and prints how many seconds of the first answer are missing.
async fn print_losses(visit: &Visit, page: &mut Page, mut figure: Value) {
    page.saved().await;
    let heard = seconds_heard(visit).await;
    let recorded = recorded_seconds(&visit.answers().await[0]) as f64;
    tests::caller::merge(
        &mut figure,
        json!({ "figure": "seconds_lost", "seconds_recorded": recorded, "seconds": recorded - heard }),
    );
    print(&figure);
    // A beep may be cut at each end, and the length is told in whole seconds.
    assert!(recorded - heard <= 1.5, "{figure}");
}
