//! A schema and an example for each type of event.

mod candidates;
mod resources;
mod sample;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::names::capitalise;
use crate::domain::answers::InterviewFacts;
use crate::domain::candidate::CandidateFacts;
use crate::domain::history::{EventType, HistoryEntry, NoFacts, ResourceRef};
use crate::domain::media::video::VideoFacts;
use crate::domain::project::ProjectFacts;
use crate::domain::retention::RetentionFacts;
use crate::domain::retention::run::RunFacts;
use crate::domain::staff::customer::CustomerFacts;
use crate::domain::staff::named_token::TokenFacts;
use crate::domain::staff::sign_in::SignInFacts;
use crate::domain::webhook::WebhookFacts;
use crate::http::example_uri;
use crate::http::schema::{generator, with_definitions};
use crate::http::view::{ChangeView, EventView};

/// The name of the schema for any event of the feed.
const FEED_EVENT: &str = "FeedEvent";

/// A type of event, with the schema and an example of the body that webhooks get.
pub(super) struct EventTypeDoc {
    pub(super) name: &'static str,
    pub(super) text: String,
    /// The name of the schema.
    pub(super) schema: String,
    pub(super) example: Value,
}

/// All types of events and their schemas. The error says for which type a sample is missing or wrong.
pub(super) fn describe() -> Result<(Vec<EventTypeDoc>, Map<String, Value>), String> {
    let samples: Vec<_> = candidates::samples()?.into_iter().chain(resources::samples()?).collect();
    let ping = HistoryEntry::ping(
        sample::company()?.id,
        sample::id(example_uri::WEBHOOK)?,
        sample::at("2026-11-08T22:59:00Z")?,
    );
    let (event, mut schemas) = with_definitions::<EventView>();
    let mut described = Vec::new();
    for (of, text) in EventType::ALL.into_iter().zip(texts()) {
        let name = of.as_str();
        let (resource, example) = if of == EventType::WebhookPing {
            (ping.change.resource, sample::shown(&ping)?)
        } else {
            // Prefer a sample whose main type is this one.
            let sample = samples.iter().filter_map(|sample| Some((sample.place_of(name)?, sample)));
            let (_, sample) =
                sample.min_by_key(|(place, _)| *place).ok_or_else(|| format!("no sample of {name}"))?;
            (sample.resource(), sample.body()?)
        };
        let change = change_schema(of, resource, &mut schemas);
        let schema = format!("{}Event", capitalise(name));
        schemas.insert(schema.clone(), event_schema(&event, of, &text, change));
        described.push(EventTypeDoc { name, text, schema, example });
    }
    // `Event` first: clients that use the first matching schema then use this general one, which types of later releases match too.
    let all = ["Event"].into_iter().chain(described.iter().map(|of| of.schema.as_str()));
    let all = all.map(|name| json!({ "$ref": format!("#/components/schemas/{name}") }));
    let text = "An event of the feed: one of those that webhooks get, or of a type that this document does not know. Look for yours among its `types`.";
    schemas.insert(FEED_EVENT.to_owned(), json!({ "description": text, "anyOf": all.collect::<Vec<_>>() }));
    Ok((described, schemas))
}

/// The `operationId` of the request that delivers an event: `onCandidateInterviewed` for `candidate.interviewed`.
pub(super) fn operation_id(name: &str) -> String {
    format!("on{}", capitalise(name))
}

/// The descriptions of the types, in the order of their declaration.
fn texts() -> Vec<String> {
    // Do not inline the schema: that would merge the descriptions of the choices into one text.
    let choices = EventType::json_schema(&mut generator()).to_value();
    let choices = choices["oneOf"].as_array().into_iter().flatten();
    choices.map(|choice| choice["description"].as_str().unwrap_or_default().to_owned()).collect()
}

