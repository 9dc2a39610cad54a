//! How browsers are started and killed.

use std::fs;
use std::io::Write as _;
use std::sync::Arc;

use tempfile::{TempDir, TempPath};
use tests::effort;
use tokio::process::{Child, Command};

/// How a browser is started.
#[derive(Clone)]
pub(crate) struct BrowserOptions {
    /// The browser's profile on the disk. Another browser can go on with it.
    pub(crate) profile: Arc<TempDir>,
    /// Whether pages may use its camera and its microphone.
    pub(crate) allows_devices: bool,
    /// The sound at the microphone: a WAV file, again and again. Without one, it beeps twice a second.
    pub(crate) sound: Option<Arc<TempPath>>,
    /// Whether it is the program that people have, with its windows and prompts. At full effort it always is.
    pub(crate) is_whole: bool,
}

impl BrowserOptions {
    /// A new profile, without devices.
    pub(crate) fn new() -> Self {
        Self { profile: new_profile(), allows_devices: false, sound: None, is_whole: false }
    }

    /// A new profile, with devices.
    pub(crate) fn with_devices() -> Self {
        Self { allows_devices: true, ..Self::new() }
    }

    /// A new profile, with devices whose microphone hears what ffmpeg makes of these arguments.
    pub(crate) fn hearing(how: &str) -> Self {
        let mut file = tempfile::Builder::new().suffix(".wav").tempfile().unwrap();
        file.write_all(&tests::videos::recorded(how, "wav")).unwrap();
        Self { sound: Some(Arc::new(file.into_temp_path())), ..Self::with_devices() }
    }

    /// The program of the browser.
    // The shell has the same engine, and takes less than half of the processor time.
    pub(crate) fn program(&self) -> &'static str {
        if self.is_whole || effort::is_full() { "chromium" } else { "chromium-headless-shell" }
    }
}

/// A folder for a new profile.
// Not in the system's folder: browsers that were killed write for a moment longer, some of it after the folder was removed. `tests/run`
// removes what they have left there.
pub(crate) fn new_profile() -> Arc<TempDir> {
    let profiles = concat!(env!("CARGO_TARGET_TMPDIR"), "/profiles");
    fs::create_dir_all(profiles).unwrap();
    Arc::new(tempfile::tempdir_in(profiles).unwrap())
}

/// Kills a browser that leads a process group, with all of its processes, as a crash of the computer would.
// Not the child alone: that may be a shell, which waits for the browser, and whose end the browser survives.
pub(crate) async fn kill_group(mut browser: Child) {
    let group = format!("-{}", browser.id().unwrap());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().await.unwrap().success());
    browser.wait().await.unwrap();
}
