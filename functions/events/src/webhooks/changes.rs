//! Reads the bodies that create or change a webhook.

use std::collections::BTreeSet;

use shared::Result;
use shared::domain::history::TypeFilter;
use shared::domain::id::CompanyId;
use shared::domain::outgoing::{AllowedTargets, OutgoingUrl};
use shared::domain::text::TextLine;
use shared::domain::webhook::{DisabledReason, MAX_PROJECTS, MAX_TYPES, Webhook};
use shared::http::reference::ReferenceUris;
use shared::http::{BodyChanges, BodyFields};

/// The maximum time that a former secret stays in use, in hours.
const MAX_GRACE: u32 = 168;
/// The default time that a former secret stays in use, in hours.
const DEFAULT_GRACE: u32 = 24;

/// The body of a creation.
pub(crate) struct CreateWebhook {
    pub(crate) url: OutgoingUrl,
    /// Deliveries begin after the event with this number; `None` for the latest event.
    pub(crate) after: Option<u64>,
    /// The fields that can also be changed later.
    pub(crate) rest: UpdateWebhook,
}

impl CreateWebhook {
    /// Reads the body. `latest` is the number of the company's last event.
    pub(crate) fn read(
        mut body: BodyFields,
        company: &CompanyId,
        references: ReferenceUris<'_>,
        targets: AllowedTargets,
        latest: u64,
    ) -> Result<Self> {
        let url = body.required("url", |text| parse_url(text, references, targets));
        let after = number(&mut body, "after", latest);
        let rest = UpdateWebhook::read_optional(&mut body, company, references);
        body.finish(|| Some(Self { url: url?, after, rest }))
    }
}

/// The body of a change.
pub(crate) struct UpdateWebhook {
    fields: BodyChanges<Webhook>,
    is_enabled: Option<bool>,
}

impl UpdateWebhook {
    pub(crate) fn read(
        mut body: BodyFields,
        company: &CompanyId,
        references: ReferenceUris<'_>,
        targets: AllowedTargets,
    ) -> Result<Self> {
        let mut changes = Self::read_optional(&mut body, company, references);
        let url = body.text("url", |text| parse_url(text, references, targets));
        changes.fields.set(url, |webhook| &mut webhook.url);
        body.finish(|| Some(changes))
    }

    fn read_optional(body: &mut BodyFields, company: &CompanyId, references: ReferenceUris<'_>) -> Self {
        let mut fields: BodyChanges<Webhook> = BodyChanges::default();
        fields.set(body.text_or_empty("description", TextLine::parse), |webhook: &mut Webhook| {
            &mut webhook.description
        });
        let types = body
            .list("types", MAX_TYPES, |item| TypeFilter::parse(item.text().ok_or("Not a valid string.")?));
        fields.set(types.map(BTreeSet::from_iter), |webhook| &mut webhook.types);
        let projects =
            body.list("projects", MAX_PROJECTS, |item| references.parse(company, item.reference()?));
        fields.set(projects.map(BTreeSet::from_iter), |webhook| &mut webhook.projects);
        Self { fields, is_enabled: body.flag("is_enabled") }
    }

    /// Applies the changes. Fails with `NO_SECRET` if a webhook without a secret is enabled.
    pub(crate) fn apply_to(self, mut webhook: Webhook) -> Result<Webhook> {
        self.fields.apply_to(&mut webhook);
        Ok(match self.is_enabled {
            Some(true) => webhook.enabled()?,
            Some(false) => webhook.disabled(DisabledReason::Request),
            None => webhook,
        })
    }
}

fn parse_url(
    text: &str,
    references: ReferenceUris<'_>,
    targets: AllowedTargets,
) -> Result<OutgoingUrl, String> {
    let url = OutgoingUrl::parse(text, targets)?;
    // Otherwise each event of a company could make the service call itself.
    let is_own = targets == AllowedTargets::Public && references.is_own(url.authority());
    if is_own { Err("Use another host than that of this service.".to_owned()) } else { Ok(url) }
}

/// Reads how many hours the former secret stays in use.
pub(crate) fn read_grace(mut body: BodyFields) -> Result<u32> {
    let hours = body.integer("grace_hours", 0, MAX_GRACE).unwrap_or(DEFAULT_GRACE);
    body.finish(|| Some(hours))
}

/// Reads the number of the last event to skip: deliveries continue after it. `latest` is the number of the last event.
pub(crate) fn read_position(mut body: BodyFields, latest: u64) -> Result<u64> {
    body.require("after");
    let after = number(&mut body, "after", latest);
    body.finish(|| after)
}

fn number(body: &mut BodyFields, name: &'static str, latest: u64) -> Option<u64> {
    // A number beyond the last event would silently skip all events up to it.
    body.integer(name, 0, u32::try_from(latest).unwrap_or(u32::MAX)).map(u64::from)
}
