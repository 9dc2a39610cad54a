//! JSON Schemas of Rust types, and how values look that views hold as text.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::domain::language::Language;
use crate::domain::schema::inline_schema;

/// Makes schemas of what is written, with references into the document's components.
pub(super) fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.transforms.push(Box::new(RecursiveTransform(plain_choice)));
    });
    settings.into_generator()
}

/// The schema of a type that holds no other type with a schema of its own.
pub(super) fn inline<T: JsonSchema>() -> Value {
    let mut generator = generator();
    let mut schema = generator.subschema_for::<T>();
    transform_subschemas(&mut plain_choice, &mut schema);
    plain_choice(&mut schema);
    schema.to_value()
}

/// Turns a choice of described constants into a plain `enum` that clients are generated from more easily; the
/// descriptions become a list in its own.
fn plain_choice(schema: &mut Schema) {
    let Some(choices) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let Some(values) = choices.iter().map(|choice| choice.get("const").cloned()).collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let lines = choices.iter().filter_map(|choice| {
        let (value, text) = (choice["const"].as_str()?, choice["description"].as_str()?);
        Some(format!("- `{value}`: {text}"))
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = format!("{text}\n\n{lines}");
    schema.remove("oneOf");
    schema.insert("type".to_owned(), json!("string"));
    schema.insert("enum".to_owned(), json!(values));
    schema.insert("description".to_owned(), json!(text.trim()));
}

macro_rules! text_formats {
    ($($(#[$doc:meta])+ $name:ident: $schema:tt)+) => {
        $(
            $(#[$doc])+
            pub enum $name {}

            inline_schema!(impl[] $name $schema);
        )+
    };
}

text_formats! {
    /// An absolute URL.
    Uri: { "type": "string", "format": "uri" }
    /// An absolute URL, or the empty string when there is nothing there. Generated clients are best at plain text.
    UriOrEmpty: { "type": "string", "examples": [""] }
    /// A moment: UTC, to the second.
    Timestamp: { "type": "string", "format": "date-time", "examples": ["2026-11-08T22:59:00Z"] }
    /// A calendar date.
    Date: { "type": "string", "format": "date", "examples": ["2026-11-08"] }
    /// An email address, or the empty string when there is none.
    EmailOrEmpty: { "type": "string", "examples": ["ada@example.com"] }
    /// The short code of a language, or the empty string.
    LanguageOrEmpty: { "type": "string", "enum": language_codes(), "examples": ["en"] }
    /// What is known of mails to somebody's address.
    EmailStatus: { "type": "string", "enum": ["deliverable", "bounced", "complained", ""] }
}

fn language_codes() -> Vec<&'static str> {
    Language::codes().chain([""]).collect()
}
