//! Closed and open sets of values. An `enum` in a response is closed: no value will be added within `v3`, so generated clients
//! may rely on it. All other sets are open: the schema is a string whose known values are listed, so that generated clients do
//! not refuse a response with a new value.

use serde_json::{Map, Value, json};

/// Marks a type whose set of values will never grow.
const CLOSED: &str = "x-closed-set";
/// The keyword that lists the known values of an open set.
const KNOWN: &str = "x-extensible-enum";

/// The advice to clients on unknown values.
const OTHERS: &str =
    "More values may be added: treat one that you do not know as one that you do nothing about.";

/// Opens the sets in a response's schema, unless their types are marked as closed.
pub(super) fn open(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("enum").is_some_and(Value::is_array) && !fields.contains_key(CLOSED) {
                open_set(fields);
            }
            fields.iter_mut().filter(|(name, _)| *name != "examples").for_each(|(_, inner)| open(inner));
        }
        Value::Array(all) => all.iter_mut().for_each(open),
        _ => {}
    }
}

fn open_set(set: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = set.remove("enum") else { return };
    let known: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    if let Some(first) = values.first()
        && !set.contains_key("examples")
    {
        set.insert("examples".to_owned(), json!([first]));
    }
    let text = set.get("description").and_then(Value::as_str).unwrap_or_default();
    let shown = known.iter().map(|value| format!("`{}`", if value.is_empty() { "\"\"" } else { value }));
    let shown: Vec<String> = shown.collect();
    let is_listed = shown.iter().all(|value| text.contains(&format!("- {value}")));
    let list = if is_listed { String::new() } else { format!("\n\nKnown values: {}.", shown.join(", ")) };
    let text = format!("{text}{list}\n\n{OTHERS}");
    set.insert("description".to_owned(), json!(text.trim()));
    set.insert(KNOWN.to_owned(), json!(known));
}

/// Removes the marks of closed sets from the document, where `enum` is enough.
pub(super) fn remove_marks(document: &mut Value) {
    match document {
        Value::Object(fields) => {
            fields.remove(CLOSED);
            fields.values_mut().for_each(remove_marks);
        }
        Value::Array(all) => all.iter_mut().for_each(remove_marks),
        _ => {}
    }
}
