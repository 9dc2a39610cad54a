//! Labels, by which a company sorts its projects.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{CompanyId, LabelId};
use super::text::Line;

/// What stands on a label: one line of at most 100 characters, with something to see in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct LabelText(Line<100>);

impl LabelText {
    /// Takes `text` as [`Line::parse`] does.
    ///
    /// # Errors
    /// The message for whoever sent it.
    pub fn parse(text: &str) -> Result<Self, String> {
        Line::parse_visible(text).map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for LabelText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A label as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Its identifier.
    pub id: LabelId,
    /// The company that it is of.
    pub company: CompanyId,
    /// What stands on it, unique in the company whatever the case.
    pub text: LabelText,
    /// Whether projects may take it on: not any more once its deletion has begun.
    pub is_active: bool,
}

impl Label {
    /// A new label.
    pub fn new(id: LabelId, company: CompanyId, text: LabelText) -> Self {
        Self { id, company, text, is_active: true }
    }
}
