//! Errors at start and run time, worded for the person who started the service.

use std::fmt;

/// The failed action, with the error that caused it, if any.
#[derive(Debug)]
pub struct Error {
    what: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error without a cause.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), source: None }
    }

    /// For `map_err`: an error that names the failed action, with the given error as its cause.
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
