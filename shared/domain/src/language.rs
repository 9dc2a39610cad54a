//! The languages that the service writes to candidates in.

use super::names::named;

named! {
    /// A language that mails can be written in.
    pub enum Language {
        /// English.
        En = "en",
        /// German.
        De = "de",
        /// French.
        Fr = "fr",
        /// Spanish.
        Es = "es",
        /// Italian.
        It = "it",
        /// Dutch.
        Nl = "nl",
    }
}

impl Language {
    /// The language's own name.
    pub fn name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::De => "Deutsch",
            Self::Fr => "Français",
            Self::Es => "Español",
            Self::It => "Italiano",
            Self::Nl => "Nederlands",
        }
    }

    /// The ISO form, such as `de-DE`.
    pub fn iso(self) -> &'static str {
        match self {
            Self::En => "en-GB",
            Self::De => "de-DE",
            Self::Fr => "fr-FR",
            Self::Es => "es-ES",
            Self::It => "it-IT",
            Self::Nl => "nl-NL",
        }
    }
}
