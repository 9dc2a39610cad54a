//! Conversions of recordings for browsers: their progress, attempts and results.

pub mod queue;

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long the event that starts a conversion may take, including all attempts.
// Lambda keeps the event for six hours while no execution is free.
const CONVERTING: TimeDelta = TimeDelta::hours(7);
/// The maximum duration of one attempt.
// Longer than the function can run, so that attempts never overlap.
const TRY: TimeDelta = TimeDelta::minutes(16);
/// The maximum number of attempts whose executions are killed.
// A recording that exhausts memory must not be converted again and again.
const ATTEMPTS: u32 = 3;

/// How far a recording is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline, extend("x-closed-set" = true))]
pub enum ConversionStatus {
    /// The file has not arrived.
    AwaitingUpload,
    /// Waiting for the conversion.
    Pending,
    /// The file is being converted.
    Processing,
    /// Ready to play.
    Successful,
    /// The conversion failed.
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversionResult {
    /// The length in seconds.
    pub seconds: u32,
    /// The width in pixels, as displayed.
    pub width: u32,
    /// The height in pixels, as displayed.
    pub height: u32,
}

/// The current attempt at a conversion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversionAttempt {
    /// The event that started the attempt. It is redelivered if the attempt fails.
    pub event: String,
    /// When the attempt has ended in any case.
    pub ends_at: DateTime<Utc>,
}

/// The conversion of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversion {
    /// The progress.
    pub status: ConversionStatus,
    pub attempt: Option<ConversionAttempt>,
    /// The attempts so far, without those that failed because of the service.
    #[serde(default)]
    pub attempts: u32,
    /// When the event is given up, so that the recording is queued again; for a video whose file has not arrived, when the upload
    /// fails. `None` if only the upload can end this state, or the conversion has ended.
    pub given_up_at: Option<DateTime<Utc>>,
    /// The result. If a take has got more parts since, still the result without them.
    pub converted: Option<ConversionResult>,
    /// Why the upload or the conversion failed, a sentence.
    pub failure: Option<String>,
}

impl Conversion {
    /// The conversion of a file that has not arrived.
    pub fn awaiting_upload() -> Self {
        Self {
            status: ConversionStatus::AwaitingUpload,
            attempt: None,
            attempts: 0,
            given_up_at: None,
            converted: None,
            failure: None,
        }
    }

    /// The conversion of a file that has arrived at `now`.
    pub fn pending(now: DateTime<Utc>) -> Self {
        Self {
            status: ConversionStatus::Pending,
            given_up_at: Some(now + CONVERTING),
            ..Self::awaiting_upload()
        }
    }

    /// Restarts the conversion at `now`. A former result can still be played.
    pub fn restarted(&self, now: DateTime<Utc>) -> Self {
        Self { converted: self.converted, ..Self::pending(now) }
    }

    /// The conversion while `event` runs it; `None` if it has ended, another worker runs it, or its attempts are used up.
    pub fn begun(&self, event: &str, now: DateTime<Utc>) -> Option<Self> {
        let may_begin = match (self.status, &self.attempt) {
            (ConversionStatus::AwaitingUpload | ConversionStatus::Pending, _) => true,
            // An event is redelivered only after its attempt has ended.
            (ConversionStatus::Processing, Some(attempt)) => attempt.event == event || attempt.ends_at <= now,
            _ => false,
        };
        (may_begin && !self.is_used_up()).then(|| Self {
            status: ConversionStatus::Processing,
            attempt: Some(ConversionAttempt { event: event.to_owned(), ends_at: now + TRY }),
            attempts: self.attempts + 1,
            ..self.restarted(now)
        })
    }

    /// Whether all attempts were killed, or the last one is still running.
    pub fn is_used_up(&self) -> bool {
        self.attempts >= ATTEMPTS
    }

    /// Stops counting an attempt, because it failed because of the service.
    pub fn without_attempt(self) -> Self {
        Self { attempts: self.attempts.saturating_sub(1), ..self }
    }

    /// The conversion while it waits for another event. The attempts so far still count.
    pub fn waiting_again(&self, now: DateTime<Utc>) -> Self {
        Self { attempts: self.attempts, ..self.restarted(now) }
    }

    /// When the running attempt has ended or, while the conversion waits, when its event is given up.
    pub fn overdue_at(&self) -> Option<DateTime<Utc>> {
        self.attempt.as_ref().map(|attempt| attempt.ends_at).or(self.given_up_at)
    }

    /// Whether `event` is running the conversion.
    pub fn is_done_by(&self, event: &str) -> bool {
        self.status == ConversionStatus::Processing
            && self.attempt.as_ref().is_some_and(|attempt| attempt.event == event)
    }

    /// A conversion with a result that can be played.
    pub fn succeeded(converted: ConversionResult) -> Self {
        let status = ConversionStatus::Successful;
        Self { status, converted: Some(converted), ..Self::awaiting_upload() }
    }

    /// A conversion that failed for this reason.
    pub fn failed(reason: &str) -> Self {
        // The reason is kept, so that the person who made the recording learns it.
        let status = ConversionStatus::Failed;
        Self { status, failure: Some(reason.to_owned()), ..Self::awaiting_upload() }
    }

    /// Whether the recording can still become playable.
    pub fn is_under_way(&self) -> bool {
        !matches!(self.status, ConversionStatus::Successful | ConversionStatus::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_try_at_a_time_and_none_after_the_end() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::minutes(5);
        let begun = Conversion::awaiting_upload().begun("one", now).unwrap();
        assert!(begun.is_done_by("one") && !begun.is_done_by("two"));
        assert!(begun.begun("one", now).is_some(), "the first try was broken off");
        assert!(begun.begun("two", now).is_none(), "somebody is at it");
        let again = begun.begun("two", now + TRY).unwrap();
        assert!(again.overdue_at() == Some(now + TRY + TRY) && !again.is_used_up());
        let third = again.begun("three", now + TRY + TRY).unwrap();
        assert!(third.is_used_up() && third.begun("three", now).is_none());
        assert!(third.clone().without_attempt().begun("four", now + TRY * 4).is_some());
        let waiting = begun.waiting_again(now);
        assert_eq!((waiting.attempts, waiting.overdue_at()), (1, Some(now + CONVERTING)));
        let done = Conversion::succeeded(ConversionResult { seconds: 1, width: 2, height: 2 });
        for ended in [done, Conversion::failed("broken")] {
            assert!(ended.begun("one", now).is_none() && !ended.is_under_way());
            assert_eq!(ended.given_up_at, None);
        }
    }
}
