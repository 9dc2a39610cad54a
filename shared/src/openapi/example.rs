//! Examples of answers, put together from what schemas say.

use serde_json::{Map, Value, json};

const BASE: &str = "https://interviews.example.com/api/v3/companies/acme/";
/// A company's pages in the web application.
const SUITE: &str = "https://suite.example.com/companies/acme/";
const PROJECT: &str = "projects/01JQ8Z6R7ZP4S3C0V9N2M5K8TD/";
const CANDIDATE: &str = "projects/01JQ8Z6R7ZP4S3C0V9N2M5K8TD/candidates/01JQ8ZB4T1H6W5Y7X3Q9E2G0FA/";
const CUSTOMER: &str = "customers/01JQ8Z2M8F3A6D1S4J7H0K9PME/";
const VIDEO: &str = "videos/01JQ8ZD9C2N5B8V1X4Z7M0K3QW/";

/// A value that fits a schema. `of` is the schema whose property it is, `name` the property.
pub(super) fn of(schema: &Value, schemas: &Map<String, Value>, of_schema: &str, name: &str) -> Value {
    if let Some(target) = schema["$ref"].as_str() {
        let target = target.rsplit('/').next().unwrap_or_default();
        return of(&schemas[target], schemas, target, name);
    }
    if let Some(given) =
        schema["examples"].get(0).or_else(|| schema.get("default")).or_else(|| schema.get("const"))
    {
        return given.clone();
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    if schema["format"] == "uri" {
        return json!(address(of_schema, name));
    }
    if let Some(choices) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return choices.first().map_or(Value::Null, |choice| of(choice, schemas, of_schema, name));
    }
    match kind(schema) {
        "object" => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            // An empty list of examples keeps a property out that few values have.
            let properties = properties.filter(|(_, property)| property["examples"] != json!([]));
            let example =
                |(name, property): (&String, &Value)| (name.clone(), of(property, schemas, of_schema, name));
            properties.map(example).collect::<Map<_, _>>().into()
        }
        "array" => match schema.get("items") {
            Some(items) => json!([of(items, schemas, of_schema, name)]),
            None => json!([]),
        },
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(0)),
        "boolean" => json!(false),
        "null" => Value::Null,
        _ => json!(""),
    }
}

/// The type of a value, without null.
fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    }
    .unwrap_or_default()
}

fn address(schema: &str, name: &str) -> String {
    let own = match (schema, name) {
        (_, "company") | ("Company" | "OwnCompany", _) => "",
        (
            _,
            "created_by" | "submitted_by" | "customer" | "user" | "on_behalf_by" | "evaluator" | "evaluators"
            | "interview_managers" | "reviewers",
        )
        | ("Customer" | "Author", "resource_uri") => CUSTOMER,
        ("Project" | "ListedProject", "interview_suite_url") => return format!("{SUITE}{PROJECT}"),
        (_, "interview_suite_url") => return format!("{SUITE}{CANDIDATE}"),
        (_, "project") | ("Project" | "ListedProject" | "OwnProject" | "FoundProject", "resource_uri") => {
            PROJECT
        }
        (_, "candidate")
        | ("Candidate" | "CandidateWhoAmI" | "FoundCandidate" | "Change", "resource_uri") => CANDIDATE,
        (_, "uri") | ("Video", "resource_uri") => VIDEO,
        (_, "labels") | ("Label", _) => "labels/01JQ8Z9X5G8T2R4W7Y0N3B6VCM/",
        ("NamedToken" | "NewNamedToken", _) => "tokens/01JQ8ZFB3W6Q9E2R5T8Y1N4MVC/",
        ("Share" | "ListOfShare", _) => {
            return format!("{BASE}{CANDIDATE}shares/01JQ8ZEV1S4D7F0G3H6J9K2MPQ/");
        }
        (_, "question") | ("Question", "resource_uri") => {
            return format!("{BASE}{PROJECT}questions/01JQ8ZJX7F2M5T8W1B4E6G9KPQ/");
        }
        (_, "criterion") | ("Criterion", "resource_uri") => {
            return format!("{BASE}{PROJECT}criteria/01JQ8ZKA0H3N6V9Y2C5F8J1MPQ/");
        }
        ("Evaluation", "resource_uri") => {
            return format!("{BASE}{CANDIDATE}evaluations/01JQ8Z2M8F3A6D1S4J7H0K9PME/");
        }
        ("Veto", "resource_uri") => {
            return format!("{BASE}{CANDIDATE}vetos/01JQ8ZMD3K6Q9X2A5D8G1N4RPQ/");
        }
        ("Result", "resource_uri") => {
            return format!("{BASE}{PROJECT}results/01JQ8ZB4T1H6W5Y7X3Q9E2G0FA/");
        }
        ("Role", _) => return format!("{BASE}{PROJECT}roles/01JQ8ZGW6M9K2J5H8F1D4S7APQ/"),
        ("Upload", _) => return format!("{BASE}{CANDIDATE}uploads/01JQ8ZHT4D7S0A3F6G9H2J5KPQ/"),
        ("Webhook" | "NewWebhook", "projects") => PROJECT,
        ("Webhook" | "NewWebhook", _) => "webhooks/01JQ8ZNE6N9T2A5D8G1K4Q7VPQ/",
        ("ProjectStatusResource", _) | (_, "status_update_uri") => return format!("{BASE}{PROJECT}status/"),
        ("Customer", part) => return format!("{BASE}{CUSTOMER}{part}/"),
        ("Project" | "ListedProject", part) => return format!("{BASE}{PROJECT}{part}/"),
        (_, "url") => return "https://uploads.example.com/a-signed-address".to_owned(),
        ("DeliveriesMeta", _) => {
            let place = "before=01JQ8ZPF9R2W5C8F1J4M7S0XPQ&page_size=20";
            return format!("{BASE}webhooks/01JQ8ZNE6N9T2A5D8G1K4Q7VPQ/deliveries/?{place}");
        }
        ("FeedMeta", _) => return format!("{BASE}events/?after=1042&page_size=20"),
        _ => "",
    };
    format!("{BASE}{own}")
}
