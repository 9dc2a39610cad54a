//! Enums whose values have names.

use serde::de::value::{Error, StrDeserializer};
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

/// The value that clients call `name`, of an enum without fields.
pub fn parse_enum<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    let deserializer: StrDeserializer<'_, Error> = name.into_deserializer();
    T::deserialize(deserializer).map_err(|_| format!("\"{name}\" is not a valid choice."))
}
