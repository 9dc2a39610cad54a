//! A reference, or what it leads to.

use serde::Serialize;

/// A reference, unless the client asked for what it leads to and may read that.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Nested<T> {
    /// The address.
    Reference(String),
    /// What stands there.
    Resource(Box<T>),
}
