//! The OpenAPI document, as the code makes it and as it is committed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use shared::domain::history::EventType;
use tests::document::written;

#[test]
fn every_route_is_described_and_the_committed_document_is_current() {
    let written = written().unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    // Not assert_eq: nobody reads two documents of this length.
    assert!(
        written == docs::DOCUMENT,
        "the document has changed: cargo build --workspace --examples && target/debug/examples/document > functions/docs/openapi.json"
    );
}

#[test]
fn the_document_describes_a_request_to_webhooks_for_every_type_of_event() {
    let document: Value = serde_json::from_str(&written().unwrap()).unwrap();
    let described: BTreeSet<&str> =
        document["webhooks"].as_object().unwrap().keys().map(String::as_str).collect();
    let types: BTreeSet<&str> = EventType::ALL.into_iter().map(EventType::as_str).collect();
    assert_eq!(described, types);
    for (name, webhook) in document["webhooks"].as_object().unwrap() {
        let operation = &webhook["post"];
        assert!(operation["description"].as_str().is_some_and(|text| text.len() > 60), "{name}");
        let schema = operation.pointer("/requestBody/content/application~1json/schema/$ref").unwrap();
        let schema = document.pointer(schema.as_str().unwrap().strip_prefix('#').unwrap()).unwrap();
        assert_eq!(schema["properties"]["types"]["contains"], json!({ "const": name }));
    }
}

/// The schemas of what has a URL and no identifier: single resources, and what names a resource elsewhere.
const WITHOUT_ID: [&str; 13] = [
    "Author",
    "CandidateData",
    "Change",
    "ChangedSignIn",
    "EndedKey",
    "EndedKey.company",
    "ExternalIdTaken",
    "Interview",
    "ProjectRetention",
    "ProjectStatusResource",
    "Retention",
    "SignIn",
    "SignInLink",
];

/// Notes where a schema has a URL of its own and no identifier that ends it.
fn note_without_id(place: &str, schema: &Value, found: &mut BTreeSet<String>) {
    if let Some(uri) = schema["properties"].get("resource_uri") {
        let segment =
            uri["examples"][0].as_str().unwrap_or_default().trim_end_matches('/').rsplit('/').next();
        let id = &schema["properties"]["id"];
        let is_required = |name: &str| schema["required"].as_array().unwrap().contains(&json!(name));
        if id["examples"] != json!([segment]) || is_required("id") != is_required("resource_uri") {
            found.insert(place.to_owned());
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        note_without_id(&format!("{place}.{name}"), property, found);
        note_without_id(&format!("{place}.{name}[]"), &property["items"], found);
    }
}

#[test]
fn every_resource_with_an_identifier_shows_it_beside_its_url() {
    let document: Value = serde_json::from_str(&written().unwrap()).unwrap();
    let mut found = BTreeSet::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        note_without_id(name, schema, &mut found);
    }
    // The facts that events tell of each kind of resource.
    found.retain(|name| name == "Change" || !name.ends_with("Change"));
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), WITHOUT_ID);
}

/// Names of moments, in the order in which they come where several are in one object.
const STORY: [&str; 24] = [
    "creationdate",
    "activationdate",
    "closedate",
    "created_at",
    "requested_at",
    "invitationdate",
    "obtained_at",
    "starts_at",
    "started_at",
    "begun_at",
    "record_from",
    "now",
    "record_until",
    "finished_at",
    "uploaded_at",
    "completed_at",
    "ends_at",
    "closes_at",
    "opened_at",
    "last_opened_at",
    "last_delivery_at",
    "expires_at",
    "due_at",
    "deadline",
];

/// Asserts that the moments in each object of an example follow one another.
fn assert_story(place: &str, example: &Value) {
    let told = STORY.iter().filter_map(|name| Some((name, example.get(name)?.as_str()?)));
    let told: Vec<_> = told.filter(|(_, moment)| moment.starts_with("20")).collect();
    assert!(told.is_sorted_by(|(_, one), (_, next)| one < next), "{place}: {told:?}");
    let inner = example.as_object().into_iter().flat_map(|object| object.values());
    inner.chain(example.as_array().into_iter().flatten()).for_each(|inner| assert_story(place, inner));
}

#[test]
fn the_moments_in_examples_follow_one_another() {
    let document: Value = serde_json::from_str(&written().unwrap()).unwrap();
    for operation in operations(&document) {
        let name = operation["operationId"].as_str().unwrap();
        for response in operation["responses"].as_object().unwrap().values() {
            if let Some(example) = response.pointer("/content/application~1json/example") {
                assert_story(name, example);
            }
        }
    }
    for (name, webhook) in document["webhooks"].as_object().unwrap() {
        let example = webhook.pointer("/post/requestBody/content/application~1json/example");
        assert_story(name, example.unwrap_or(&Value::Null));
    }
}

