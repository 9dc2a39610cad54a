//! How values look that views hold as text.

use crate::domain::language::Language;
use crate::domain::schema::inline_schema;

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
