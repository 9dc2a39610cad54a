//! Converts welcome videos.

use shared::auth::SystemAccess;
use shared::domain::conversion::Conversion;
use shared::domain::id::{CompanyId, VideoId};
use shared::domain::video::{Rendition, Video};
use shared::event::RecordOutcome;
use shared::media::{ObjectStore, rendition_key, video_keys, video_marker_key, video_upload_key};
use shared::store::{RetryPolicy, VersionedItem};
use shared::{Error, Result};

use crate::engine::{ConversionTarget, ConvertedFiles, EngineError, convert};
use crate::{TRY, clean_up, converted};

const NOT_AS_ANNOUNCED: &str =
    "The uploaded file does not have the announced size. Announce it again with the correct size.";

/// Converts a video because of `event`, unless it is converted already or another worker holds it.
pub(crate) async fn process_video(
    system: &SystemAccess,
    company: &CompanyId,
    id: VideoId,
    event: &str,
) -> Result<RecordOutcome> {
    let Some(video) = system.store.video(company, id).await? else {
        return clean_up(system, &video_keys(company, id)).await;
    };
    let Some(begun) = video.conversion.begun(event, system.now) else {
        // Another worker needs the file.
        let left = if video.conversion.is_under_way() { None } else { Some(done_with(company, id)) };
        return clean_up(system, left.as_ref().map_or(&[], <[String; 2]>::as_slice)).await;
    };
    let video = match system.store.begin_conversion(&video, Video::clone(&video).with_conversion(begun)).await
    {
        // Another worker, or a retry of this event, is responsible.
        Err(Error::Changed | Error::NotFound) => {
            return Err(Error::Changed);
        }
        video => video?,
    };
    work_on(system, video, event).await
}

/// The objects that are of no use after the conversion.
fn done_with(company: &CompanyId, id: VideoId) -> [String; 2] {
    // The upload is never shown, the largest file of all, and it holds the location and the device.
    [video_upload_key(company, id), video_marker_key(company, id)]
}

/// Converts a video whose conversion has begun because of `event`.
async fn work_on(system: &SystemAccess, video: VersionedItem<Video>, event: &str) -> Result<RecordOutcome> {
    let objects = system.objects()?;
    let directory = tempfile::tempdir().map_err(Error::internal)?;
    let input = directory.path().join("upload");
    let found = objects.fetch(&video_upload_key(&video.company, video.id), video.file.size, &input).await?;
    let path = system.config().program_path.as_ref();
    let time = TRY.saturating_sub(system.usage().elapsed());
    let made = if found {
        convert(path, &input, ConversionTarget::Video, time).await
    } else {
        Err(EngineError::Refused(NOT_AS_ANNOUNCED))
    };
    match made {
        Ok(conversion) => {
            // The disk has room for the upload and the renditions, not for more.
            store(&objects, &video, &conversion).await?;
            finish(system, video, event, Conversion::succeeded(converted(&conversion))).await
        }
        Err(EngineError::Refused(reason)) => finish(system, video, event, Conversion::failed(reason)).await,
        Err(EngineError::Machine(error)) => Err(Error::internal(error)),
    }
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
    end: Conversion,
) -> Result<RecordOutcome> {
    let (company, id) = (video.company.clone(), video.id);
    for _ in 0..RetryPolicy::CHANGE.attempts {
        let after = Video::clone(&video).with_conversion(end.clone());
        let is_converted = end.converted.is_some();
        match system.commit(system.store.update_video(&video, &after)).await {
            Ok(()) if is_converted => {
                clean_up(system, &done_with(&company, id)).await?;
                return Ok(RecordOutcome::Applied);
            }
            Ok(()) => {
                clean_up(system, &video_keys(&company, id)).await?;
                return Ok(RecordOutcome::Refused);
            }
            // Staff have changed or deleted the video, or its time limit is over.
            Err(Error::Changed | Error::NotFound) => {}
            Err(error) => return Err(error),
        }
        match system.store.video(&company, id).await? {
            // Staff have only changed the texts.
            Some(now) if now.conversion.is_done_by(event) => video = now,
            Some(now) if now.conversion.is_under_way() || now.conversion.converted.is_some() => {
                return Ok(RecordOutcome::Ignored);
            }
            _ => return clean_up(system, &video_keys(&company, id)).await,
        }
    }
    Err(Error::Changed)
}
