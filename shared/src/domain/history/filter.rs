//! The events that a client asks for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangeAuthor, EventType, HistoryEntry, ResourceRef};
use crate::domain::id::ProjectId;

/// A condition on events. Every part that is set must hold.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// The types of events, of which an event must have one.
    pub types: Option<TypeFilter>,
    /// The resource.
    pub resource: Option<ResourceRef>,
    /// The project that the resource is or belongs to.
    pub project: Option<ProjectId>,
    /// The author.
    pub by: Option<ChangeAuthor>,
}

/// One type of events, or all types about one kind of resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, description = "", example = &"candidate.*")]
pub struct TypeFilter {
    name: String,
}

impl TypeFilter {
    /// Parses the name of a type, such as `candidate.invited`, or `candidate.*` for all types that begin so.
    pub fn parse(name: &str) -> Result<Self, String> {
        let filter = Self { name: name.to_owned() };
        match EventType::ALL.iter().any(|known| filter.fits(known.as_str())) {
            true => Ok(filter),
            false => Err(format!(
                "\"{name}\" is not a type of events. Use one such as candidate.invited, or candidate.*"
            )),
        }
    }

    /// The text that was parsed.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Whether the type with this name is meant.
    pub(in crate::domain) fn fits(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(start) => start.ends_with('.') && name.starts_with(start),
            None => name == self.name,
        }
    }
}

impl EventFilter {
    /// Whether `entry` meets the condition.
    pub fn wants(&self, entry: &HistoryEntry) -> bool {
        let resource = entry.change.resource;
        let fits = |types: &TypeFilter| entry.change.types.iter().any(|name| types.fits(name));
        self.types.as_ref().is_none_or(fits)
            && self.resource.is_none_or(|wanted| wanted == resource)
            && self.project.is_none_or(|wanted| resource.project() == Some(wanted))
            && self.by.is_none_or(|wanted| wanted == entry.origin.by)
    }
}
