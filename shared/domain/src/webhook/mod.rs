//! Webhooks: the endpoints that companies have their events sent to.

mod attempt;
mod cursor;
mod health;
mod next_task;
mod response;
mod secret;
mod signature;
mod stalled;

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

pub use attempt::{AttemptFilter, DeliveryAttempt, DeliveryOutcome};
pub use cursor::{DeliveryCursor, DeliveryRequest, MAX_QUEUED, QUEUE_FULL};
pub use health::{EndpointHealth, HealthJudgement};
pub use next_task::{DeliveryTask, MAX_STALLED, next_task};
pub use response::{DeliveryVerdict, EndpointResponse};
pub use secret::{FormerSecret, SigningSecret};
pub use signature::signature;
pub use stalled::StalledResource;

use super::Refusal;
use super::account::Creator;
use super::history::{
    EventType, FieldChanges, FieldValue, HasHistory, HistoryEntry, ResourceRef, TypeFilter,
    events_that_apply, facts, private,
};
use super::id::{CompanyId, ProjectId, WebhookId};
use super::names::named;
use super::outgoing::OutgoingUrl;
use super::text::TextLine;
use crate::secret::Sealed;

/// The maximum number of a company's webhooks.
pub const MAX_WEBHOOKS: u32 = 20;
/// The company has the maximum number of webhooks.
pub const TOO_MANY_WEBHOOKS: Refusal =
    Refusal { code: "too_many_webhooks", detail: "A company may have 20 webhooks. Delete one first." };
/// The webhook came with an archive, without its secret.
pub const NO_SECRET: Refusal = Refusal {
    code: "no_secret",
    detail: "This webhook came with an archive, without its secret. Ask for a new one first: POST to its `secret/`.",
};
/// The maximum number of types of one webhook.
pub const MAX_TYPES: usize = 50;
/// The maximum number of projects of one webhook.
pub const MAX_PROJECTS: usize = 50;

named! {
    /// Why a webhook is disabled.
    pub enum DisabledReason {
        /// A client has disabled the webhook.
        Request = "request",
        /// The webhook has answered 410 Gone.
        Gone = "gone",
        /// The webhook has accepted no event for five days.
        Failing = "failing",
        /// The webhook was imported with an archive of the company, which contains no secrets. It needs a new secret.
        NoSecret = "no_secret",
    }
}

named! {
    /// A mail to the owners of a company about one of its webhooks.
    pub enum WebhookMail {
        /// Every delivery of the last day has failed.
        Failing = "webhook-failing",
        /// The webhook was disabled: every delivery of five days has failed, or its server has answered 410.
        Disabled = "webhook-disabled",
    }
}

/// An endpoint, and the events that are sent there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub id: WebhookId,
    /// The company whose events are sent.
    pub company: CompanyId,
    /// The endpoint's URL.
    pub url: OutgoingUrl,
    /// The purpose, in the client's words.
    pub description: TextLine<200>,
    /// The types of events; empty for all.
    pub types: BTreeSet<TypeFilter>,
    /// The projects whose events are sent; empty for all, and for events that belong to none.
    pub projects: BTreeSet<ProjectId>,
    /// Why a client or the service has disabled the webhook; `None` if neither has. [`why_disabled`](Self::why_disabled) also
    /// considers the secret.
    pub disabled_reason: Option<DisabledReason>,
    /// The key that signs deliveries, sealed; `None` after an import, until a client requests a new one.
    pub secret: Option<Sealed>,
    /// The key that `secret` has replaced.
    pub former_secret: Option<FormerSecret>,
    pub created_at: DateTime<Utc>,
    /// `None` for a webhook of an earlier release.
    pub created_by: Option<Creator>,
}

