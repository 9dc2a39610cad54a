//! Readers of decimal numbers and of fields that are objects.

use std::collections::BTreeMap;

use axum::body::Bytes;
use schemars::JsonSchema;
use serde_json::Value;

use super::{BodyFields, NOT_A_STRING};
use crate::error::{Error, FieldErrors, Result};

impl BodyFields {
    /// Reads a decimal number with `parse`, which checks its range. `least` and `most` only describe the range in the docs.
    pub fn number<T>(
        &mut self,
        name: &'static str,
        least: u32,
        most: u32,
        parse: impl FnOnce(f64) -> Result<T, String>,
    ) -> Option<T> {
        self.note(name, |outline, name| outline.number(name, least, most));
        self.read(name, |value| parse(value.as_f64().ok_or("A valid number is required.")?))
    }

    /// Reads an object with `read`, like a body; in a form, from its JSON text. Null clears the field. Errors for the
    /// object's fields are prefixed with `name`.
    pub fn clearable_object<T>(
        &mut self,
        name: &'static str,
        read: impl Fn(Self) -> Result<T>,
    ) -> Result<Option<Option<T>>> {
        self.note(name, |outline, name| outline.nullable_object(name, Self::outlined(false, &read)));
        let is_form = self.form.is_some();
        let object = self.read_or_null(name, |value| {
            let parsed = value.as_str().filter(|_| is_form).and_then(|text| serde_json::from_str(text).ok());
            let value = parsed.unwrap_or_else(|| value.clone());
            if value.is_object() { Ok(value) } else { Err("Expected an object.".to_owned()) }
        });
        let Some(Some(value)) = object else { return Ok(object.map(|_| None)) };
        let known = self.known.of_member(name);
        match Self::of(value, Bytes::new()).map(|fields| fields.with_known(known)).and_then(&read) {
            Ok(read) => Ok(Some(Some(read))),
            Err(Error::Fields(messages)) => {
                self.errors.merge(messages.below(name));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// The maximum number of characters that an error repeats of a name chosen by the client.
const MAX_SHOWN: usize = 100;

impl BodyFields {
    /// Reads an object of at most `most` strings whose names the client chooses. `parse` gets name and text; its errors name the
    /// entry.
    pub fn texts<T: JsonSchema>(
        &mut self,
        name: &'static str,
        most: usize,
        parse: impl Fn(&str, &str) -> Result<T, String>,
    ) -> Option<BTreeMap<String, T>> {
        self.note(name, |outline, name| outline.texts::<T>(name, most));
        let mut wrong = FieldErrors::default();
        let texts = self.read(name, |value| {
            let object = value.as_object().ok_or("Expected an object.")?;
            if object.len() > most {
                return Err(format!("Ensure this object has no more than {most} members."));
            }
            let read = |(key, value): (&String, &Value)| {
                let text = value.as_str().ok_or_else(|| NOT_A_STRING.to_owned());
                let read = text.and_then(|text| parse(key, text));
                let shown: String = key.chars().take(MAX_SHOWN).collect();
                Some((key.clone(), wrong.read(&format!("{name}.{shown}"), read)?))
            };
            Ok(object.iter().filter_map(read).collect())
        });
        self.errors.merge(wrong);
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Members = (Option<f64>, Option<u32>);

    fn read(json: &str) -> Result<Option<Option<Members>>> {
        let mut body = BodyFields::parse(Bytes::copy_from_slice(json.as_bytes()))?;
        let value = body.clearable_object("of", |mut members| {
            let read = (members.number("factor", 1, 2, Ok), members.integer("count", 0, 9));
            members.finish(|| Some(read))
        })?;
        body.finish(|| Some(value))
    }

    #[test]
    fn an_object_is_read_as_a_whole_and_messages_name_its_members() {
        assert_eq!(read("{}").unwrap(), None);
        assert_eq!(read(r#"{"of": null}"#).unwrap(), Some(None));
        assert_eq!(read(r#"{"of": {"factor": 1.5}}"#).unwrap(), Some(Some((Some(1.5), None))));
        for wrong in [r#"{"of": 7}"#, r#"{"of": "{}"}"#] {
            assert!(matches!(read(wrong), Err(Error::Fields(_))), "{wrong}");
        }
        let Err(Error::Fields(errors)) = read(r#"{"of": {"factor": "x", "count": -1}}"#) else {
            panic!("nothing was refused")
        };
        let expected =
            [("of.count", "Ensure this value is from 0 to 9."), ("of.factor", "A valid number is required.")];
        let expected = expected.map(|(field, message)| (field.to_owned(), vec![message.to_owned()]));
        assert_eq!(errors, expected.into_iter().collect());
    }
}
