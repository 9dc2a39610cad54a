//! Types of values in responses.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::domain::id::{CompanyId, Id};
use crate::domain::privacy::legal::LegalTextId;

pub use crate::domain::timestamp::Timestamp;

/// An absolute URL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("format" = "uri"))]
pub struct Uri(String);

impl Uri {
    /// The URL in `text`, which must be absolute.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Appends a segment and a final slash. The URL must end in a slash.
    pub fn join(&self, segment: impl fmt::Display) -> Self {
        Self(format!("{self}{segment}/"))
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The last segment of a resource's URL, which the paths of its operations contain.
// Separate from the `Uri`, so that it is serialized without allocating a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identifier<T>(pub T);

impl<T: fmt::Display> Serialize for Identifier<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// The format of a type of identifiers, for the OpenAPI document.
pub trait IdentifierForm {
    /// A regular expression that matches all identifiers of the type.
    const PATTERN: &'static str;
}

impl<K> IdentifierForm for Id<K> {
    // 26 characters of five bits have two bits more than a ULID, so the first character is at most 7.
    const PATTERN: &'static str = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$";
}

impl IdentifierForm for CompanyId {
    const PATTERN: &'static str = "^[a-z0-9-]{2,63}$";
}

impl IdentifierForm for LegalTextId {
    const PATTERN: &'static str = "^[a-z_]+-[1-9][0-9]{0,9}$";
}

/// The number of a take.
impl IdentifierForm for u32 {
    const PATTERN: &'static str = "^[1-9][0-9]{0,8}$";
}

// The schema has no example: the generator takes it from the end of the example of `resource_uri`.
impl<T: IdentifierForm> JsonSchema for Identifier<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Identifier".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": T::PATTERN,
            "description": "The identifier, which the paths of operations take: the last segment of `resource_uri`.",
        })
    }
}

/// A value that is shown as a string; `None` is shown as an empty string. The schema is a plain string, which generated
/// clients handle best.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline, description = "")]
pub struct OrEmpty<T>(#[schemars(with = "String")] pub Option<T>);

impl<T: Serialize> Serialize for OrEmpty<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(text) => text.serialize(serializer),
            None => serializer.serialize_str(""),
        }
    }
}

/// The schema of the errors of one entry of a list: the error body for a request with only this entry, or an empty object.
#[derive(Debug)]
pub struct EntryErrors;

impl JsonSchema for EntryErrors {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EntryErrors".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // An empty object is a valid `FieldErrors`.
        json_schema!({
            "anyOf": [
                { "$ref": "#/components/schemas/Problem" },
                { "$ref": "#/components/schemas/FieldErrors" },
            ],
            "examples": [{}],
        })
    }
}

/// A number with at most two decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(inline, description = "")]
pub struct Decimal(#[schemars(with = "f64", range(min = 0))] u32);

impl Decimal {
    /// A number in hundredths.
    pub fn of_hundredths(hundredths: u32) -> Self {
        Self(hundredths)
    }

    /// A number in tenths.
    pub fn of_tenths(tenths: u32) -> Self {
        Self(tenths.saturating_mul(10))
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % 100 {
            // Show 4 instead of 4.0, as clients send it.
            0 => serializer.serialize_u32(self.0 / 100),
            _ => serializer.serialize_f64(f64::from(self.0) / 100.0),
        }
    }
}

/// Parses a number from 0 to `maximum` with at most one decimal. Returns it in tenths.
pub fn tenths(number: &Value, maximum: u32) -> Result<u32, String> {
    // Most clients send JSON numbers as floats, so 4 may come as 4.0.
    let tenths = number.as_f64().ok_or("A valid number is required.")? * 10.0;
    let most = f64::from(maximum) * 10.0;
    if !(0.0..=most).contains(&tenths) {
        return Err(format!("Ensure each value is from 0 to {maximum}."));
    }
    // In floating point, ten times a number such as 3.3 is not exactly an integer.
    if (tenths - tenths.round()).abs() > 1e-6 {
        return Err("Ensure that values have at most one decimal.".to_owned());
    }
    Ok(tenths.round() as u32)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ratings_are_read_in_tenths() {
        for tenth in 0..=10_000 {
            let number = serde_json::from_str(&format!("{}.{}", tenth / 10, tenth % 10)).unwrap();
            assert_eq!(tenths(&number, 1_000), Ok(tenth));
        }
        assert_eq!(tenths(&json!(4), 5), Ok(40));
        for wrong in [json!(-0.1), json!(5.1), json!(6), json!(3.25), json!("4"), json!(null), json!(1e300)] {
            assert!(tenths(&wrong, 5).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_written_without_needless_decimals() {
        let shown =
            [0, 400, 425, 350].map(|hundredths| json!(Decimal::of_hundredths(hundredths)).to_string());
        assert_eq!(shown, ["0", "4", "4.25", "3.5"]);
        assert_eq!(json!(Decimal::of_tenths(33)).to_string(), "3.3");
    }
}
