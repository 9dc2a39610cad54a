//! The counts of a project that can no longer be computed from other items, such as those of erased candidates.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Map, Value};

use super::ArchiveRecord;
use crate::domain::archive::RecordKind;
use crate::domain::id::ProjectId;
use crate::domain::transition::project_counts::{CounterName, SHARDS};
use crate::error::{Error, Result};
use crate::store::project::counts::{HAS_BEGUN, RATINGS_SHOWN};
use crate::store::table::item::{Item, number};

/// A shard of a project's counts, without counts that a recount restores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedCounts {
    pub project: ProjectId,
    pub shard: u8,
    /// Whether a candidate of this shard has begun the interview.
    pub has_begun: bool,
    pub erased: BTreeMap<CounterName, i64>,
}

impl ArchivedCounts {
    /// The counts in the item of a shard; `None` if an archive needs none of them. Fails with [`Error::Unreadable`] if
    /// a counter is no number.
    pub(in crate::store) fn of(project: ProjectId, shard: usize, mut item: Item) -> Result<Option<Self>> {
        item.retain(|name, _| name == HAS_BEGUN || is_of_erased(name));
        if item.is_empty() {
            return Ok(None);
        }
        let shard = u8::try_from(shard).map_err(Error::internal)?;
        let value: Value = serde_dynamo::from_item(item).map_err(Error::internal)?;
        let counts = Self::parse(project, shard, &value);
        counts.map(Some).ok_or_else(|| Error::Unreadable("a shard of counts cannot be read".into()))
    }

    /// The counts in a record; `None` if the record is invalid.
    pub(super) fn of_record(id: &str, value: &Value) -> Option<Self> {
        let (project, shard) = id.split_once('/')?;
        let (project, shard) = (project.parse().ok()?, shard.parse().ok()?);
        Self::parse(project, shard, value).filter(|_| shard < SHARDS)
    }

    fn parse(project: ProjectId, shard: u8, value: &Value) -> Option<Self> {
        let mut counts = Self { project, shard, has_begun: false, erased: BTreeMap::new() };
        for (name, value) in value.as_object()? {
            if name == HAS_BEGUN {
                counts.has_begun = value.as_bool()?;
            } else {
                counts.erased.insert(name.parse().ok().filter(|_| is_of_erased(name))?, value.as_i64()?);
            }
        }
        let is_empty = !counts.has_begun && counts.erased.is_empty();
        (!is_empty).then_some(counts)
    }

    /// The attributes to add to the item of the shard.
    pub(super) fn attributes(&self) -> Item {
        let erased = self.erased.iter().map(|(counter, count)| (counter.to_string(), number(*count)));
        let mut attributes: Item = erased.collect();
        if self.has_begun {
            attributes.insert(HAS_BEGUN.to_owned(), AttributeValue::Bool(true));
        }
        let is_shown = |counter: &CounterName| matches!(counter, CounterName::ShownRating(_));
        let shown = self.erased.iter().filter(|(counter, _)| is_shown(counter)).map(|(_, count)| count);
        let shown: i64 = shown.sum();
        if shown > 0 {
            attributes.insert(RATINGS_SHOWN.to_owned(), number(shown));
        }
        attributes
    }

    pub(super) fn to_record(&self) -> ArchiveRecord {
        let mut value = Map::new();
        if self.has_begun {
            value.insert(HAS_BEGUN.to_owned(), true.into());
        }
        value.extend(self.erased.iter().map(|(counter, count)| (counter.to_string(), (*count).into())));
        let id = format!("{}/{}", self.project, self.shard);
        ArchiveRecord::new(RecordKind::Statistics, id, value.into())
    }
}

fn is_of_erased(name: &str) -> bool {
    name.parse::<CounterName>().is_ok_and(CounterName::is_of_erased)
}
