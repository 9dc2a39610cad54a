//! The view of a label.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::company::label::Label;
use crate::domain::id::LabelId;
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::{Identifier, Uri};

/// A label.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Label")]
pub struct LabelView {
    id: Identifier<LabelId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::LABEL)]
    resource_uri: Uri,
    /// The URL of the label's company.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The text of the label, unique in the company, ignoring case.
    #[schemars(example = &"Senior", length(min = 1))]
    text: String,
}

impl LabelView {
    /// The view of a label.
    pub fn new(label: &Label, references: ReferenceUris<'_>) -> Self {
        Self {
            id: Identifier(label.id),
            resource_uri: references.uri(&label.company, label.id),
            company: references.company(&label.company),
            text: label.text.to_string(),
        }
    }
}
