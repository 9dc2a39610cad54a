//! Recordings that wait for conversion, and whose turn is next: companies share the function's executions.
//!
//! An event only permits the conversion of one recording. The execution chooses the recording when it starts. If events named
//! recordings, all companies would wait behind one that sends thousands, because events are delivered in order.

#[cfg(test)]
mod burst;

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use super::TRY;
use crate::id::{CandidateId, CompanyId, ProjectId, TakeRef, VideoId};

/// A recording that is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Recording {
    /// A take of an answer.
    Take { project: ProjectId, candidate: CandidateId, take: TakeRef },
    /// A welcome video.
    Video { video: VideoId },
}

/// The name in logs.
impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Take { candidate, take: TakeRef { question, number }, .. } => {
                write!(f, "{candidate}/{question}/{number}")
            }
            Self::Video { video } => video.fmt(f),
        }
    }
}

/// A recording that waits for its conversion, or is being converted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingRecording {
    /// The company whose queue it is in.
    pub company: CompanyId,
    pub recording: Recording,
    /// When the take was finished or closed, or the video announced.
    pub since: DateTime<Utc>,
}

impl WaitingRecording {
    /// The recording's place in its company's queue. The place is the same each time the recording is queued, so that the queue
    /// contains it only once.
    pub fn place(&self) -> String {
        let since = self.since.to_rfc3339_opts(SecondsFormat::Secs, true);
        match &self.recording {
            Recording::Take { project, candidate, take: TakeRef { question, number } } => {
                format!("{since}#{project}#{candidate}#{question}#{number}")
            }
            Recording::Video { video } => format!("{since}#{video}"),
        }
    }
}

/// An execution of the function that converts a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversionExecution {
    /// The place of the recording in the queue.
    pub place: String,
    /// The event that started the execution.
    pub event: String,
    /// When the execution has ended in any case.
    pub ends_at: DateTime<Utc>,
}

/// The queue of a company: the executions that convert its recordings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversionQueue {
    pub company: CompanyId,
    /// The executions that are running or were killed.
    #[serde(rename = "running")]
    pub executions: Vec<ConversionExecution>,
    /// When the last execution began.
    pub served_at: Option<DateTime<Utc>>,
}

impl ConversionQueue {
    /// The queue of a company without an execution.
    pub fn of(company: CompanyId) -> Self {
        Self { company, executions: Vec::new(), served_at: None }
    }

    fn executions_at(&self, now: DateTime<Utc>) -> impl Iterator<Item = &ConversionExecution> {
        self.executions.iter().filter(move |execution| now < execution.ends_at)
    }

    /// How many of the company's recordings are being converted at `now`.
    pub fn count_executions(&self, now: DateTime<Utc>) -> usize {
        self.executions_at(now).count()
    }

    /// Whether the recording in this place is being converted at `now`.
    pub fn is_converting(&self, place: &str, now: DateTime<Utc>) -> bool {
        self.executions_at(now).any(|execution| execution.place == place)
    }

    /// The place of the recording that `event` is converting; `None` if there is none.
    pub fn place_of(&self, event: &str, now: DateTime<Utc>) -> Option<&str> {
        self.executions_at(now)
            .find(|execution| execution.event == event)
            .map(|execution| execution.place.as_str())
    }

    /// Sorts queues by turn: first the company with the fewest running conversions and, among equals, the one whose last turn was
    /// longest ago.
    pub fn sort_by_turn<Q: std::ops::Deref<Target = Self>>(queues: &mut [Q], now: DateTime<Utc>) {
        queues.sort_by_key(|queue| (queue.count_executions(now), queue.served_at));
    }

    /// The queue after an execution began to convert the recording in this place.
    pub fn started(mut self, place: String, event: &str, now: DateTime<Utc>) -> Self {
        self.executions.retain(|execution| now < execution.ends_at);
        self.executions.push(ConversionExecution { place, event: event.to_owned(), ends_at: now + TRY });
        Self { served_at: Some(now), ..self }
    }

    /// The queue after the execution that `event` started has ended.
    pub fn ended(mut self, event: &str) -> Self {
        self.executions.retain(|execution| execution.event != event);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    #[test]
    fn the_company_with_the_fewest_conversions_is_next_then_the_one_longest_not_served() {
        let at = |second| DateTime::UNIX_EPOCH + TimeDelta::seconds(second);
        let queue = |name: &str| ConversionQueue::of(name.parse().unwrap());
        let busy = queue("busy").started("1".to_owned(), "a", at(0)).started("2".to_owned(), "b", at(1));
        let older = queue("older").started("1".to_owned(), "c", at(2));
        let newer = queue("newer").started("1".to_owned(), "d", at(3));
        let order = |now| {
            let mut queues = [&busy, &newer, &queue("fresh"), &older];
            ConversionQueue::sort_by_turn(&mut queues, now);
            queues.map(|queue| queue.company.to_string())
        };
        assert_eq!(order(at(4)), ["fresh", "older", "newer", "busy"]);
        // Killed executions no longer count.
        assert_eq!(order(at(4) + TRY), ["fresh", "busy", "older", "newer"]);
        assert!(busy.is_converting("2", at(4)) && !busy.is_converting("2", at(1) + TRY));
        assert_eq!((busy.place_of("b", at(4)), busy.place_of("c", at(4))), (Some("2"), None));
        assert_eq!(busy.clone().ended("a").count_executions(at(4)), 1);
    }
}
