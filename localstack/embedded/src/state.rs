//! Values that a data folder stores between runs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// A file with one JSON value, replaced atomically.
#[derive(Debug)]
pub(crate) struct StateFile(PathBuf);

impl StateFile {
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The value; `None` if nothing has been stored yet.
    pub(crate) fn load<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        let text = match fs::read(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed("read")(error)),
        };
        serde_json::from_slice(&text).map(Some).map_err(self.failed("read"))
    }

    pub(crate) fn store<T: Serialize>(&self, value: &T) -> Result<(), Error> {
        let text = serde_json::to_vec(value).map_err(self.failed("write"))?;
        let fresh = self.0.with_extension("new");
        fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, &self.0)).map_err(self.failed("write"))
    }

    fn failed<E>(&self, what: &str) -> impl FnOnce(E) -> Error + use<E>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Error::because(format!("cannot {what} {}", self.0.display()))
    }
}
