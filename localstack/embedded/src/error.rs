//! Start-up and run-time failures, in words for the person who started the service.

use std::fmt;

/// The failed action, and its cause if there is another error.
#[derive(Debug)]
pub struct Error {
    what: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error without another cause.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), source: None }
    }

    /// For `map_err`: names the action that failed because of the given error.
    pub(crate) fn because<E>(what: impl Into<String>) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let what = what.into();
        move |source| Self { what, source: Some(source.into()) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            None => f.write_str(&self.what),
            Some(source) => write!(f, "{}: {source}", self.what),
        }
    }
}

impl std::error::Error for Error {}
