//! Items of lists in a body.

use serde_json::Value;

use crate::error::FieldErrors;
use crate::http::body::known_names::KnownNames;

/// An item of a list in a body. It records which members the reader asks for, so that unknown members are refused.
#[derive(Debug)]
pub struct ListItem<'a> {
    value: &'a Value,
    /// The names of members that the reader has asked for.
    asked: Vec<&'static str>,
    is_reference: bool,
}

impl<'a> ListItem<'a> {
    pub(super) fn new(value: &'a Value) -> Self {
        Self { value, asked: Vec::new(), is_reference: false }
    }

    /// The item's text; `None` if the item is not a string.
    pub fn text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// The item's number; `None` unless the item is a non-negative integer.
    pub fn number(&self) -> Option<u64> {
        self.value.as_u64()
    }

    /// The URL of a resource. Also accepts the resource itself, which `?expand=` shows instead of its URL.
    pub fn reference(&mut self) -> Result<&'a str, String> {
        self.is_reference = true;
        let uri = self.value.as_str().or_else(|| self.value.get("resource_uri")?.as_str());
        uri.ok_or_else(|| "Expected a list of references.".to_owned())
    }

    /// The member `name` of an item that is an object.
    pub fn get(&mut self, name: &'static str) -> Option<&'a Value> {
        self.asked.push(name);
        self.value.get(name)
    }

    /// Errors for members that the reader has not asked for and that `known` lacks.
    pub(super) fn check(&self, known: &KnownNames) -> FieldErrors {
        match self.value.as_object() {
            Some(object) if !self.is_reference => known.check(object.keys(), &self.asked),
            _ => FieldErrors::default(),
        }
    }
}
