//! A sample event: a change that the rules of `domain` have made, with an author.

use std::str::FromStr;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use url::Url;

use crate::domain::company::Company;
use crate::domain::history::{
    ChangeAuthor, ChangeOrigin, HasHistory, HistoryEntry, ResourceChange, ResourceRef,
};
use crate::domain::text::{ExternalId, ShortName};
use crate::http::reference::ReferenceUris;
use crate::http::view::EventView;

/// The sequence number of every sample in the feed.
const SEQUENCE: u64 = 1042;

pub(super) struct EventSample {
    by: ChangeAuthor,
    version: u64,
    change: ResourceChange,
}

impl EventSample {
    /// The event of a write; `None` if the write causes none. `before` is `None` for a creation, `after` for a deletion.
    pub(super) fn of<T: HasHistory>(by: ChangeAuthor, before: Option<&T>, after: Option<&T>) -> Option<Self> {
        let version = match (before, after) {
            (None, _) => 1,
            (_, None) => 8,
            _ => 7,
        };
        ResourceChange::of(before, after).map(|change| Self::new(by, version, change))
    }

    pub(super) fn new(by: ChangeAuthor, version: u64, change: ResourceChange) -> Self {
        Self { by, version, change }
    }

    /// The resource that has changed.
    pub(super) fn resource(&self) -> ResourceRef {
        self.change.resource
    }

    /// The index of `event` among the sample's types; `None` if the sample does not have it.
    pub(super) fn place_of(&self, event: &str) -> Option<usize> {
        self.change.types.iter().position(|name| name == event)
    }

    /// The body that webhooks get.
    pub(super) fn body(&self) -> Result<Value, String> {
        let mut origin = ChangeOrigin::new(self.by, at("2026-11-08T22:59:00Z")?);
        let is_requested = !matches!(self.by, ChangeAuthor::System | ChangeAuthor::Operator);
        origin.request = is_requested.then(|| "5f0f3a52-7d0e-4f5e-9c1e-0d9a8f1b2c3d".to_owned());
        let [candidate, project] = [Some(ExternalId::parse("4711")?), Some(ExternalId::parse("REQ-7")?)];
        let change = self.change.clone().with_keys_of_owners(candidate, project);
        let entry = HistoryEntry::new(change, self.version, origin, TimeDelta::zero());
        shown(&HistoryEntry { sequence: Some(SEQUENCE), ..entry })
    }
}

/// The view of an entry, with the base URL of all examples.
pub(super) fn shown(entry: &HistoryEntry) -> Result<Value, String> {
    let [base, suite] = ["https://interviews.example.com/api/v3", "https://interviews.example.com/"];
    let [base, suite] = [parse::<Url>(base)?, parse::<Url>(suite)?];
    let view = EventView::new(entry, ReferenceUris::below(&base, &suite));
    serde_json::to_value(view).map_err(|error| error.to_string())
}

/// The company in all examples.
pub(super) fn company() -> Result<Company, String> {
    Ok(Company::new(parse("acme")?, ShortName::parse("Acme Ltd")?))
}

/// The identifier at the end of an example's URL.
pub(super) fn id<T: FromStr<Err: ToString>>(uri: &str) -> Result<T, String> {
    parse(uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default())
}

pub(super) fn at(moment: &str) -> Result<DateTime<Utc>, String> {
    parse(moment)
}

fn parse<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| format!("{text}: {}", error.to_string()))
}