/// Calls `look` with each property of a schema, and where it is.
fn each_property(place: &str, schema: &Value, look: &mut impl FnMut(String, &Value)) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        look(place.clone(), property);
        each_property(&place, property, look);
    }
    if let Some(items) = schema.get("items") {
        each_property(place, items, look);
    }
}

/// The named schemas of answers and events.
fn shown_schemas(document: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let schemas = document["components"]["schemas"].as_object().unwrap().iter();
    schemas.filter(|(name, _)| !name.contains("Body"))
}

/// All operations of the document.
fn operations(document: &Value) -> impl Iterator<Item = &Value> {
    document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values())
}

/// The description of a field comes from that of its type, or of a field of the same name elsewhere; one that was meant for
/// another field tells of other values.
#[test]
fn fields_with_the_same_description_have_the_same_values() {
    let document: Value = serde_json::from_str(&written().unwrap()).unwrap();
    let mut described: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    let mut note = |place: String, property: &Value| {
        let values = property["enum"].as_array().or(property["x-extensible-enum"].as_array());
        let (Some(text), Some(values)) = (property["description"].as_str(), values) else { return };
        // A change takes null and an empty string for what an answer shows as one of them.
        let is_some = |value: &&Value| !value.is_null() && *value != "";
        let values = Value::from_iter(values.iter().filter(is_some).cloned());
        // A list of the values follows after an empty line.
        let text = text.split("\n\n").next().unwrap().to_owned();
        described.entry(text).or_default().entry(values.to_string()).or_default().push(place);
    };
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        each_property(name, schema, &mut note);
    }
    described.retain(|_, values| values.len() > 1);
    assert!(described.is_empty(), "{described:#?}");
}

/// The sets of values that are closed for as long as `v3` lasts: states of things, and rights in a company and a project. Everything
/// else may grow.
const CLOSED: [&str; 12] = [
    r#"["10-incomplete","40-running","60-closed"]"#,
    r#"["awaiting-upload","pending","processing","successful","failed"]"#,
    r#"["awaiting-upload","successful","failed"]"#,
    r#"["definitely_no","no","yes","strong_yes"]"#,
    r#"["deliverable","bounced","complained",""]"#,
    r#"["hiring-manager","recruiter","admin","owner"]"#,
    r#"["interview_manager","evaluator","reviewer"]"#,
    r#"["invited","confirmed"]"#,
    r#"["new","invited","confirmed","interviewing","interviewed","expired","aborted","skipped"]"#,
    r#"["ok","failing","disabled"]"#,
    r#"["pending","partial","completed"]"#,
    r#"["pending","running","successful","failed","expired"]"#,
];

/// Notes each closed set of a schema, and checks its open ones.
fn note_sets(place: &str, schema: &Value, closed: &mut BTreeSet<String>) {
    if let Some(values) = schema["enum"].as_array() {
        closed.insert(Value::from_iter(values.iter().filter(|value| !value.is_null()).cloned()).to_string());
    }
    if let Some(known) = schema["x-extensible-enum"].as_array() {
        let text = schema["description"].as_str().unwrap();
        let is_listed =
            |value: &Value| value == "" || text.contains(&format!("`{}`", value.as_str().unwrap()));
        assert!(
            known.iter().all(is_listed) && text.contains("treat one that you do not know"),
            "{place}: {text}"
        );
    }
    for (name, inner) in schema.as_object().into_iter().flatten() {
        note_sets(&format!("{place}.{name}"), inner, closed);
    }
    for inner in schema.as_array().into_iter().flatten() {
        note_sets(place, inner, closed);
    }
}

#[test]
fn answers_have_no_closed_sets_but_those_that_never_grow() {
    let document: Value = serde_json::from_str(&written().unwrap()).unwrap();
    let mut closed = BTreeSet::new();
    for (name, schema) in shown_schemas(&document) {
        note_sets(name, schema, &mut closed);
    }
    for operation in operations(&document) {
        note_sets(operation["operationId"].as_str().unwrap(), &operation["responses"], &mut closed);
    }
    assert_eq!(closed.iter().map(String::as_str).collect::<Vec<_>>(), CLOSED);
}