impl Webhook {
    /// A webhook that is sent all events.
    pub fn new(
        id: WebhookId,
        company: CompanyId,
        url: OutgoingUrl,
        secret: Sealed,
        by: Option<Creator>,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            id,
            company,
            url,
            description: TextLine::default(),
            types: BTreeSet::new(),
            projects: BTreeSet::new(),
            disabled_reason: None,
            secret: Some(secret),
            former_secret: None,
            created_at: now,
            created_by: by,
        }
    }

    /// Whether the webhook gets only events of these projects.
    pub fn is_within(&self, projects: &BTreeSet<ProjectId>) -> bool {
        !self.projects.is_empty() && self.projects.is_subset(projects)
    }

    /// The host and the description, by which people recognise the webhook.
    pub fn name(&self) -> String {
        match (self.url.authority(), self.description.as_str()) {
            (host, "") => host.to_owned(),
            (host, description) => format!("{host} ({description})"),
        }
    }

    /// Whether events are sent to the webhook.
    pub fn is_enabled(&self) -> bool {
        self.why_disabled().is_none()
    }

    /// Why no events are sent; `None` while the webhook is enabled.
    pub fn why_disabled(&self) -> Option<DisabledReason> {
        self.disabled_reason.or(self.secret.is_none().then_some(DisabledReason::NoSecret))
    }

    /// Whether `entry` is an event that the webhook gets.
    pub fn wants(&self, entry: &HistoryEntry) -> bool {
        let change = &entry.change;
        let has_type = change.types.iter().any(|name| self.types.iter().any(|types| types.fits(name)));
        (self.types.is_empty() || has_type) && self.reaches(entry)
    }

    /// Whether `entry` is about one of the webhook's projects, or the webhook is for all events.
    pub fn reaches(&self, entry: &HistoryEntry) -> bool {
        let project = entry.change.resource.project();
        self.projects.is_empty() || project.is_some_and(|project| self.projects.contains(&project))
    }

    /// Whether the webhook gets events about candidates of `project`.
    pub fn wants_candidates_of(&self, project: ProjectId) -> bool {
        let is_about_candidates = |types: &TypeFilter| {
            ["candidate.", "answer."].iter().any(|kind| types.as_str().starts_with(kind))
        };
        (self.types.is_empty() || self.types.iter().any(is_about_candidates))
            && (self.projects.is_empty() || self.projects.contains(&project))
    }

    /// Whether the webhook's types or projects exclude deletions of candidates.
    pub fn misses_erasures(&self) -> bool {
        let deletion = EventType::CandidateDeleted.as_str();
        let has_type = self.types.is_empty() || self.types.iter().any(|types| types.fits(deletion));
        !has_type || !self.projects.is_empty()
    }

    /// The keys that sign a delivery at `now`, sealed, the current one first.
    pub fn secrets(&self, now: DateTime<Utc>) -> impl Iterator<Item = &Sealed> {
        let former = self.former_secret.as_ref().and_then(|former| former.at(now));
        self.secret.iter().chain(former)
    }

    /// Drops a former secret whose use has ended at `now`.
    pub fn without_ended_secret(self, now: DateTime<Utc>) -> Self {
        let former_secret = self.former_secret.filter(|former| former.at(now).is_some());
        Self { former_secret, ..self }
    }

    /// Checks that deliveries can be signed. Fails with [`NO_SECRET`].
    pub fn require_secret(&self) -> Result<(), Refusal> {
        if self.secret.is_some() { Ok(()) } else { Err(NO_SECRET) }
    }

    /// Enables the webhook. Fails with [`NO_SECRET`].
    pub fn enabled(self) -> Result<Self, Refusal> {
        self.require_secret()?;
        Ok(Self { disabled_reason: None, ..self })
    }

    /// Disables the webhook for this reason, unless it is already disabled.
    pub fn disabled(self, reason: DisabledReason) -> Self {
        // Keep the first reason: a client that disables a webhook which the service has disabled must still see why.
        Self { disabled_reason: self.disabled_reason.or(Some(reason)), ..self }
    }

    /// Replaces the key at `now`. The former key also signs during `grace`.
    pub fn rotated(self, secret: Sealed, grace: TimeDelta, now: DateTime<Utc>) -> Self {
        // Keep at most one former key: a leaked key stops signing after the second rotation.
        let former = self.secret.map(|secret| FormerSecret { secret, until: now + grace });
        let former_secret = former.filter(|former| former.at(now).is_some());
        Self { secret: Some(secret), former_secret, ..self }
    }
}

facts! {
    /// The facts of a webhook: values that its events contain.
    pub struct WebhookFacts {
        /// Whether events are sent.
        is_enabled: bool,
        /// Why the webhook is disabled; null while it is enabled.
        disabled_reason: Option<DisabledReason>,
    }
}

impl HasHistory for Webhook {
    const CREATED: EventType = EventType::WebhookCreated;
    const UPDATED: Option<EventType> = Some(EventType::WebhookUpdated);
    const DELETED: Option<EventType> = Some(EventType::WebhookDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Webhook { webhook: self.id })
    }

    #[rustfmt::skip]
    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self {
            url, description, types, projects, secret,
            // Immutable, or represented by the secret or the reason for disabling.
            id: _, company: _, former_secret: _, created_at: _, created_by: _, disabled_reason: _,
        } = self;
        let facts = WebhookFacts { is_enabled: self.is_enabled(), disabled_reason: self.why_disabled() };
        let others = [
            ("url", private(url)),
            ("description", private(description)),
            ("types", private(types)),
            ("projects", private(projects)),
            ("secret", private(secret)),
        ];
        facts.into_fields().into_iter().chain(others).collect()
    }

    fn events(_: Option<&Self>, after: &Self, changes: &FieldChanges) -> Vec<EventType> {
        // Enabling a webhook is an update: only disabling has an event type of its own.
        let told: &[&str] = if after.is_enabled() { &[] } else { &["is_enabled", "disabled_reason"] };
        events_that_apply([
            (changes.has("is_enabled") && !after.is_enabled(), EventType::WebhookDisabled),
            (changes.has_other_than(told), EventType::WebhookUpdated),
        ])
    }
}

#[cfg(test)]
pub(super) mod tests;