/// The schema of an event of this type: the general schema, narrowed to the type.
fn event_schema(event: &Value, of: EventType, text: &str, change: String) -> Value {
    let name = of.as_str();
    let mut schema = event.clone();
    schema["description"] = json!(text);
    let properties = &mut schema["properties"];
    properties["type"] = json!({
        "type": "string",
        "description": format!("The type of the event: the first of `types`, which need not be `{name}`."),
        "examples": [name],
    });
    properties["types"] = json!({
        "type": "array", "items": { "type": "string" }, "contains": { "const": name },
        "description": format!("Everything that has happened, `{name}` among it, the most telling first. Ignore types that you do not know: more may be added."),
        "examples": [[name]],
    });
    // Of all events that webhooks get, only a ping has no number.
    if of == EventType::WebhookPing {
        properties["sequence"] = json!({ "type": "null", "description": "A ping has no number." });
    } else {
        properties["sequence"]["type"] = json!("integer");
    }
    properties["data"] =
        json!({ "$ref": format!("#/components/schemas/{change}"), "description": "The change." });
    schema
}

/// Adds the schema of `data` in events of this type about this kind of resource. Returns the schema's name.
fn change_schema(of: EventType, resource: ResourceRef, schemas: &mut Map<String, Value>) -> String {
    let (name, (mut schema, definitions)) = match resource {
        _ if of == EventType::CandidateErased => ("Erasure", typed::<NoFacts>()),
        _ if of == EventType::RetentionCompleted => ("RetentionRun", typed::<RetentionFacts>()),
        ResourceRef::Candidate { .. } => ("Candidate", typed::<CandidateFacts>()),
        ResourceRef::Interview { .. } => ("Interview", typed::<InterviewFacts>()),
        ResourceRef::Project { .. } => ("Project", typed::<ProjectFacts>()),
        ResourceRef::Customer { .. } => ("Customer", typed::<CustomerFacts>()),
        ResourceRef::Video { .. } => ("Video", typed::<VideoFacts>()),
        ResourceRef::Token { .. } => ("Token", typed::<TokenFacts>()),
        ResourceRef::Retention => ("Retention", typed::<RetentionFacts>()),
        ResourceRef::SignIn => ("SignIn", typed::<SignInFacts>()),
        ResourceRef::Webhook { .. } => ("Webhook", typed::<WebhookFacts>()),
        ResourceRef::Label { .. } => ("Label", typed::<NoFacts>()),
        ResourceRef::Company => ("Company", typed::<NoFacts>()),
        ResourceRef::Export { .. } => ("Export", typed::<NoFacts>()),
    };
    let name = format!("{name}Change");
    schema["description"] = json!(
        "The change. The facts of the resource after it stand beside these fields; a deletion tells none, and an erasure removes them."
    );
    let foreign = foreign_fields(of, resource);
    let properties = schema["properties"].as_object_mut().into_iter();
    properties.for_each(|all| all.retain(|field, _| !foreign.contains(&field.as_str())));
    match of {
        EventType::CandidateErased => {
            let required = schema["required"].as_array_mut().into_iter();
            required.for_each(|all| all.extend(["reason", "erased"].map(Value::from)));
        }
        EventType::RetentionCompleted => {
            let (run, _) = with_definitions::<RunFacts>();
            schema["properties"]["last_run"] = run["properties"]["last_run"].clone();
        }
        EventType::AnswerConverted | EventType::AnswerFailed | EventType::AnswerCaptioned => {
            schema["properties"]["question"] = json!({
                "type": "string", "format": "uri", "examples": [example_uri::QUESTION],
                "description": "The question whose answer was recorded.",
            });
        }
        _ => {}
    }
    schemas.extend(definitions);
    schemas.insert(name.clone(), schema);
    name
}

/// The schema of changes to resources with the facts `F`, and the schemas that it refers to.
fn typed<F: JsonSchema>() -> (Value, Map<String, Value>) {
    with_definitions::<ChangeView<F, F>>()
}

/// The fields that changes of this kind of resource never have.
fn foreign_fields(of: EventType, resource: ResourceRef) -> &'static [&'static str] {
    const ALL: [&str; 5] = ["reason", "erased", "interview_suite_url", "project_external_id", "external_id"];
    match resource {
        _ if of == EventType::CandidateErased => &ALL[4..],
        ResourceRef::Candidate { .. } | ResourceRef::Interview { .. } => &ALL[..2],
        ResourceRef::Project { .. } => &ALL[..4],
        _ => &ALL,
    }
}
