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

/// Converts a video because of `event`, unless it is converted already or another worker holds it.
// All attempts convert the same file to the same objects: unlike a take, a video never gets more parts.
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
        // The video is not to blame. If this fails as well, nothing but one attempt is lost.
        let _ = forget_attempt(system, company, id, event).await;
    }
    outcome
}

/// Leases the video; `None` if there is nothing to convert.
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
            // Mostly because staff change the texts.
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

/// Leaves the video as it is, and deletes what it does not need.
async fn settle(system: &SystemAccess, company: &CompanyId, id: VideoId) -> Result<RecordOutcome> {
    match system.store.video(company, id).await? {
        // Another worker needs the file.
        Some(video) if video.conversion.is_under_way() => Ok(RecordOutcome::Ignored),
        // The upload is deleted: it is never shown, the largest file of all, and holds the location and the device.
        Some(video) if video.conversion.converted.is_some() => {
            clean_up(system, &[video_upload_key(company, id)]).await
        }
        _ => clean_up(system, &video_keys(company, id)).await,
    }
}

/// Converts a video whose conversion has begun because of `event`.
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
            // The disk has room for the upload and the renditions, not for more.
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

/// Writes the result unless another attempt has, and deletes unneeded objects.
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
