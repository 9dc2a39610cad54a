//! What clients send of a webhook.

use std::collections::BTreeSet;

use serde_json::Value;
use shared::Result;
use shared::domain::history::TypeFilter;
use shared::domain::id::{CompanyId, ProjectId};
use shared::domain::text::TextLine;
use shared::domain::webhook::{AllowedTargets, DisabledReason, MAX_PROJECTS, MAX_TYPES, Webhook, WebhookUrl};
use shared::http::BodyFields;
use shared::http::fields::set;
use shared::http::reference::ReferenceUris;

/// The longest time for which a former secret stays valid, in hours.
const MAX_GRACE: u32 = 168;
/// That time if the client names none.
const DEFAULT_GRACE: u32 = 24;

/// What a client sent of a new webhook.
pub(crate) struct CreateWebhook {
    pub(crate) url: WebhookUrl,
    pub(crate) after: Option<u64>,
    pub(crate) rest: UpdateWebhook,
}

impl CreateWebhook {
    /// Reads the body of a creation, in a company whose last event has the number `latest`.
    pub(crate) fn read(
        mut body: BodyFields,
        company: &CompanyId,
        references: ReferenceUris<'_>,
        targets: AllowedTargets,
        latest: u64,
    ) -> Result<Self> {
        body.require("url");
        let after = number(&mut body, "after", latest);
        let rest = UpdateWebhook::read_from(&mut body, company, references, targets);
        body.finish(|| Some(Self { url: rest.url.clone()?, after, rest }))
    }
}

/// What a client sent of a webhook; none leaves a field as it is.
pub(crate) struct UpdateWebhook {
    url: Option<WebhookUrl>,
    description: Option<TextLine<200>>,
    types: Option<BTreeSet<TypeFilter>>,
    projects: Option<BTreeSet<ProjectId>>,
    is_enabled: Option<bool>,
}

impl UpdateWebhook {
    /// Reads the body of a change.
    pub(crate) fn read(
        mut body: BodyFields,
        company: &CompanyId,
        references: ReferenceUris<'_>,
        targets: AllowedTargets,
    ) -> Result<Self> {
        let changes = Self::read_from(&mut body, company, references, targets);
        body.finish(|| Some(changes))
    }

    fn read_from(
        body: &mut BodyFields,
        company: &CompanyId,
        references: ReferenceUris<'_>,
        targets: AllowedTargets,
    ) -> Self {
        Self {
            url: body.text("url", |text| {
                let url = WebhookUrl::parse(text, targets)?;
                // A company could have the service call itself for each of its own changes.
                let is_own = targets == AllowedTargets::Public && references.is_own(url.authority());
                if is_own { Err("Use another host than that of this service.".to_owned()) } else { Ok(url) }
            }),
            description: body.line("description"),
            types: body
                .list("types", MAX_TYPES, |value| TypeFilter::parse(text(value)?))
                .map(BTreeSet::from_iter),
            projects: body
                .list("projects", MAX_PROJECTS, |value| references.parse_project(company, text(value)?))
                .map(BTreeSet::from_iter),
            is_enabled: body.flag("is_enabled"),
        }
    }

    /// Makes the changes.
    pub(crate) fn apply_to(self, mut webhook: Webhook) -> Webhook {
        set(&mut webhook.url, self.url);
        set(&mut webhook.description, self.description);
        set(&mut webhook.types, self.types);
        set(&mut webhook.projects, self.projects);
        match self.is_enabled {
            Some(true) => webhook.enabled(),
            Some(false) => webhook.disabled(DisabledReason::Request),
            None => webhook,
        }
    }
}

/// Reads for how many hours the former secret stays valid.
pub(crate) fn read_grace(mut body: BodyFields) -> Result<u32> {
    let hours = body.integer("grace_hours", 0, MAX_GRACE).unwrap_or(DEFAULT_GRACE);
    body.finish(|| Some(hours))
}

/// Reads the number of the event after which deliveries go on; the last event has the number `latest`.
pub(crate) fn read_position(mut body: BodyFields, latest: u64) -> Result<u64> {
    body.require("after");
    let after = number(&mut body, "after", latest);
    body.finish(|| after)
}

fn number(body: &mut BodyFields, name: &str, latest: u64) -> Option<u64> {
    // A number that no event has yet would silently leave out the events up to it.
    body.integer(name, 0, u32::try_from(latest).unwrap_or(u32::MAX)).map(u64::from)
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| "Not a valid string.".to_owned())
}
