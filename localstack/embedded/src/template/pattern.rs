//! Event patterns of rules and stream filters.

use serde_json::{Map, Value};

use crate::Error;

/// A condition on a JSON event. Supports a part of AWS's patterns: nested members, each with a list of strings and
/// prefixes. One of the list must match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<(String, Condition)>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    Members(Pattern),
    OneOf(Vec<Text>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Text {
    Equal(String),
    Prefix(String),
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// If the pattern is malformed or unsupported.
    pub(super) fn parse(pattern: &Value) -> Result<Self, Error> {
        match pattern {
            Value::Object(members) if !members.is_empty() => Self::of_members(members),
            other => Err(unknown(other)),
        }
    }

    fn of_members(members: &Map<String, Value>) -> Result<Self, Error> {
        let conditions = members.iter().map(|(name, value)| {
            let condition = match value {
                Value::Array(texts) if !texts.is_empty() => {
                    Condition::OneOf(texts.iter().map(Text::parse).collect::<Result<_, _>>()?)
                }
                other => Condition::Members(Self::parse(other)?),
            };
            Ok((name.clone(), condition))
        });
        Ok(Self(conditions.collect::<Result<_, _>>()?))
    }

    /// Whether all members of the pattern match.
    pub fn matches(&self, event: &Value) -> bool {
        self.0.iter().all(|(name, condition)| match (condition, &event[name.as_str()]) {
            (Condition::Members(pattern), value) => pattern.matches(value),
            (Condition::OneOf(texts), Value::String(value)) => texts.iter().any(|text| text.matches(value)),
            // A list matches if one of its members matches.
            (Condition::OneOf(texts), Value::Array(values)) => {
                let mut values = values.iter().filter_map(Value::as_str);
                values.any(|value| texts.iter().any(|text| text.matches(value)))
            }
            (Condition::OneOf(_), _) => false,
        })
    }
}

impl Text {
    fn parse(text: &Value) -> Result<Self, Error> {
        match text {
            Value::String(text) => Ok(Self::Equal(text.clone())),
            Value::Object(operator) if operator.len() == 1 => {
                match (operator.get("prefix"), operator.get("Ref")) {
                    (Some(Value::String(prefix)), None) => Ok(Self::Prefix(prefix.clone())),
                    // A resource's name is its logical id here.
                    (None, Some(Value::String(name))) => Ok(Self::Equal(name.clone())),
                    _ => Err(unknown(text)),
                }
            }
            other => Err(unknown(other)),
        }
    }

    fn matches(&self, value: &str) -> bool {
        match self {
            Self::Equal(text) => value == text,
            Self::Prefix(prefix) => value.starts_with(prefix),
        }
    }
}

fn unknown(part: &Value) -> Error {
    Error::new(format!("the local run does not know the event pattern {part}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_member_must_fit_one_of_its_texts() {
        let pattern =
            json!({ "name": ["INSERT", "MODIFY"], "keys": { "pk": { "S": [{ "prefix": "EFFECT#" }] } } });
        let pattern = Pattern::parse(&pattern).unwrap();
        let event = |name: &str, pk: &str| json!({ "name": name, "keys": { "pk": { "S": pk }, "sk": 1 }, "more": [] });
        assert!(pattern.matches(&event("INSERT", "EFFECT#1")));
        assert!(pattern.matches(&event("MODIFY", "EFFECT#")));
        assert!(!pattern.matches(&event("REMOVE", "EFFECT#1")));
        assert!(!pattern.matches(&event("INSERT", "COMPANY#EFFECT#1")));
        let tagged = Pattern::parse(&json!({ "tags": { "set": [{ "Ref": "MailSet" }] } })).unwrap();
        assert!(tagged.matches(&json!({ "tags": { "set": ["Other", "MailSet"] } })));
        assert!(!tagged.matches(&json!({ "tags": { "set": ["Other"] } })));
        assert!(!pattern.matches(&json!({ "name": "INSERT" })));
        assert!(!pattern.matches(&json!({ "name": "INSERT", "keys": { "pk": { "S": 1 } } })));
    }

    #[test]
    fn unsupported_patterns_are_named() {
        let known = json!({ "source": ["a"] });
        assert!(Pattern::parse(&known).is_ok());
        for (unknown, named) in [
            (json!({ "source": [{ "anything-but": "a" }] }), r#"{"anything-but":"a"}"#),
            (json!({ "source": [{ "exists": true }] }), r#"{"exists":true}"#),
            (json!({ "detail": { "n": [1] } }), "pattern 1"),
            (json!({ "$or": [{ "source": ["a"] }] }), r#"{"source":["a"]}"#),
            (json!({ "source": "a" }), r#""a""#),
            (json!({ "source": [] }), "[]"),
            (json!({}), "{}"),
        ] {
            let error = Pattern::parse(&unknown).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
