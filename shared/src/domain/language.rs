//! The languages in which the service writes to candidates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A language that mails can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Language {
    /// English.
    En,
    /// German.
    De,
    /// French.
    Fr,
    /// Spanish.
    Es,
    /// Italian.
    It,
    /// Dutch.
    Nl,
}

/// Every language: its value, its short code, its ISO form.
const LANGUAGES: [(Language, &str, &str); 6] = [
    (Language::En, "en", "en-GB"),
    (Language::De, "de", "de-DE"),
    (Language::Fr, "fr", "fr-FR"),
    (Language::Es, "es", "es-ES"),
    (Language::It, "it", "it-IT"),
    (Language::Nl, "nl", "nl-NL"),
];

impl Language {
    /// The short codes of all languages.
    pub fn codes() -> impl Iterator<Item = &'static str> {
        LANGUAGES.iter().map(|(_, code, _)| *code)
    }

    /// The language with this short code, such as `de`.
    ///
    /// # Errors
    /// The message for whoever sent it.
    pub fn parse(code: &str) -> Result<Self, String> {
        let found = LANGUAGES.iter().find(|(_, short, _)| *short == code);
        found.map(|(language, ..)| *language).ok_or_else(|| format!("\"{code}\" is not a valid choice."))
    }

    /// The short code, such as `de`.
    pub fn code(self) -> &'static str {
        LANGUAGES[self as usize].1
    }

    /// The ISO form, such as `de-DE`.
    pub fn iso(self) -> &'static str {
        LANGUAGES[self as usize].2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_values() {
        for (language, code, iso) in LANGUAGES {
            assert_eq!((language.code(), language.iso()), (code, iso));
            assert_eq!(Language::parse(code), Ok(language));
        }
        assert!(Language::parse("xx").is_err());
    }
}
