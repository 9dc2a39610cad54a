//! Partner data, which the service stores but does not use.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

const NO_OBJECT: &str = "Expected an object.";

/// A partner's own JSON object, at most [`PartnerData::MAX_BYTES`] long. The service does not use it.
///
/// Kept as text with sorted keys and without white space. Numbers stay as they were sent: a [`Value`] rounds those beyond 64
/// bits.
// Stored as a string, because DynamoDB's numbers differ from JSON's.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PartnerData(Box<RawValue>);

impl PartnerData {
    /// The maximum length as JSON text.
    pub const MAX_BYTES: usize = 4096;
    /// The maximum length as sent, with white space and escapes.
    // It bounds the work: parsing reads nested text once for each level around it.
    const MAX_SENT: usize = 16 * Self::MAX_BYTES;

    fn too_long() -> String {
        format!("Ensure this field has no more than {} bytes as JSON.", Self::MAX_BYTES)
    }

    /// Parses the text of a JSON object.
    pub fn parse(json: &str) -> Result<Self, String> {
        if json.len() > Self::MAX_SENT {
            return Err(Self::too_long());
        }
        // Parsing as a `Value` also limits the nesting depth, which parsing as a `RawValue` does not.
        serde_json::from_str::<Map<String, Value>>(json).map_err(|_| NO_OBJECT)?;
        let sent: &RawValue = serde_json::from_str(json).map_err(|_| NO_OBJECT)?;
        let text = compact(sent).map_err(|_| NO_OBJECT)?;
        if text.len() > Self::MAX_BYTES {
            return Err(Self::too_long());
        }
        Self::try_from(text).map_err(|_| NO_OBJECT.to_owned())
    }

    /// The JSON object.
    pub fn to_json(&self) -> Box<RawValue> {
        self.0.clone()
    }
}

/// JSON without white space, with the members of each object sorted by key.
fn compact(json: &RawValue) -> serde_json::Result<String> {
    let text = json.get();
    Ok(match text.as_bytes().first() {
        Some(b'{') => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
            let members = members
                .into_iter()
                .map(|(key, value)| Ok(format!("{}:{}", Value::from(key), compact(value)?)));
            format!("{{{}}}", members.collect::<serde_json::Result<Vec<_>>>()?.join(","))
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            let items = items.into_iter().map(compact);
            format!("[{}]", items.collect::<serde_json::Result<Vec<_>>>()?.join(","))
        }
        // Drop needless escapes, which take up to six times as many bytes.
        Some(b'"') => serde_json::from_str::<Value>(text)?.to_string(),
        _ => text.to_owned(),
    })
}

impl Default for PartnerData {
    fn default() -> Self {
        Self(serde_json::value::to_raw_value(&Map::new()).unwrap_or_default())
    }
}

impl PartialEq for PartnerData {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Eq for PartnerData {}

impl From<PartnerData> for String {
    fn from(data: PartnerData) -> Self {
        Box::<str>::from(data.0).into()
    }
}

impl TryFrom<String> for PartnerData {
    type Error = serde_json::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        RawValue::from_string(text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<String, String> {
        PartnerData::parse(json).map(String::from)
    }

    #[test]
    fn partner_data_is_kept_as_sent_but_for_spaces_order_and_escapes() {
        for (sent, kept) in [
            ("{}", "{}"),
            (
                r#" { "b": [18446744073709551616, -9223372036854775809, 0.10], "a": {"y": 1E2, "x": null} } "#,
                r#"{"a":{"x":null,"y":1E2},"b":[18446744073709551616,-9223372036854775809,0.10]}"#,
            ),
            (
                r#"{"n": 3.14159265358979323846264338327950288}"#,
                r#"{"n":3.14159265358979323846264338327950288}"#,
            ),
            (r#"{"\u00e4\"": "\u20ac \/ \n"}"#, r#"{"ä\"":"€ / \n"}"#),
            (r#"{"a": 1, "a": [ ]}"#, r#"{"a":[]}"#),
        ] {
            assert_eq!(parse(sent).as_deref(), Ok(kept));
        }
        let data = PartnerData::parse(r#"{"a": [1, 2.5, 1e300, {"ä": "€"}]}"#).unwrap();
        let stored = serde_json::to_value(&data).unwrap();
        assert!(stored.is_string());
        assert_eq!(serde_json::from_value::<PartnerData>(stored).unwrap(), data);
        assert_eq!(String::from(PartnerData::default()), "{}");
    }

    #[test]
    fn partner_data_is_a_bounded_object() {
        let nested = |depth| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(100)).is_ok());
        for wrong in ["", "[]", "7", "\"{}\"", "null", "{} {}", "{\"a\": 1e999}", &nested(10_000)] {
            assert_eq!(parse(wrong), Err(NO_OBJECT.to_owned()), "{wrong}");
        }
        let fits = format!("{{\"a\":{}\"{}\"}}", " ".repeat(50_000), "x".repeat(4096 - 8));
        assert_eq!(parse(&fits).unwrap().len(), 4096);
        for long in [
            fits.replacen('x', "xx", 1),
            format!("{{\"a\":0.{}}}", "0".repeat(4096)),
            format!("{{{}}}", " ".repeat(70_000)),
        ] {
            assert!(parse(&long).unwrap_err().contains("no more than 4096 bytes"));
        }
    }
}