/// Notes values of an example that cannot be true at once.
fn contradictions(place: &str, example: &Value, problems: &mut Vec<String>) {
    const COMPANY: &str = "https://interviews.example.com/api/v3/companies/acme/";
    for (index, one) in example.as_array().into_iter().flatten().enumerate() {
        contradictions(&format!("{place}[{index}]"), one, problems);
    }
    let Some(fields) = example.as_object() else { return };
    let later: &[&str] = match example["status"].as_str() {
        Some("new") => &["confirmationdate", "interviewdate", "invitationdate"],
        Some("invited") => &["confirmationdate", "interviewdate"],
        Some("awaiting-upload") => &["error"],
        _ => &[],
    };
    for date in later.iter().filter(|date| !example[**date].is_null()) {
        problems.push(format!("{place}.{date} is set before its time"));
    }
    if let Some(role) = example["role"].as_str().filter(|role| fields.contains_key(*role)) {
        let is_held = |name: &&str| example[*name] == true;
        let held: Vec<&str> =
            ["evaluator", "interview_manager", "reviewer"].into_iter().filter(is_held).collect();
        if held != [role] {
            problems.push(format!("{place}.role is {role}, and the flags say {held:?}"));
        }
    }
    if let Some(rows) = example["objects"].as_array()
        && let Some(total) = example["meta"]["total_count"].as_u64()
        && (total < rows.len() as u64 || !example["meta"]["next"].is_null())
    {
        problems.push(format!("{place}.meta describes another list"));
    }
    for (name, value) in fields {
        // Only companies have a time zone.
        let is_company = name == "company" || fields.contains_key("timezone");
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        if !is_company && values.iter().any(|value| value == COMPANY) {
            problems.push(format!("{place}.{name} is the URL of a company"));
        }
        contradictions(&format!("{place}.{name}"), value, problems);
    }
}

#[test]
fn examples_of_answers_do_not_contradict_themselves() {
    let document: Value = serde_json::from_str(&written().unwrap()).unwrap();
    let mut problems = Vec::new();
    for operation in operations(&document) {
        for response in operation["responses"].as_object().into_iter().flat_map(|all| all.values()) {
            let example = &response["content"]["application/json"]["example"];
            contradictions(operation["operationId"].as_str().unwrap(), example, &mut problems);
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The values without a type: a partner's own data, and the facts of an event, which differ by type.
const UNTYPED: [&str; 8] = [
    "Candidate.partner_data.*",
    "CandidateData.partner_data.*",
    "CandidateWhoAmI.partner_data.*",
    "Change.*",
    "Change.previous.*",
    "ListedProject.partner_data.*",
    "NewProject.partner_data.*",
    "Project.partner_data.*",
];

/// Notes each value in a schema that has no type, of which clients make `unknown` or `any`.
fn note_untyped(place: &str, schema: &Value, untyped: &mut BTreeSet<String>) {
    let choices = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|choice| schema[choice].as_array());
    let choices: Vec<&Value> = choices.flatten().collect();
    let has_type = ["type", "enum", "const", "$ref"].iter().any(|keyword| schema.get(keyword).is_some());
    if !has_type && choices.is_empty() {
        untyped.insert(place.to_owned());
    }
    for choice in choices {
        note_untyped(place, choice, untyped);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        note_untyped(&format!("{place}.{name}"), property, untyped);
    }
    match (&schema["additionalProperties"], schema["type"] == "object" && schema.get("properties").is_none())
    {
        (Value::Object(_), _) => {
            note_untyped(&format!("{place}.*"), &schema["additionalProperties"], untyped);
        }
        (Value::Bool(true), _) | (Value::Null, true) => drop(untyped.insert(format!("{place}.*"))),
        _ => {}
    }
    if schema["type"] == "array" {
        note_untyped(&format!("{place}[]"), &schema["items"], untyped);
    }
}

#[test]
fn every_value_that_is_shown_has_a_type() {
    let document: Value = serde_json::from_str(&written().unwrap()).unwrap();
    let mut untyped = BTreeSet::new();
    for (name, schema) in shown_schemas(&document) {
        note_untyped(name, schema, &mut untyped);
    }
    for operation in operations(&document) {
        let id = operation["operationId"].as_str().unwrap();
        let responses = operation["responses"].as_object().unwrap().values();
        for content in responses.filter_map(|response| response["content"].as_object()).flatten() {
            // The document itself, whose form OpenAPI prescribes.
            if id != "getThisDocument" {
                note_untyped(id, &content.1["schema"], &mut untyped);
            }
        }
    }
    assert_eq!(untyped.iter().map(String::as_str).collect::<Vec<_>>(), UNTYPED);
}
