//! The view of a reference that `?expand=` can replace by the resource.

use schemars::JsonSchema;
use serde::Serialize;

use crate::http::wire::Uri;

/// A reference, or the resource itself if it was expanded and the caller may read it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum ExpandedReference<T> {
    /// The URL.
    Reference(Uri),
    /// The resource at the URL.
    Resource(Box<T>),
}

impl<T> ExpandedReference<T> {
    /// Replaces the reference by `resource`, if there is one.
    pub fn expanded(self, resource: Option<T>) -> Self {
        resource.map_or(self, |resource| Self::Resource(Box::new(resource)))
    }
}
