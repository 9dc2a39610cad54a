//! Converts uploaded welcome videos and recorded answers to formats that browsers play.
//!
//! Events may be duplicated, late, or arrive after the recording was deleted. All attempts write the same objects and
//! delete those without a recording, so that one result remains and no orphan.

pub mod engine;
mod take;
mod video;

use std::time::Duration;

use serde::Deserialize;
use shared::app::App;
use shared::auth::SystemAccess;
use shared::domain::conversion::ConversionResult;
use shared::domain::id::CompanyId;
use shared::event::{ObjectCreated, RecordOutcome};
use shared::media::{AnswerObjects, video_marker_in};
use shared::store::COMMAND_PATIENCE;
use shared::{Error, Result, log_failure, log_run};

use engine::ConvertedFiles;
use take::TakeConversion;

/// The duration of one attempt.
// The rest of the function's 15 minutes is for storing the result.
const TRY: Duration = Duration::from_secs(13 * 60);

/// What the function is invoked with.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Invocation {
    /// A recording to convert.
    Created(ObjectCreated),
    /// The probe's, of a version that has no traffic yet.
    Check {
        /// What to check.
        check: CheckSubject,
    },
}

/// What can be checked without a recording.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckSubject {
    /// Whether the programs convert a known clip.
    Programs,
}

/// Converts a recording, or checks the function.
///
/// # Errors
/// If the storage, the bucket or this computer fails, its programs among it. The event is retried and, after some tries,
/// becomes a dead letter. A video then fails after its time limit; a take waits for the next event.
pub async fn process(app: &App, invocation: Invocation) -> Result<RecordOutcome> {
    match invocation {
        Invocation::Created(event) => process_recording(app, event).await,
        Invocation::Check { check: CheckSubject::Programs } => check_programs(app).await,
    }
}

async fn check_programs(app: &App) -> Result<RecordOutcome> {
    engine::check(app.config().program_path.as_ref()).await.map_err(|error| {
        tracing::error!(target: "conversion", %error, "the programs do not work");
        Error::internal(error)
    })?;
    Ok(RecordOutcome::Ignored)
}

/// Processes one event: converts the video that it is about, or the take whose turn it is.
async fn process_recording(app: &App, event: ObjectCreated) -> Result<RecordOutcome> {
    let system = SystemAccess::of(app).with_patience(COMMAND_PATIENCE);
    // Boxed, because they are large and deeply nested.
    if let Some((company, id)) = video_marker_in(event.key()) {
        let outcome = Box::pin(video::process_video(&system, &company, id, &event.id)).await;
        report(&system, &company, &id.to_string(), &outcome);
        outcome
    } else if AnswerObjects::in_marker(event.key()).is_some() {
        Box::pin(process_next_take(&system, &event)).await
    } else {
        Ok(RecordOutcome::Ignored)
    }
}

/// Converts the take whose turn it is, because of the marker of a take.
async fn process_next_take(system: &SystemAccess, event: &ObjectCreated) -> Result<RecordOutcome> {
    let claimed = system.store.claim_take(&event.id, system.now).await;
    let claimed = claimed.inspect_err(|error| {
        log_failure!(target: "conversion", error, "could not find the take whose turn it is");
    })?;
    let outcome = match claimed {
        Some(waiting) => {
            let recording = format!("{}-{}", waiting.take.question, waiting.take.number);
            let outcome = match TakeConversion::new(system, &waiting, &event.id).process().await {
                Ok(outcome) => {
                    system.store.release_take(&waiting, &event.id, system.now).await.map(|()| outcome)
                }
                // Others come first until its time is over.
                Err(error) => Err(error),
            };
            report(system, &waiting.company, &recording, &outcome);
            outcome?
        }
        // There is an event for each take, and one that comes again.
        None => RecordOutcome::Ignored,
    };
    system.objects()?.delete(event.key()).await?;
    Ok(outcome)
}

fn report(system: &SystemAccess, company: &CompanyId, recording: &str, outcome: &Result<RecordOutcome>) {
    let company = company.as_str();
    match outcome {
        // An alarm compares those that failed with all that ended.
        Ok(outcome @ (RecordOutcome::Applied | RecordOutcome::Refused)) => log_run!(
            target: "conversion", system.usage(), recording, company, ?outcome,
            conversion_failed = u8::from(*outcome == RecordOutcome::Refused), "processed"
        ),
        Ok(outcome) => {
            log_run!(target: "conversion", system.usage(), recording, company, ?outcome, "processed");
        }
        Err(error) => {
            log_failure!(target: "conversion", error, recording, company, "could not convert the recording");
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

fn converted(conversion: &ConvertedFiles) -> ConversionResult {
    let ConvertedFiles { seconds, width, height, .. } = *conversion;
    ConversionResult { seconds, width, height }
}
