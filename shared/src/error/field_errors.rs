//! Validation errors, by field.

use std::collections::BTreeMap;
use std::fmt;

/// Messages by field, sorted by the field's name. A field has each message only once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldErrors(pub(super) BTreeMap<String, Vec<String>>);

/// The maximum length of a message in characters; longer ones are truncated.
// Some messages repeat sent values, and the response must not grow with the request.
const MAX_MESSAGE: usize = 300;

impl FieldErrors {
    /// The key of messages about several fields or the whole body.
    pub const ACROSS: &str = "non_field_errors";

    /// Adds a message about `field`, unless the field has it already.
    pub fn add(&mut self, field: &str, message: impl Into<String>) {
        let messages = self.0.entry(field.to_owned()).or_default();
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
            message.truncate(end);
            message.push('…');
        }
        if !messages.contains(&message) {
            messages.push(message);
        }
    }

    /// Returns the value. If it is an error, adds the message to `field` and returns `None`.
    pub fn read<T>(&mut self, field: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|message| self.add(field, message)).ok()
    }

    /// Adds all messages of `other`.
    pub fn merge(&mut self, other: Self) {
        self.extend(other.0);
    }

    /// Prefixes each field with `path`; messages under [`ACROSS`](Self::ACROSS) move to `path` itself.
    pub fn below(self, path: &str) -> Self {
        let below =
            |field: String| if field == Self::ACROSS { path.to_owned() } else { format!("{path}.{field}") };
        self.0.into_iter().map(|(field, messages)| (below(field), messages)).collect()
    }

    /// Moves all messages to `field`.
    pub fn about(self, field: &str) -> Self {
        self.0.into_values().map(|messages| (field.to_owned(), messages)).collect()
    }

    /// All messages, each with its field.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.0.iter();
        fields.flat_map(|(field, messages)| messages.iter().map(move |text| (field.as_str(), text.as_str())))
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Prints all messages without their fields.
impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<&str> = self.0.values().flatten().map(String::as_str).collect();
        f.write_str(&messages.join(" "))
    }
}

impl FromIterator<(String, Vec<String>)> for FieldErrors {
    fn from_iter<I: IntoIterator<Item = (String, Vec<String>)>>(messages: I) -> Self {
        let mut errors = Self::default();
        errors.extend(messages);
        errors
    }
}

impl Extend<(String, Vec<String>)> for FieldErrors {
    fn extend<I: IntoIterator<Item = (String, Vec<String>)>>(&mut self, messages: I) {
        for (field, messages) in messages {
            messages.into_iter().for_each(|message| self.add(&field, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn no_field_has_a_message_twice_however_they_come_together() {
        let mut errors = FieldErrors::default();
        for (field, message) in [("a", "Wrong."), ("a", "Wrong."), ("b", "Wrong."), ("a", "Too long.")] {
            errors.add(field, message);
        }
        let mut merged = errors.clone();
        merged.merge(errors);
        let expected = |a: Value, b: Value| json!({ "a": a, "b": b });
        assert_eq!(json!(merged.0), expected(json!(["Wrong.", "Too long."]), json!(["Wrong."])));
        assert_eq!(json!(merged.about("c").0), json!({ "c": ["Wrong.", "Too long."] }));
    }
}
