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
use shared::event::{ObjectCreated, RecordOutcome};
use shared::media::{AnswerObjects, video_marker_in};
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
/// becomes a dead letter; the recording fails after its time limit.
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

async fn process_recording(app: &App, event: ObjectCreated) -> Result<RecordOutcome> {
    let system = SystemAccess::of(app);
    // Boxed, because they are large and deeply nested.
    let (outcome, company, recording) = if let Some((company, id)) = video_marker_in(event.key()) {
        let outcome = Box::pin(video::process_video(&system, &company, id, &event.id)).await;
        (outcome, company, id.to_string())
    } else if let Some((objects, take)) = AnswerObjects::in_marker(event.key()) {
        let conversion = TakeConversion { system: &system, objects: &objects, place: take, event: &event.id };
        let outcome = Box::pin(conversion.process()).await;
        (outcome, objects.company, format!("{}-{}", take.question, take.number))
    } else {
        return Ok(RecordOutcome::Ignored);
    };
    let company = company.as_str();
    match &outcome {
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
    outcome
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
