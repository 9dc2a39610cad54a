//! The interviews that a mail to staff is about.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::history::{EventType, HistoryEntry, ResourceRef};
use crate::id::{CandidateId, ProjectId};

/// The maximum number of interviews that one mail lists by identifier.
// Each write of the item is charged by its size.
const MAX_LISTED: usize = 50;

/// An interview that was completed, or ended by time with answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedInterview {
    pub project: ProjectId,
    pub candidate: CandidateId,
}

impl EndedInterview {
    /// The interview that this event has ended; `None` for other events, and if no question was answered.
    pub fn of_event(event: &HistoryEntry) -> Option<Self> {
        let is_completed = event.tells(EventType::CandidateInterviewed);
        let has_answers = event.change.details.facts.get("ended_by_time") == Some(&true.into());
        let is_ended_by_time = has_answers && event.tells(EventType::CandidateAborted);
        match event.change.resource {
            ResourceRef::Candidate { project, candidate } if is_completed || is_ended_by_time => {
                Some(Self { project, candidate })
            }
            _ => None,
        }
    }
}

/// The interviews that a mail is about: up to 50 by identifier, and the number of further ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedInterviews {
    /// Each candidate once, in the order in which the interviews ended.
    pub listed: Vec<EndedInterview>,
    /// The number of further interviews, by project. Interviews that are reopened and end again count again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<ProjectId, u32>,
}

impl EndedInterviews {
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.more.is_empty()
    }

    /// The projects of all interviews.
    pub fn projects(&self) -> BTreeSet<ProjectId> {
        self.listed.iter().map(|interview| interview.project).chain(self.more.keys().copied()).collect()
    }

    pub(super) fn add(&mut self, one: EndedInterview) {
        if self.listed.contains(&one) {
            return;
        }
        if self.listed.len() < MAX_LISTED {
            self.listed.push(one);
        } else {
            *self.more.entry(one.project).or_default() += 1;
        }
    }
}
