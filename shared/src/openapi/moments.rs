//! The timestamps in examples tell one story: a candidate is invited and takes the interview, then a guest watches it.

use serde_json::{Map, Value, json};

/// The default example of a timestamp.
const ANY: &str = "2026-11-08T22:59:00Z";

/// Examples by field name, where they come before or after [`ANY`] in the story. Fields outside the story have examples of their own.
const MOMENTS: [(&str, &str); 18] = [
    ("created_at", "2026-11-02T09:00:00Z"),
    ("invitationdate", "2026-11-02T09:05:00Z"),
    ("obtained_at", "2026-11-08T22:20:00Z"),
    ("started_at", "2026-11-08T22:30:00Z"),
    ("begun_at", "2026-11-08T22:55:00Z"),
    ("record_from", "2026-11-08T22:55:30Z"),
    ("now", "2026-11-08T22:56:00Z"),
    ("saved_at", "2026-11-08T22:56:00Z"),
    ("record_until", "2026-11-08T22:57:30Z"),
    ("ends_at", "2026-11-08T23:15:00Z"),
    ("closes_at", "2026-11-09T00:15:00Z"),
    ("next_run_at", "2026-11-09T02:00:00Z"),
    ("opened_at", "2026-11-09T08:00:00Z"),
    ("last_opened_at", "2026-11-10T16:30:00Z"),
    ("last_delivery_at", "2026-11-10T16:30:00Z"),
    ("expires_at", "2026-11-22T09:00:00Z"),
    ("due_at", "2026-12-08T22:59:00Z"),
    ("deadline", "2026-12-24T17:00:00Z"),
];

/// Sets the examples of timestamps in the document's schemas.
pub(super) fn place_all(schemas: &mut Map<String, Value>) {
    schemas.values_mut().for_each(place);
}

fn place(schema: &mut Value) {
    for (name, property) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
    {
        let moment = MOMENTS.iter().find(|(of, _)| of == name);
        if let Some((_, moment)) = moment.filter(|_| property.get("examples") == Some(&json!([ANY]))) {
            property["examples"] = json!([moment]);
        }
        place(property);
    }
    for part in ["items", "additionalProperties"] {
        schema.get_mut(part).into_iter().for_each(place);
    }
    for choices in ["anyOf", "oneOf", "allOf"] {
        schema.get_mut(choices).and_then(Value::as_array_mut).into_iter().flatten().for_each(place);
    }
}
