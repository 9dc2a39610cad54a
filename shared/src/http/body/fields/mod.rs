//! Reads a JSON object or a form field by field, and returns all validation errors together.

mod item;
mod object;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::domain::parse_enum;
use crate::domain::partner_data::PartnerData;
use crate::error::{Error, FieldErrors, Result};
use crate::http::body::known_names::KnownNames;
use crate::http::body::multipart::part::FormPart;
use crate::http::body::outline::BodyOutline;

pub use item::ListItem;

const REQUIRED: &str = "This field is required.";
const NOT_NULL: &str = "This field may not be null.";
pub(in crate::http) const NOT_A_STRING: &str = "Not a valid string.";

/// The fields of a JSON object or of a form, and their validation errors so far.
///
/// A method that reads a field returns `None` if the field is absent or invalid; [`BodyFields::finish`] returns the errors.
/// It also refuses names that the reader has not asked for, except names in the representation that the route shows or
/// changes: clients may send back what they have read.
#[derive(Debug, Default)]
pub struct BodyFields {
    object: Map<String, Value>,
    /// The JSON text of the body, or of one entry if the body is a list; empty for a form and for a nested object.
    json: Bytes,
    errors: FieldErrors,
    /// The names that the reader has asked for.
    asked: Vec<&'static str>,
    known: KnownNames,
    /// Whether unknown names are ignored instead of refused.
    ignores_unknown: bool,
    pub(in crate::http) form: Option<BodyForm>,
    /// `Some` only while the docs are generated: records which fields the reader asks for.
    outline: Option<Arc<Mutex<BodyOutline>>>,
}

/// The parts of a form by field name.
#[derive(Debug, Default)]
pub(in crate::http) struct BodyForm {
    pub(in crate::http) parts: BTreeMap<String, FormPart>,
}

impl BodyFields {
    pub(in crate::http) fn of_object(object: Map<String, Value>, json: Bytes) -> Self {
        Self { object, json, ..Self::default() }
    }

    /// Accepts the names in `known` besides those that the reader asks for.
    pub(in crate::http) fn with_known(self, known: KnownNames) -> Self {
        Self { known, ..self }
    }

    /// Ignores names that the reader does not ask for.
    pub(in crate::http) fn that_ignores_unknown_names(self) -> Self {
        Self { ignores_unknown: true, ..self }
    }

    /// The fields of a form. A form has strings only, so the readers also parse numbers, booleans and JSON from strings.
    pub(in crate::http) fn of_form(form: BodyForm) -> Self {
        Self { form: Some(form), ..Self::default() }
    }

