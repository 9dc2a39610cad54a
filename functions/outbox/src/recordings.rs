//! Queues takes and welcome videos for conversion.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::id::CompanyId;
use shared::domain::media::conversion::queue::{Recording, WaitingRecording};
use shared::media::conversion_marker_key;

use crate::outcome::EffectResult;

/// Queues a recording and stores a marker, whose event starts the conversion of the first recording in the queue.
pub(crate) async fn queue(
    system: &SystemAccess,
    waiting: &WaitingRecording,
) -> Result<(EffectResult, String)> {
    system.store.queue_recording(waiting).await?;
    let marker = conversion_marker_key(&waiting.company, &waiting.recording);
    let stored = system.objects()?.put_marker(&marker).await;
    Ok(match stored {
        Ok(()) => (EffectResult::Started, String::new()),
        Err(error) => (EffectResult::Failed, error.to_string()),
    })
}

/// Logs that the conversion of a recording is given up because its executions were killed.
pub(crate) fn log_broken(company: &CompanyId, recording: &Recording) {
    // A warning, because a client has made the recording. An alarm counts these lines.
    tracing::warn!(
        target: "outbox", company = company.as_str(), %recording,
        task = "conversion", reason = "its executions were killed", "given up"
    );
}
