//! Views of webhooks and their deliveries.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::Admitted;
use shared::domain::id::WebhookId;
use shared::domain::webhook::{
    DeliveryAttempt, DeliveryCursor, DeliveryOutcome, DisabledReason, MAX_STALLED, SigningSecret, Webhook,
};
use shared::http::QueryParameters;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Identifier, Timestamp, Uri};
use shared::store::{DeliveryAttempts, EventSequence};

/// A webhook, without its secret.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "Webhook")]
pub(crate) struct WebhookView {
    id: Identifier<WebhookId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::WEBHOOK)]
    resource_uri: Uri,
    /// The company whose events are sent.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The URL that receives events by POST: `https`, a public host name, port 443 or one from 1024, at most 2,048
    /// characters.
    #[schemars(example = &"https://hooks.example.com/interviews", url)]
    url: String,
    /// The purpose of the webhook, in the client's words.
    #[schemars(example = &"Applicant tracking")]
    description: String,
    /// The types of events to send: names, or prefixes such as `candidate.*`; empty for all.
    #[schemars(example = &["candidate.interviewed"])]
    types: Vec<String>,
    /// The projects whose events are sent; empty for all events, including those without a project.
    #[schemars(example = [example_uri::PROJECT])]
    projects: Vec<Uri>,
    /// Whether `types` or `projects` exclude `candidate.deleted` of some candidates. A system that stores candidates'
    /// data needs all of these events, to delete its copies.
    #[schemars(example = false)]
    misses_erasures: bool,
    /// Whether events are sent.
    #[schemars(example = true)]
    is_enabled: bool,
    /// Why the webhook is disabled; null while it is enabled.
    #[schemars(example = ())]
    disabled_reason: Option<DisabledReason>,
    /// The state of deliveries.
    status: WebhookStatus,
    /// When the first delivery failed since the last accepted one; null if none has.
    #[schemars(example = ())]
    failing_since: Option<Timestamp>,
    /// The number (`sequence`) of the last event that deliveries have passed.
    #[schemars(example = 1042)]
    after: u64,
    /// The number of later events, including those of other types and projects.
    #[schemars(example = 0)]
    behind: u64,
    /// The number of resources with events that wait for an earlier one to be accepted.
    #[schemars(example = 0)]
    waiting_resources: u32,
    /// When an event was last accepted; null for none.
    last_delivery_at: Option<Timestamp>,
    /// When deliveries stop being signed with the former secret too; null if they are not.
    #[schemars(example = ())]
    former_secret_until: Option<Timestamp>,
    /// When the resource was created.
    created_at: Timestamp,
    /// The customer or named token that created the webhook; null if an earlier release did.
    #[schemars(example = example_uri::TOKEN)]
    created_by: Option<Uri>,
}

/// How the deliveries to a webhook are going.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, extend("x-closed-set" = true))]
pub(crate) enum WebhookStatus {
    /// Events are sent as they occur.
    Ok,
    /// The last delivery failed and none was accepted since; or so many resources wait that no others are sent.
    Failing,
    /// Nothing is sent.
    Disabled,
}

impl WebhookView {
    /// The view of a webhook at `now`. `sequence` is that of its company.
    pub(crate) fn new(
        webhook: &Webhook,
        cursor: &DeliveryCursor,
        sequence: &EventSequence,
        references: ReferenceUris<'_>,
        now: DateTime<Utc>,
    ) -> Self {
        let company = &webhook.company;
        let former = webhook.former_secret.as_ref().filter(|former| former.at(now).is_some());
        // A webhook that the service has disabled still shows `failing_since`; one that a client has disabled is not
        // failing.
        let is_by_client = webhook.disabled_reason == Some(DisabledReason::Request);
        let failing_since = cursor.health.failing_since.filter(|_| !is_by_client);
        Self {
            id: Identifier(webhook.id),
            resource_uri: references.uri(company, webhook.id),
            company: references.company(company),
            url: webhook.url.as_str().to_owned(),
            description: webhook.description.to_string(),
            types: webhook.types.iter().map(|types| types.as_str().to_owned()).collect(),
            projects: webhook.projects.iter().map(|project| references.uri(company, *project)).collect(),
            misses_erasures: webhook.misses_erasures(),
            is_enabled: webhook.is_enabled(),
            disabled_reason: webhook.why_disabled(),
            status: if !webhook.is_enabled() {
                WebhookStatus::Disabled
            } else if failing_since.is_some() || cursor.stalled_count as usize >= MAX_STALLED {
                WebhookStatus::Failing
            } else {
                WebhookStatus::Ok
            },
            failing_since: failing_since.map(Timestamp),
            after: cursor.after,
            behind: cursor.behind(sequence.last),
            waiting_resources: cursor.stalled_count,
            last_delivery_at: cursor.health.last_accepted_at.map(Timestamp),
            former_secret_until: former.map(|former| Timestamp(former.until)),
            created_at: Timestamp(webhook.created_at),
            created_by: webhook.created_by.map(|by| references.creator(company, by)),
        }
    }
}

