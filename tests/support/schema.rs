//! Checks values against the schemas of the OpenAPI document, more strictly than JSON Schema: members that no schema
//! names are problems, because clients cannot know their types.

use serde_json::{Map, Value};

/// The supported keywords, including those that do not restrict values.
const KNOWN: [&str; 21] = [
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "contains",
    "description",
    "enum",
    "examples",
    "format",
    "items",
    "maxLength",
    "maximum",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "propertyNames",
    "required",
    "type",
    "uniqueItems",
    "x-extensible-enum",
];

pub struct Schemas(Map<String, Value>);

impl Schemas {
    /// The schemas of a document.
    ///
    /// # Panics
    /// If the document has none.
    pub fn of(document: &Value) -> Self {
        Self(document["components"]["schemas"].as_object().expect("schemas").clone())
    }

    /// The problems of a value with the schema `name`.
    pub fn problems(&self, name: &str, value: &Value) -> Vec<String> {
        self.check(name, &self.0[name], value)
    }

    fn check(&self, place: &str, schema: &Value, value: &Value) -> Vec<String> {
        let unknown = schema.as_object().into_iter().flatten().map(|(keyword, _)| keyword);
        let unknown: Vec<_> = unknown.filter(|keyword| !KNOWN.contains(&keyword.as_str())).collect();
        assert!(unknown.is_empty(), "{place}: teach this check {unknown:?}");
        let mut problems = Vec::new();
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().expect("a name");
            problems.extend(self.check(place, &self.0[name], value));
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            let found: Vec<_> = choices.iter().map(|choice| self.check(place, choice, value)).collect();
            if found.iter().all(|problems| !problems.is_empty()) {
                problems.extend(found.concat());
            }
        }
        let mut require = |holds: bool, what: &str| {
            if !holds {
                problems.push(format!("{place}: {value} is not {what}"));
            }
        };
        let types = schema["type"].as_array().map_or(std::slice::from_ref(&schema["type"]), Vec::as_slice);
        require(
            types == [Value::Null] || types.iter().any(|one| is_of(one, value)),
            &schema["type"].to_string(),
        );
        require(schema.get("const").is_none_or(|one| one == value), &schema["const"].to_string());
        let values = schema["enum"].as_array();
        require(values.is_none_or(|all| all.contains(value)), &schema["enum"].to_string());
        let least = schema["minimum"].as_f64();
        require(
            least.zip(value.as_f64()).is_none_or(|(least, value)| value >= least),
            "as large as it must be",
        );
        if let Some(text) = value.as_str() {
            match schema["format"].as_str() {
                Some("uri") => require(url::Url::parse(text).is_ok(), "a URL"),
                Some("date-time") => require(chrono::DateTime::parse_from_rfc3339(text).is_ok(), "a moment"),
                _ => {}
            }
        }
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            problems.extend(self.check(&format!("{place}[{index}]"), &schema["items"], item));
        }
        if let Some(wanted) = schema.get("contains") {
            let items = value.as_array().into_iter().flatten();
            if !items.into_iter().any(|item| self.check(place, wanted, item).is_empty()) {
                problems.push(format!("{place}: {value} has no {wanted}"));
            }
        }
        if let Some(members) = value.as_object().filter(|_| !schema["type"].is_null()) {
            problems.extend(self.check_members(place, schema, members));
        }
        problems
    }

    fn check_members(&self, place: &str, schema: &Value, members: &Map<String, Value>) -> Vec<String> {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let missing = required.filter(|name| !members.contains_key(*name));
        let mut problems: Vec<String> = missing.map(|name| format!("{place}: {name} is missing")).collect();
        for (name, member) in members {
            let place = format!("{place}.{name}");
            if let Some(names) = schema.get("propertyNames") {
                problems.extend(self.check(&place, names, &Value::from(name.as_str())));
            }
            match (schema["properties"].get(name), &schema["additionalProperties"]) {
                (Some(property), _) => problems.extend(self.check(&place, property, member)),
                (None, others @ Value::Object(_)) => problems.extend(self.check(&place, others, member)),
                (None, Value::Bool(true)) => {}
                (None, _) => problems.push(format!("{place}: no schema names it")),
            }
        }
        problems
    }
}

/// Whether a value has this JSON Schema type.
fn is_of(name: &Value, value: &Value) -> bool {
    match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    }
}
