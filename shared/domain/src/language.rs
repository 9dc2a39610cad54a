//! The languages of the mails to candidates.

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
    /// The name of the language in the language itself.
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

    /// The language tag with a region, such as `de-DE`.
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
