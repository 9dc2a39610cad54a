//! Events in EventBridge envelopes.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use crate::backend::REGION;
use crate::{Error, random};

const ACCOUNT: &str = "000000000000";

/// The event of a schedule.
pub(super) fn scheduled(name: &str, now: DateTime<Utc>) -> Value {
    let mut event = Map::new();
    event.insert("source".to_owned(), json!("aws.events"));
    event.insert("detail-type".to_owned(), json!("Scheduled Event"));
    event.insert("resources".to_owned(), json!([format!("arn:aws:events:{REGION}:{ACCOUNT}:rule/{name}")]));
    event.insert("detail".to_owned(), json!({}));
    Value::Object(filled_in(event, now))
}

/// A custom event, with the fields that EventBridge adds.
pub(super) fn completed(event: Value, now: DateTime<Utc>) -> Result<Value, Error> {
    let Value::Object(event) = event else { return Err(Error::new("an event must be a JSON object")) };
    for required in ["source", "detail-type", "detail"] {
        if !event.contains_key(required) {
            return Err(Error::new(format!("the event has no \"{required}\"")));
        }
    }
    for (name, value) in &event {
        let (fits, kind) = match name.as_str() {
            "source" | "detail-type" | "id" | "account" | "region" | "version" => {
                (value.as_str().is_some_and(|text| !text.is_empty()), "a text that is not empty")
            }
            "time" => {
                let is_time = |text| DateTime::parse_from_rfc3339(text).is_ok();
                (value.as_str().is_some_and(is_time), "a time such as 2026-11-08T22:59:00Z")
            }
            "resources" => {
                let are_texts = |list: &Vec<Value>| list.iter().all(Value::is_string);
                (value.as_array().is_some_and(are_texts), "a list of texts")
            }
            "detail" => (value.is_object(), "an object"),
            _ => return Err(Error::new(format!("an event has no member \"{name}\""))),
        };
        if !fits {
            return Err(Error::new(format!("the event's \"{name}\" must be {kind}")));
        }
    }
    Ok(Value::Object(filled_in(event, now)))
}

fn filled_in(mut event: Map<String, Value>, now: DateTime<Utc>) -> Map<String, Value> {
    let given = [
        ("version", json!("0")),
        ("id", json!(random::uuid())),
        ("account", json!(ACCOUNT)),
        ("time", json!(now.to_rfc3339_opts(SecondsFormat::Secs, true))),
        ("region", json!(REGION)),
        ("resources", json!([])),
    ];
    for (name, value) in given {
        event.entry(name).or_insert(value);
    }
    event
}
