//! The view of a guest link, for managers.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::candidate::GuestLink;
use crate::domain::id::GuestLinkId;
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::{Identifier, Timestamp, Uri};

/// A link, shown without its URL, that lets a person without an account watch the answers of a candidate.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GuestLink")]
pub struct GuestLinkView {
    id: Identifier<GuestLinkId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::GUEST_LINK)]
    resource_uri: Uri,
    /// The URL of the candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// The person who is to open the link. It never appears in events.
    #[schemars(example = &"Head of sales")]
    recipient: String,
    /// Whether the candidate's name is hidden from guests. The answers may still reveal it.
    #[schemars(example = false)]
    hide_name: bool,
    /// When the link stops working. It is listed for 30 more days.
    expires_at: Timestamp,
    /// When the resource was created.
    created_at: Timestamp,
    /// The URL of the customer or named token that created the link; null for a named token of an earlier release.
    #[schemars(example = example_uri::CUSTOMER)]
    created_by: Option<Uri>,
    /// When a guest first opened the link, to the minute; null before. Loading the page is not enough, because programs that check
    /// links in mails do so too: the guest must press a button on it.
    opened_at: Option<Timestamp>,
    /// When a guest last opened the link, to the minute; null before. Openings within ten minutes count as one.
    last_opened_at: Option<Timestamp>,
}

impl GuestLinkView {
    /// The view of a link.
    pub fn new(link: &GuestLink, references: ReferenceUris<'_>) -> Self {
        let GuestLink { id, company, project, candidate, .. } = link;
        Self {
            id: Identifier(*id),
            resource_uri: references.guest_link(company, *project, *candidate, *id),
            candidate: references.uri_in_project(company, *project, *candidate),
            recipient: link.recipient.as_ref().map(ToString::to_string).unwrap_or_default(),
            hide_name: link.hide_name,
            expires_at: Timestamp(link.ends_at),
            created_at: Timestamp(id.created_at()),
            created_by: link.created_by.map(|by| references.creator(company, by)),
            opened_at: link.opened_at.map(Timestamp),
            last_opened_at: link.last_opened_at.map(Timestamp),
        }
    }
}