/// The view of the requested webhook after a change.
pub(crate) fn view<A>(
    access: &Admitted<Webhook, A>,
    webhook: &Webhook,
    cursor: &DeliveryCursor,
) -> WebhookView {
    WebhookView::new(webhook, cursor, &access.target.sequence, access.references(), access.now)
}

/// A webhook with its new secret.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NewWebhook")]
pub(crate) struct NewWebhookView {
    #[serde(flatten)]
    webhook: WebhookView,
    /// The key that signs deliveries, in the format of libraries for Standard Webhooks. It is returned only once, and
    /// not to a retry.
    #[schemars(example = &"whsec_ followed by 44 characters")]
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl NewWebhookView {
    /// The view of a webhook with its new secret.
    pub(crate) fn new(view: WebhookView, secret: &SigningSecret) -> Self {
        Self { webhook: view, secret: Some(secret.reveal()) }
    }
}

/// The answer to a request that queues events for a webhook.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QueuedDelivery")]
pub(crate) struct QueuedView {
    /// The identifier of the event. Its delivery is listed under this identifier after the first attempt.
    #[schemars(example = &"evt_01JQ8ZB4T1H6W5Y7X3Q9E2G0FA_7_1795293766")]
    pub(crate) event: String,
}

/// Attempts to deliver events, the latest first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Deliveries")]
pub(crate) struct DeliveriesView {
    /// The position in the list.
    meta: DeliveriesMeta,
    /// The attempts.
    objects: Vec<DeliveryView>,
}

/// The position in a list of deliveries.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeliveriesMeta")]
struct DeliveriesMeta {
    /// The URL of the next page, which may be empty; null on the last one.
    #[schemars(example = example_uri::DELIVERIES)]
    next: Option<Uri>,
}

/// An attempt to deliver an event.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Delivery")]
struct DeliveryView {
    /// The identifier of the event; null for events that expired before they could be sent.
    #[schemars(example = &"evt_01JQ8ZB4T1H6W5Y7X3Q9E2G0FA_7_1795293766")]
    event: Option<String>,
    /// The number of the attempt, from 1: for this event or, while the endpoint may be down, since the last accepted
    /// event.
    #[schemars(example = 1)]
    attempt: u32,
    /// The outcome.
    outcome: DeliveryOutcome,
    /// The HTTP status of the response; null without a response.
    #[schemars(example = 204)]
    status_code: Option<u16>,
    /// Why there was no response, in one word; null if there was one.
    #[schemars(example = ())]
    error: Option<String>,
    /// The duration of the attempt.
    #[schemars(example = 87)]
    milliseconds: u32,
    /// The first 512 bytes of the response body if the attempt failed; null otherwise.
    #[schemars(example = ())]
    response: Option<String>,
    /// When the attempt began.
    at: Timestamp,
    /// When the event will be sent again; null if it will not.
    #[schemars(example = ())]
    next_try_at: Option<Timestamp>,
}

impl DeliveriesView {
    /// The view of a page of attempts.
    pub(crate) fn new(attempts: &DeliveryAttempts, page_size: u32, query: &QueryParameters) -> Self {
        let next = attempts
            .next
            .map(|last| query.link_to([("before", last.to_string()), ("page_size", page_size.to_string())]));
        let objects = attempts.rows.iter().map(|attempt| DeliveryView::new(attempt)).collect();
        Self { meta: DeliveriesMeta { next }, objects }
    }
}

impl DeliveryView {
    fn new(attempt: &DeliveryAttempt) -> Self {
        Self {
            event: attempt.event.clone(),
            attempt: attempt.attempt,
            outcome: attempt.outcome,
            status_code: attempt.status_code,
            error: attempt.error.clone(),
            milliseconds: attempt.milliseconds,
            response: attempt.response.clone(),
            at: Timestamp(attempt.at),
            next_try_at: attempt.next_try_at.map(Timestamp),
        }
    }
}
