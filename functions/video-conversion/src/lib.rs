//! Converts uploaded welcome videos and recorded answers to formats that browsers play.
//!
//! Events may be duplicated, late, or arrive after the recording was deleted. Each attempt deletes the renditions that
//! it has stored unless its result is the recorded one, so that no orphans remain.

pub mod engine;
mod take;
mod video;

use std::time::Duration;

use serde::Deserialize;
use shared::app::App;
use shared::auth::SystemAccess;
use shared::domain::media::conversion::ConversionResult;
use shared::domain::media::conversion::queue::{Recording, WaitingRecording};
use shared::event::{ObjectCreated, RecordOutcome, persist};
use shared::media::{AnswerObjects, is_conversion_marker};
use shared::store::COMMAND_PATIENCE;
use shared::{Error, Result, log_failure, log_invocation};

use engine::{ConvertedFiles, TimeLeft};
use take::TakeConversion;

/// How long after the start of the invocation a failed call to the store is still retried.
// The function's timeout is fifteen minutes.
const PERSISTENCE: Duration = COMMAND_PATIENCE;

/// The payload of an invocation.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Invocation {
    /// A recording to convert.
    Created(ObjectCreated),
    /// A check that the probe requests of a new version before it gets traffic.
    Check {
        /// The part of the function to check.
        check: CheckSubject,
    },
}

/// The parts that can be checked without a recording.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckSubject {
    /// Whether the programs convert a known clip.
    Programs,
}

/// Converts a recording, or checks the function.
///
/// # Errors
/// If the storage, the bucket or this computer (including ffmpeg) fails. The event is retried and becomes a dead letter
/// after some attempts. The recording then waits for the next event.
pub async fn process(app: &App, invocation: Invocation) -> Result<RecordOutcome> {
    match invocation {
        Invocation::Created(event) => process_recording(app, event).await,
        Invocation::Check { check: CheckSubject::Programs } => {
            engine::check(app.config().program_path.as_ref()).await.map_err(|error| {
                tracing::error!(target: "conversion", %error, "the programs do not work");
                Error::internal(error)
            })?;
            Ok(RecordOutcome::Ignored)
        }
    }
}

/// Claims the next recording in the queue on the event of a marker, and converts it.
async fn process_recording(app: &App, event: ObjectCreated) -> Result<RecordOutcome> {
    if !is_conversion_marker(event.key()) {
        return Ok(RecordOutcome::Ignored);
    }
    let system = SystemAccess::of(app).with_patience(COMMAND_PATIENCE);
    let claimed = persist(&system, PERSISTENCE, || system.store.claim_recording(&event.id, system.now));
    let claimed = claimed.await.inspect_err(|error| {
        log_failure!(target: "conversion", error, "could not find the recording whose turn it is");
    })?;
    let outcome = match claimed {
        Some(waiting) => {
            // Boxed, because it is large and deeply nested.
            let outcome = Box::pin(process_claimed(&system, &waiting, &event.id)).await;
            report(&system, &waiting, &outcome);
            outcome?
        }
        // Every recording has its own event, and events may be delivered twice, so the queue may be empty.
        None => RecordOutcome::Ignored,
    };
    system.objects()?.delete(event.key()).await?;
    Ok(outcome)
}

async fn process_claimed(
    system: &SystemAccess,
    waiting: &WaitingRecording,
    event: &str,
) -> Result<RecordOutcome> {
    let company = &waiting.company;
    let outcome = match waiting.recording {
        Recording::Take { project, candidate, take } => {
            let objects = AnswerObjects { company: company.clone(), project, candidate };
            TakeConversion::new(system, objects, take, event).process().await
        }
        Recording::Video { video } => video::process_video(system, company, video, event).await,
    };
    // After a failure, the claim stays, so that others are converted first until it expires.
    let outcome = outcome?;
    persist(system, PERSISTENCE, || system.store.release_recording(waiting, event, system.now)).await?;
    Ok(outcome)
}

fn report(system: &SystemAccess, waiting: &WaitingRecording, outcome: &Result<RecordOutcome>) {
    let company = waiting.company.as_str();
    let recording = waiting.recording;
    match outcome {
        // An alarm compares failed conversions with all that ended.
        Ok(outcome @ (RecordOutcome::Applied | RecordOutcome::Refused)) => log_invocation!(
            target: "conversion", system.usage(), %recording, company, ?outcome,
            conversion_failed = u8::from(*outcome == RecordOutcome::Refused), "processed"
        ),
        Ok(outcome) => {
            log_invocation!(target: "conversion", system.usage(), %recording, company, ?outcome, "processed");
        }
        Err(error) => {
            log_failure!(target: "conversion", error, %recording, company, "could not convert the recording");
        }
    }
}

async fn clean_up(system: &SystemAccess, keys: &[String]) -> Result<RecordOutcome> {
    let objects = system.objects()?;
    for key in keys {
        objects.delete(key).await?;
    }
    Ok(RecordOutcome::Ignored)
}

fn time_left(system: &SystemAccess) -> TimeLeft {
    TimeLeft::after(system.usage().elapsed())
}

fn converted(conversion: &ConvertedFiles) -> ConversionResult {
    let ConvertedFiles { seconds, width, height, .. } = *conversion;
    ConversionResult { seconds, width, height }
}