    /// The names and rules of the fields that `read` asks for. Runs `read` with an empty JSON object or form and drops its result.
    pub(crate) fn outlined<T>(is_form: bool, read: impl FnOnce(Self) -> T) -> BodyOutline {
        let outline = Arc::default();
        let form = is_form.then(BodyForm::default);
        read(Self { form, outline: Some(Arc::clone(&outline)), ..Self::default() });
        let mut outline = outline.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut outline)
    }

    /// Records that the reader asks for `name`; while the docs are generated, `note` adds its schema to the outline.
    pub(in crate::http) fn note(&mut self, name: &'static str, note: impl FnOnce(&mut BodyOutline, &str)) {
        self.ignore(name);
        if let Some(outline) = &self.outline {
            note(&mut outline.lock().unwrap_or_else(PoisonError::into_inner), name);
        }
    }

    /// Accepts a field without reading it: a field that only other callers may change, or that the representation has lost
    /// within the last year.
    pub fn ignore(&mut self, name: &'static str) {
        self.asked.push(name);
    }

    /// Records an error about a field.
    pub fn refuse(&mut self, field: &str, message: impl Into<String>) {
        self.errors.add(field, message);
    }

    /// Returns the value that `build` makes, or all validation errors together. `build` runs only without errors, so every
    /// required field is `Some`. If `build` returns `None`, that is an internal error.
    pub fn finish<T>(mut self, build: impl FnOnce() -> Option<T>) -> Result<T> {
        let unknown = match &self.form {
            _ if self.ignores_unknown => FieldErrors::default(),
            Some(form) => self.known.check(form.parts.keys(), &self.asked),
            None => self.known.check(self.object.keys(), &self.asked),
        };
        self.errors.merge(unknown);
        if !self.errors.is_empty() {
            return Err(Error::Fields(self.errors));
        }
        build().ok_or_else(|| Error::internal("a field is missing that its reader did not require"))
    }

    /// Whether a field was sent.
    pub fn has(&self, name: &str) -> bool {
        match &self.form {
            Some(form) => form.parts.contains_key(name),
            None => self.object.contains_key(name),
        }
    }

    /// The value of a field; an error if it is a form's part that is not text. `None` if the field is absent.
    fn value(&self, name: &str) -> Option<Result<Cow<'_, Value>, String>> {
        match &self.form {
            Some(form) => Some(form.parts.get(name)?.text().map(|text| Cow::Owned(Value::String(text)))),
            None => self.object.get(name).map(|value| Ok(Cow::Borrowed(value))),
        }
    }

    /// Records an error if the field is missing.
    pub fn require(&mut self, name: &'static str) {
        self.note(name, BodyOutline::require);
        if !self.has(name) {
            self.refuse(name, REQUIRED);
        }
    }

    /// Reads a required string.
    pub fn required<T: JsonSchema>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        self.require(name);
        self.text(name, parse)
    }

    /// Reads a string, which may not be null.
    pub fn text<T: JsonSchema>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        self.note(name, BodyOutline::value::<T>);
        self.read(name, |value| parse(value.as_str().ok_or(NOT_A_STRING)?))
    }

    /// Reads a string. Null or an empty string clears the field: `Some(None)`.
    pub fn clearable<T: JsonSchema>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<Option<T>> {
        self.note(name, BodyOutline::clearable_text::<T>);
        self.read_or_null(name, |value| match value.as_str().ok_or(NOT_A_STRING)? {
            // Forms cannot send null, so an empty string clears the field too.
            text if text.trim().is_empty() => Ok(None),
            text => parse(text).map(Some),
        })
        .map(Option::flatten)
    }

    /// A text that may be empty; null stands for the empty text.
    pub fn text_or_empty<T: JsonSchema + Default>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        self.note(name, BodyOutline::nullable::<T>);
        self.read_or_null(name, |value| parse(value.as_str().ok_or(NOT_A_STRING)?))
            .map(Option::unwrap_or_default)
    }

    /// Reads a boolean; from a form, `true` or `false`.
    pub fn flag(&mut self, name: &'static str) -> Option<bool> {
        self.note(name, BodyOutline::value::<bool>);
        let is_form = self.is_form();
        self.read(name, |value| {
            let flag = match value {
                Value::Bool(flag) => Some(*flag),
                // A form has only strings.
                Value::String(text) if is_form => text.parse().ok(),
                _ => None,
            };
            flag.ok_or_else(|| "Must be a valid boolean.".to_owned())
        })
    }

    /// Reads a date or timestamp. Null clears the field; in a form, an empty string does.
    pub fn clearable_date<T: JsonSchema>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<Option<T>> {
        self.note(name, BodyOutline::nullable::<T>);
        let is_form = self.is_form();
        self.read_or_null(name, |value| match value.as_str().ok_or(NOT_A_STRING)? {
            text if is_form && text.trim().is_empty() => Ok(None),
            // In JSON, an empty string is an error: a client that forgot the date must not clear, say, a deadline.
            text => parse(text).map(Some),
        })
        .map(Option::flatten)
    }

    pub fn is_form(&self) -> bool {
        self.form.is_some()
    }

    /// Reads an integer from `least` to `most`.
    pub fn integer(&mut self, name: &'static str, least: u32, most: u32) -> Option<u32> {
        self.note(name, |outline, name| outline.integer(name, least, most));
        let is_form = self.is_form();
        self.read(name, |value| match value.as_str().filter(|_| is_form) {
            // A form has only strings.
            Some(text) => {
                whole_number(&text.parse().map_or(Value::Null, |number: u64| number.into()), least, most)
            }
            None => whole_number(value, least, most),
        })
    }

    /// Reads an integer from `least` to `most`. Null clears the field.
    pub fn clearable_integer(&mut self, name: &'static str, least: u32, most: u32) -> Option<Option<u32>> {
        self.note(name, |outline, name| outline.nullable_integer(name, least, most));
        self.read_or_null(name, |value| whole_number(value, least, most))
    }

    /// Reads a partner's own JSON object; in a form, from its JSON text. Null resets the field to an empty object.
    pub fn partner_data(&mut self, name: &'static str) -> Option<PartnerData> {
        self.note(name, BodyOutline::nullable::<Map<String, Value>>);
        let sent = self.json_of(name);
        let is_form = self.is_form();
        self.read_or_null(name, |value| match value.as_str().filter(|_| is_form) {
            Some(text) => PartnerData::parse(text),
            None => PartnerData::parse(&sent.unwrap_or_default()),
        })
        .map(Option::unwrap_or_default)
    }

    /// The JSON text of a field exactly as the client sent it, so that numbers keep all digits.
    fn json_of(&self, name: &str) -> Option<String> {
        let value = self.object.get(name)?;
        let members = serde_json::from_slice::<BTreeMap<String, &RawValue>>(&self.json).ok();
        let sent = members.and_then(|members| members.get(name).map(|sent| sent.get().to_owned()));
        Some(sent.unwrap_or_else(|| value.to_string()))
    }

    /// Reads a list of at most `most` items with `parse`. Errors for an unknown name in an item contain the item's index.
    pub fn list<T: JsonSchema>(
        &mut self,
        name: &'static str,
        most: usize,
        parse: impl Fn(&mut ListItem<'_>) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        self.note(name, |outline, name| outline.list::<T>(name, most));
        let known = self.known.of_member(name);
        let mut unknown = FieldErrors::default();
        let list = self.read(name, |value| {
            let list = value.as_array().ok_or("Expected a list of items.")?;
            if list.len() > most {
                return Err(format!("Ensure this list has no more than {most} items."));
            }
            let mut items = Vec::with_capacity(list.len());
            for (index, value) in list.iter().enumerate() {
                let mut item = ListItem::new(value);
                let read = parse(&mut item);
                unknown.merge(item.check(&known).below(&format!("{name}[{index}]")));
                items.push(read?);
            }
            Ok(items)
        });
        self.errors.merge(unknown);
        list
    }

    /// Reads a list of at most `most` objects; `read` reads each like a body. Errors contain the object's index.
    pub fn objects<T>(
        &mut self,
        name: &'static str,
        most: usize,
        read: impl Fn(Self) -> Result<T>,
    ) -> Result<Option<Vec<T>>> {
        self.note(name, |outline, name| outline.objects(name, most, Self::outlined(false, &read)));
        let list = self.read(name, |value| match value.as_array() {
            Some(list) if list.len() > most => {
                Err(format!("Ensure this list has no more than {most} items."))
            }
            Some(list) => Ok(list.clone()),
            None => Err("Expected a list of items.".to_owned()),
        });
        let Some(list) = list else { return Ok(None) };
        let known = self.known.of_member(name);
        let mut items = Vec::with_capacity(list.len());
        for (index, value) in list.into_iter().enumerate() {
            let fields = Self::of(value, Bytes::new()).map(|fields| fields.with_known(known.clone()));
            match fields.and_then(&read) {
                Ok(item) => items.push(item),
                Err(Error::Fields(messages)) => {
                    self.errors.merge(messages.below(&format!("{name}[{index}]")));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Some(items))
    }

    /// Reads an object whose names are values of the enum `K` and whose values are strings, which `parse` reads.
    pub fn map<K, T>(
        &mut self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<BTreeMap<K, T>>
    where
        K: DeserializeOwned + JsonSchema + Ord,
        T: JsonSchema,
    {
        self.note(name, BodyOutline::map::<K, T>);
        self.read(name, |value| {
            let object = value.as_object().ok_or("Expected an object.")?;
            let entry = |(key, value): (&String, &Value)| {
                let parsed = value.as_str().ok_or(NOT_A_STRING.to_owned()).and_then(&parse);
                // A field has only one message, so the message names the entry.
                Ok((parse_enum(key)?, parsed.map_err(|message| format!("\"{key}\": {message}"))?))
            };
            object.iter().map(entry).collect()
        })
    }

    fn read<T>(&mut self, name: &'static str, parse: impl FnOnce(&Value) -> Result<T, String>) -> Option<T> {
        match self.read_or_null(name, parse)? {
            Some(value) => Some(value),
            None => {
                self.refuse(name, NOT_NULL);
                None
            }
        }
    }

    pub(in crate::http) fn read_or_null<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Option<Option<T>> {
        let read = self.value(name)?.and_then(|value| match &*value {
            Value::Null => Ok(None),
            value => parse(value).map(Some),
        });
        read.map_err(|message| self.refuse(name, message)).ok()
    }
}

/// The changes to a `T` that a body asks for: one for each field that the client sent.
///
/// A reader names each field once, with its rule and its place in the resource. Absent fields stay unchanged.
pub struct BodyChanges<T>(Vec<FieldSetter<T>>);

type FieldSetter<T> = Box<dyn FnOnce(&mut T) + Send + Sync>;

impl<T> Default for BodyChanges<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: 'static> BodyChanges<T> {
    /// Adds a change that sets `field` of the resource to `value`, if the client sent one.
    pub fn set<V: Send + Sync + 'static>(&mut self, value: Option<V>, field: fn(&mut T) -> &mut V) {
        // Applied later, because the body is read before the resource to change is known.
        self.0.extend(
            value.map(|value| -> FieldSetter<T> { Box::new(move |resource| *field(resource) = value) }),
        );
    }

    /// Applies the changes to `resource`.
    pub fn apply_to(self, resource: &mut T) {
        self.0.into_iter().for_each(|set| set(resource));
    }
}

fn whole_number(value: &Value, least: u32, most: u32) -> Result<u32, String> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    if !value.is_i64() && !value.is_u64() {
        return Err("A valid integer is required.".to_owned());
    }
    number
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("Ensure this value is from {least} to {most}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::text::{Email, ShortName};

    fn fields(json: &str) -> BodyFields {
        BodyFields::parse(Bytes::copy_from_slice(json.as_bytes())).unwrap()
    }

    #[test]
    fn everything_wrong_is_reported_at_once() {
        let mut fields = fields(
            r#"{"first": 1, "email": "x", "flag": "yes", "n": 7.5, "m": -1, "list": [1, 2], "nil": null}"#,
        );
        fields.required("absent", ShortName::parse);
        fields.required("first", ShortName::parse);
        fields.clearable("email", Email::parse);
        fields.flag("flag");
        fields.integer("n", 0, 9);
        fields.integer("m", 0, 9);
        fields.list("list", 1, |_| Ok(()));
        fields.flag("nil");
        let Err(Error::Fields(errors)) = fields.finish(|| Some(())) else { panic!("nothing was refused") };
        let expected = [
            ("absent", REQUIRED),
            ("email", "Enter a valid email address."),
            ("first", NOT_A_STRING),
            ("flag", "Must be a valid boolean."),
            ("list", "Ensure this list has no more than 1 items."),
            ("m", "Ensure this value is from 0 to 9."),
            ("n", "A valid integer is required."),
            ("nil", NOT_NULL),
        ];
        let expected = expected.map(|(field, message)| (field.to_owned(), vec![message.to_owned()]));
        assert_eq!(errors, expected.into_iter().collect());
    }

    #[test]
    fn absent_is_not_null() {
        let mut fields = fields(r#"{"a": null, "b": "", "c": " x "}"#);
        assert_eq!(fields.clearable("a", ShortName::parse), Some(None));
        assert_eq!(fields.clearable("b", ShortName::parse), Some(None));
        assert_eq!(fields.clearable("c", ShortName::parse), Some(Some(ShortName::parse("x").unwrap())));
        assert_eq!(fields.clearable("d", ShortName::parse), None);
        assert!(fields.finish(|| Some(())).is_ok());
    }
}
