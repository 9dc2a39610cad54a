//! A reference, or what it leads to.

use schemars::JsonSchema;
use serde::Serialize;

use crate::openapi::Uri;

/// A reference, unless the client asked for what it leads to and may read that.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Nested<T> {
    /// The address.
    Reference(#[schemars(with = "Uri")] String),
    /// What stands there.
    Resource(Box<T>),
}
