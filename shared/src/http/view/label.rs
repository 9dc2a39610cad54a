//! A label as clients see it.

use serde::Serialize;

use crate::domain::label::Label;
use crate::http::reference::References;

/// A label as clients see it.
#[derive(Debug, Serialize)]
pub struct LabelView {
    resource_uri: String,
    company: String,
    text: String,
}

impl LabelView {
    /// The view of a label.
    pub fn new(label: &Label, references: References<'_>) -> Self {
        Self {
            resource_uri: references.label(&label.company, label.id),
            company: references.company(&label.company),
            text: label.text.to_string(),
        }
    }
}
