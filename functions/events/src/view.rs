//! The feed's position and views.

use schemars::JsonSchema;
use serde::Serialize;
use shared::http::QueryParameters;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::view::{EventView, FeedEvent};
use shared::http::wire::Uri;
use shared::store::{EventSequence, FeedPage};

/// The value of `before` for the end of the feed.
const LATEST: &str = "latest";

/// The client's position in the feed.
#[derive(Clone, Copy)]
pub(crate) enum FeedPosition {
    /// Ascending, after this number.
    After(u64),
    /// Descending, before this number; `None` for the end of the feed.
    Before(Option<u64>),
}

impl FeedPosition {
    /// Reads `after` or `before`; by default the beginning of the feed.
    pub(crate) fn read(query: &mut QueryParameters) -> Self {
        let after = query.filter("after", read_number);
        let before = query.filter("before", |text| match text {
            LATEST => Ok(None),
            text => read_number(text).map(Some),
        });
        if after.is_some() && before.is_some() {
            query.refuse("before", "Send `after` or `before`, not both.");
        }
        match before {
            Some(before) => Self::Before(before),
            None => Self::After(after.unwrap_or(0)),
        }
    }
}

fn read_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "A valid number is required.".to_owned())
}

/// Events of a company.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Feed")]
pub(crate) struct FeedView {
    /// The position in the feed.
    meta: FeedMeta,
    /// The events, in the order of their numbers; with `before`, the latest first.
    #[schemars(with = "Vec<FeedEvent>")]
    objects: Vec<EventView>,
}

/// The position in the feed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FeedMeta")]
struct FeedMeta {
    /// The URL of the next page, never null. It stays valid: if there are no new events, poll it again.
    #[schemars(example = example_uri::FEED)]
    next: Uri,
    /// Whether more events are available now.
    #[schemars(example = false)]
    more: bool,
    /// The number of the latest event.
    #[schemars(example = 1042)]
    latest: u64,
}

impl FeedView {
    pub(crate) fn new(
        feed: &FeedPage,
        place: FeedPosition,
        page_size: u32,
        query: &QueryParameters,
        sequence: &EventSequence,
        references: ReferenceUris<'_>,
    ) -> Self {
        let name = match place {
            FeedPosition::After(_) => "after",
            FeedPosition::Before(_) => "before",
        };
        let place = [(name, feed.reached.to_string()), ("page_size", page_size.to_string())];
        Self {
            meta: FeedMeta { next: query.link_to(place), more: feed.more, latest: sequence.last },
            objects: feed.events.iter().map(|event| EventView::new(event, references)).collect(),
        }
    }
}
