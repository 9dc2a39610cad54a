//! How browsers are started.

use std::io::Write as _;
use std::sync::Arc;

use tempfile::{TempDir, TempPath};

/// How a browser is started.
#[derive(Clone)]
pub(crate) struct BrowserOptions {
    /// What the browser keeps on the disk. Another browser can go on with it.
    pub(crate) profile: Arc<TempDir>,
    /// Whether pages may use its camera and its microphone.
    pub(crate) allows_devices: bool,
    /// What the microphone hears, a WAV file, again and again. Without one, it beeps twice a second.
    pub(crate) sound: Option<Arc<TempPath>>,
}

impl BrowserOptions {
    /// A new profile, with devices.
    pub(crate) fn with_devices() -> Self {
        Self { profile: Arc::new(tempfile::tempdir().unwrap()), allows_devices: true, sound: None }
    }

    /// A new profile, with devices whose microphone hears what ffmpeg makes of these arguments.
    pub(crate) fn hearing(how: &str) -> Self {
        let mut file = tempfile::Builder::new().suffix(".wav").tempfile().unwrap();
        file.write_all(&tests::videos::recorded(how, "wav")).unwrap();
        Self { sound: Some(Arc::new(file.into_temp_path())), ..Self::with_devices() }
    }
}
