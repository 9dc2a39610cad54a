//! A reference, or what it leads to.

use schemars::JsonSchema;
use serde::Serialize;

use crate::http::wire::Uri;

/// A reference, unless the client asked for what it leads to and may read that.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Nested<T> {
    /// The address.
    Reference(Uri),
    /// What stands there.
    Resource(Box<T>),
}
