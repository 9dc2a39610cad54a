//! Guest links to a candidate's answers, in the data document.

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::candidate::GuestLink;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Timestamp, Uri};
use shared::store::VersionedItem;

/// A link that lets a person without an account watch the answers, or did until recently.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GuestLinkData")]
pub(super) struct GuestLinkDataView {
    /// The intended guest, as described by the customer who created the link.
    #[schemars(example = &"Head of sales")]
    recipient: String,
    /// Whether the candidate's name is hidden from guests.
    #[schemars(example = false)]
    hide_name: bool,
    /// When the link was created.
    created_at: Timestamp,
    /// The customer who created the link; null for a named token.
    #[schemars(example = example_uri::CUSTOMER)]
    created_by: Option<Uri>,
    /// When the link expires or expired.
    expires_at: Timestamp,
    /// When the link was first opened, to the minute; null before.
    opened_at: Option<Timestamp>,
    /// When the link was last opened, to the minute; null before.
    last_opened_at: Option<Timestamp>,
}

impl GuestLinkDataView {
    pub(super) fn all_of(links: &[VersionedItem<GuestLink>], references: ReferenceUris<'_>) -> Vec<Self> {
        let view = |link: &VersionedItem<GuestLink>| Self {
            recipient: link.recipient.as_ref().map(ToString::to_string).unwrap_or_default(),
            hide_name: link.hide_name,
            created_at: Timestamp(link.id.created_at()),
            created_by: link.created_by.map(|by| references.creator(&link.company, by)),
            expires_at: Timestamp(link.ends_at),
            opened_at: link.opened_at.map(Timestamp),
            last_opened_at: link.last_opened_at.map(Timestamp),
        };
        links.iter().map(view).collect()
    }
}
