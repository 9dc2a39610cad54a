//! Converts welcome videos.

use shared::auth::SystemAccess;
use shared::domain::id::{CompanyId, VideoId};
use shared::domain::media::conversion::Conversion;
use shared::domain::media::video::{Rendition, Video};
use shared::event::{RecordOutcome, persist};
use shared::media::{ObjectStore, rendition_key, video_keys, video_upload_key};
use shared::scratch::ScratchFolder;
use shared::store::{RetryPolicy, VersionedItem};
use shared::{Error, Result};

use crate::engine::{ConversionTarget, ConvertedFiles, EngineError, convert};
use crate::{PERSISTENCE, clean_up, converted, time_left};

const NOT_AS_ANNOUNCED: &str =
    "The uploaded file does not have the announced size. Announce it again with the correct size.";

/// Converts a video on behalf of `event`, unless it is already converted or another worker has leased it.
// All attempts write the same objects from the same file: a video never gets more parts, unlike a take.
pub(crate) async fn process_video(
    system: &SystemAccess,
    company: &CompanyId,
    id: VideoId,
    event: &str,
) -> Result<RecordOutcome> {
    let Some(video) = persist(system, PERSISTENCE, || begin(system, company, id, event)).await? else {
        return settle(system, company, id).await;
    };
    let outcome = work_on(system, video, event).await;
    if outcome.is_err() {
        // A failure of the machine must not count against the video. If this call fails too, only one attempt is lost.
        let _ = forget_attempt(system, company, id, event).await;
    }
    outcome
}

/// Leases the video; `None` if it needs no conversion or another worker is responsible.
async fn begin(
    system: &SystemAccess,
    company: &CompanyId,
    id: VideoId,
    event: &str,
) -> Result<Option<VersionedItem<Video>>> {
    let mut seen: Option<Conversion> = None;
    for _ in 0..RetryPolicy::CHANGE.attempts {
        let Some(video) = system.store.video(company, id).await? else { return Ok(None) };
        if seen.as_ref().is_some_and(|seen| *seen != video.conversion) {
            return Ok(None);
        }
        let Some(begun) = video.conversion.begun(event, system.now) else { return Ok(None) };
        seen = Some(video.conversion.clone());
        match system.store.begin_conversion(&video, Video::clone(&video).with_conversion(begun)).await {
            // Usually staff have changed the texts.
            Err(Error::Changed | Error::NotFound) => {}
            begun => return begun.map(Some),
        }
    }
    Err(Error::Changed)
}

async fn forget_attempt(system: &SystemAccess, company: &CompanyId, id: VideoId, event: &str) -> Result<()> {
    let video = system.store.video(company, id).await?;
    let Some(video) = video.filter(|video| video.conversion.is_done_by(event)) else { return Ok(()) };
    let forgotten = video.conversion.clone().without_attempt();
    let after = Video::clone(&video).with_conversion(forgotten);
    system.store.begin_conversion(&video, after).await.map(drop)
}

/// Deletes the video's unneeded objects without changing the video.
async fn settle(system: &SystemAccess, company: &CompanyId, id: VideoId) -> Result<RecordOutcome> {
    match system.store.video(company, id).await? {
        // Another worker still needs the upload.
        Some(video) if video.conversion.is_under_way() => Ok(RecordOutcome::Ignored),
        // Delete the upload: it is the largest file, is never shown, and holds the location and the device.
        Some(video) if video.conversion.converted.is_some() => {
            clean_up(system, &[video_upload_key(company, id)]).await
        }
        _ => clean_up(system, &video_keys(company, id)).await,
    }
}

/// Converts a video whose conversion `event` has begun.
async fn work_on(system: &SystemAccess, video: VersionedItem<Video>, event: &str) -> Result<RecordOutcome> {
    let objects = system.objects()?;
    let directory = ScratchFolder::create().map_err(Error::internal)?;
    let input = directory.path().join("upload");
    let found = objects.fetch(&video_upload_key(&video.company, video.id), video.file.size, &input).await?;
    let path = system.config().program_path.as_ref();
    let time = time_left(system);
    let made = if found {
        convert(path, &input, ConversionTarget::Video, time).await
    } else {
        Err(EngineError::Refused(NOT_AS_ANNOUNCED))
    };
    let end = match made {
        Ok(conversion) => {
            // Store the renditions before dropping them: the disk has room for the upload and one set of renditions
            // only.
            store(&objects, &video, &conversion).await?;
            Conversion::succeeded(converted(&conversion))
        }
        Err(EngineError::Refused(reason)) => Conversion::failed(reason),
        Err(EngineError::Machine(error)) => return Err(Error::internal(error)),
    };
    persist(system, PERSISTENCE, || finish(system, video.clone(), event, &end)).await
}

/// Stores the renditions in the bucket.
async fn store(objects: &ObjectStore<'_>, video: &Video, conversion: &ConvertedFiles) -> Result<()> {
    let ConvertedFiles { mp4, flv, thumbnail, .. } = conversion;
    let files = [
        (Rendition::Mp4, Some(mp4)),
        (Rendition::Flv, flv.as_ref()),
        (Rendition::Thumbnail, Some(thumbnail)),
    ];
    for (rendition, path) in files.into_iter().filter_map(|(rendition, path)| Some((rendition, path?))) {
        let key = rendition_key(&video.company, video.id, rendition);
        objects.put_file(&key, path, rendition.file_type()).await?;
    }
    Ok(())
}

/// Records the result unless another attempt has, and deletes unneeded objects.
async fn finish(
    system: &SystemAccess,
    mut video: VersionedItem<Video>,
    event: &str,
    end: &Conversion,
) -> Result<RecordOutcome> {
    let company = video.company.clone();
    let id = video.id;
    for _ in 0..RetryPolicy::CHANGE.attempts {
        let after = Video::clone(&video).with_conversion(end.clone());
        let is_converted = end.converted.is_some();
        match system.commit(system.store.update_video(&video, &after)).await {
            Ok(()) => {
                settle(system, &company, id).await?;
                return Ok(if is_converted { RecordOutcome::Applied } else { RecordOutcome::Refused });
            }
            // Staff have changed or deleted the video.
            Err(Error::Changed | Error::NotFound) => {}
            Err(error) => return Err(error),
        }
        match system.store.video(&company, id).await? {
            // Staff have only changed the texts.
            Some(now) if now.conversion.is_done_by(event) => video = now,
            _ => return settle(system, &company, id).await,
        }
    }
    Err(Error::Changed)
}
