//! Enums whose values have names.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer as _};

/// Declares an enum with the names of its values, which are the same in JSON, in the table, in logs and in the OpenAPI
/// document.
macro_rules! named {
    ($(#[$about:meta])+ pub enum $type:ident { $($(#[doc = $doc:literal])+ $value:ident = $name:literal,)+ }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[schemars(inline)]
        $(#[$about])+
        pub enum $type {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $value,)+
        }

        impl $type {
            /// Every value, in the order of their declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// The name of the value.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }
        }
    };
}

pub(crate) use named;

/// Parses `name` as a value of an enum without fields. The error is a message for the client.
pub fn parse_enum<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    let deserializer: StrDeserializer<'_, NoSuchValue> = name.into_deserializer();
    T::deserialize(deserializer).map_err(|NoSuchValue(message)| message)
}

/// The error message for a `name` that is not one of `choices`.
pub fn not_a_choice(name: &str, choices: &[&str]) -> String {
    format!("\"{name}\" is not a valid choice. Use one of: {}.", choices.join(", "))
}

/// The error message for a name that no value of the enum has. Serde's derived code supplies the valid names.
#[derive(Debug)]
struct NoSuchValue(String);

impl serde::de::Error for NoSuchValue {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }

    fn unknown_variant(name: &str, choices: &'static [&'static str]) -> Self {
        Self(not_a_choice(name, choices))
    }
}

impl fmt::Display for NoSuchValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoSuchValue {}
