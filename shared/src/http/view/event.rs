//! The view of an event.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::history::erasure::ErasureDetails;
use crate::domain::history::{ChangeAuthor, EventType, HistoryEntry};
use crate::domain::id::{CompanyId, CustomerId};
use crate::domain::text::ExternalId;
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::{Timestamp, Uri};

/// A change of a resource.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub struct EventView {
    /// The identifier of the event. No other event ever has it.
    #[schemars(example = &"evt_01JQ8ZB4T1H6W5Y7X3Q9E2G0FA_7_1795293766")]
    id: String,
    /// The type of the event: the first of `types`. Null in the history of a resource for changes without an event.
    #[serde(rename = "type")]
    #[schemars(example = &"candidate.interviewed")]
    main_type: Option<String>,
    /// Everything that has happened, the most telling first. Ignore types that you do not know: more may be added. Empty in the
    /// history of a resource for changes without an event.
    #[schemars(with = "Vec<EventType>", example = &["candidate.interviewed"])]
    types: Vec<String>,
    /// The event's number among the company's events, ascending and without gaps; null until the event is numbered, for changes
    /// without an event, and for pings.
    #[schemars(example = 1042)]
    sequence: Option<u64>,
    /// When the change was requested.
    timestamp: Timestamp,
    /// The URL of the company.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The change.
    data: ChangeView,
    /// The author of the change.
    by: AuthorView,
    /// The URL of the customer who acted on behalf of the author; null for none.
    #[schemars(example = example_uri::CUSTOMER)]
    on_behalf_by: Option<Uri>,
    /// The `X-Request-Id` of the request, or the identifier of the platform's event; null for schedules and operators.
    #[schemars(example = &"5f0f3a52-7d0e-4f5e-9c1e-0d9a8f1b2c3d")]
    request_id: Option<String>,
}

/// The schema of an event in the feed: any event that webhooks get.
#[derive(Debug)]
pub struct FeedEvent;

impl JsonSchema for FeedEvent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FeedEvent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // The generator of the OpenAPI document makes this schema from the types of events.
        json_schema!({ "$ref": "#/components/schemas/FeedEvent" })
    }
}

// `P` are the previous values, `F` the facts. Only the schemas replace them, with the facts of one kind of resource.
/// The change. Beside these fields, it contains the facts of the resource after the change, such as `status` and `deadline`. Once
/// the resource is erased, only these are left: `resource_uri`, `interview_suite_url`, `project`, `project_external_id`, `version`,
/// and the fields of `candidate.erased`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Change")]
pub(crate) struct ChangeView<P = BTreeMap<String, Value>, F = Map<String, Value>> {
    /// The URL of the changed resource, which may be deleted since.
    #[schemars(example = example_uri::CANDIDATE)]
    resource_uri: Uri,
    /// The client's key at the time of this change: of the candidate, also for changes of their interview, or of the project.
    /// Missing if there was none, and once the candidate is erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"4711")]
    external_id: Option<ExternalId>,
    /// The URL of the page where staff watch the candidate's interview and evaluate it. Missing for other resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = example_uri::CANDIDATE_PAGE)]
    interview_suite_url: Option<Uri>,
    /// For a candidate or an interview: the client's key of the project when the event was numbered. Missing if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"REQ-7")]
    project_external_id: Option<ExternalId>,
    /// The URL of the project that the resource is or belongs to; null for none.
    #[schemars(example = example_uri::PROJECT)]
    project: Option<Uri>,
    /// The number of writes of the resource, including this one; 0 for a ping. An erasure has the next number. Writes of a question
    /// or a criterion count as writes of its project.
    #[schemars(example = 7)]
    version: u64,
    /// The names of the changed fields. Empty for new and for deleted resources.
    #[schemars(example = &["interviewdate", "status"])]
    changed: BTreeSet<String>,
    /// The values of the changed facts before the change.
    previous: P,
    /// The URLs of the customers who were added, by field, for example `evaluators` of a project or `shares` of a candidate.
    added: BTreeMap<String, Vec<Uri>>,
    /// The URLs of the customers who were removed, by field.
    removed: BTreeMap<String, Vec<Uri>>,
    #[serde(flatten)]
    erasure: Option<ErasureDetails>,
    #[serde(flatten)]
    facts: F,
}

/// The author of a change, or of a record.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Author")]
pub struct AuthorView {
    /// The kind of author.
    kind: AuthorKind,
    /// The URL of the author, who may be deleted since; null for the service and its operators.
    #[schemars(example = example_uri::CUSTOMER)]
    resource_uri: Option<Uri>,
}

/// The kind of author of a change.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum AuthorKind {
    /// A staff user.
    Customer,
    /// A candidate.
    Candidate,
    /// A service with a named token.
    NamedToken,
    /// The service itself, for example when a deadline has passed.
    System,
    /// An operator of the service.
    Operator,
}

impl EventView {
    /// The view of an entry of a history.
    pub fn new(entry: &HistoryEntry, references: ReferenceUris<'_>) -> Self {
        let HistoryEntry { change, origin, .. } = entry;
        let company = &change.company;
        let details = &change.details;
        // The question's URL is shown among the facts. Histories store the identifier, because URLs may change.
        let question = change.resource.project().zip(details.question).map(|(project, question)| {
            let address = references.uri_in_project(company, project, question);
            ("question".to_owned(), Value::from(address.as_str()))
        });
        Self {
            id: entry.id().to_string(),
            main_type: change.types.first().cloned(),
            types: change.types.clone(),
            sequence: entry.sequence,
            timestamp: Timestamp(origin.at),
            company: references.company(company),
            data: ChangeView {
                resource_uri: references.resource(company, change.resource),
                external_id: change.external_id.clone(),
                interview_suite_url: references.page_of_resource(company, change.resource),
                project_external_id: change.project_external_id.clone(),
                project: change.resource.project().map(|project| references.uri(company, project)),
                version: entry.version_after,
                changed: details.changed.clone(),
                previous: details.previous.clone(),
                added: uris_by_field(&details.added, company, references),
                removed: uris_by_field(&details.removed, company, references),
                erasure: details.erasure,
                facts: details.facts.clone().into_iter().chain(question).collect(),
            },
            by: AuthorView::new(company, origin.by, references),
            on_behalf_by: origin.on_behalf_by.map(|by| references.uri(company, by)),
            request_id: origin.request.clone(),
        }
    }
}

fn uris_by_field(
    fields: &BTreeMap<String, BTreeSet<CustomerId>>,
    company: &CompanyId,
    references: ReferenceUris<'_>,
) -> BTreeMap<String, Vec<Uri>> {
    fields
        .iter()
        .map(|(field, all)| {
            (field.clone(), all.iter().map(|customer| references.uri(company, *customer)).collect())
        })
        .collect()
}

impl AuthorView {
    /// The view of an author.
    pub fn new(company: &CompanyId, author: ChangeAuthor, references: ReferenceUris<'_>) -> Self {
        let (kind, resource_uri) = match author {
            ChangeAuthor::Customer { customer } => {
                (AuthorKind::Customer, Some(references.uri(company, customer)))
            }
            ChangeAuthor::Candidate { project, candidate } => {
                (AuthorKind::Candidate, Some(references.uri_in_project(company, project, candidate)))
            }
            ChangeAuthor::NamedToken { token } => {
                (AuthorKind::NamedToken, Some(references.uri(company, token)))
            }
            ChangeAuthor::System => (AuthorKind::System, None),
            ChangeAuthor::Operator => (AuthorKind::Operator, None),
        };
        Self { kind, resource_uri }
    }
}
