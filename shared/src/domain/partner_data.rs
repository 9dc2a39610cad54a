//! Partner data, which the service stores but does not use.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A partner's own JSON object, at most [`PartnerData::MAX_BYTES`] long. The service does not use it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PartnerData(Map<String, Value>);

impl PartnerData {
    /// The maximum length as JSON text.
    pub const MAX_BYTES: usize = 4096;

    /// Parses a JSON object.
    pub fn parse(object: &Map<String, Value>) -> Result<Self, String> {
        let data = Self(object.clone());
        if String::from(data.clone()).len() <= Self::MAX_BYTES {
            Ok(data)
        } else {
            Err(format!("Ensure this field has no more than {} bytes as JSON.", Self::MAX_BYTES))
        }
    }

    /// The JSON object.
    pub fn as_object(&self) -> &Map<String, Value> {
        &self.0
    }
}

// Stored as text, because DynamoDB's numbers differ from JSON's.
impl From<PartnerData> for String {
    fn from(data: PartnerData) -> Self {
        Value::Object(data.0).to_string()
    }
}

impl TryFrom<String> for PartnerData {
    type Error = serde_json::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        serde_json::from_str(&text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partner_data_survives_storage_and_is_bounded() {
        let Value::Object(object) = serde_json::json!({"a": [1, 2.5, 1e300, null, {"ä": "€"}]}) else {
            unreachable!()
        };
        let data = PartnerData::parse(&object).unwrap();
        let stored = serde_json::to_value(&data).unwrap();
        assert!(stored.is_string());
        assert_eq!(serde_json::from_value::<PartnerData>(stored).unwrap().as_object(), &object);
        let Value::Object(large) = serde_json::json!({"a": "x".repeat(5000)}) else { unreachable!() };
        assert!(PartnerData::parse(&large).is_err());
    }
}
