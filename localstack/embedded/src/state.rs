//! Values that are kept in the data folder between runs.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// A file with one JSON value, which is replaced atomically.
#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
    /// The file's permissions, as for `chmod`.
    mode: u32,
}

impl StateFile {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), mode: 0o644 }
    }

    /// Creates a file that only its owner can read.
    pub(crate) fn private(path: &Path) -> Self {
        Self { path: path.to_owned(), mode: 0o600 }
    }

    /// The stored value; `None` if there is none yet.
    pub(crate) fn load<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed("read")(error)),
        };
        serde_json::from_slice(&text).map(Some).map_err(self.failed("read"))
    }

    pub(crate) fn store<T: Serialize>(&self, value: &T) -> Result<(), Error> {
        let text = serde_json::to_vec(value).map_err(self.failed("write"))?;
        let fresh = self.path.with_extension("new");
        self.write(&fresh, &text).and_then(|()| fs::rename(&fresh, &self.path)).map_err(self.failed("write"))
    }

    fn write(&self, path: &Path, text: &[u8]) -> io::Result<()> {
        // A file that a crash has left may have other permissions.
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        OpenOptions::new().write(true).create_new(true).mode(self.mode).open(path)?.write_all(text)
    }

    fn failed<E>(&self, what: &str) -> impl FnOnce(E) -> Error + use<E>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Error::because(format!("cannot {what} {}", self.path.display()))
    }
}
