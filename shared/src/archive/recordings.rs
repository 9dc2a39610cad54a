//! The files of recordings that an archive's records need: renditions that are played, and files that are yet to be converted.

use std::collections::BTreeMap;

use super::MediaPlace;
use crate::domain::answers::Answers;
use crate::domain::id::CompanyId;
use crate::domain::media::conversion::ConversionStatus;
use crate::domain::media::file::FileType;
use crate::domain::media::video::{Rendition, Video};
use crate::media::{AnswerObjects, recorded_part_in, rendition_key, video_upload_key};

/// The files of recordings that records name and that were not found yet.
#[derive(Debug, Default)]
pub struct NeededRecordings {
    /// The owner of each file, by its path below `media/`.
    files: BTreeMap<String, String>,
    /// The upload and the owner of each welcome video whose file had not arrived when its record was read, by the path of its mp4.
    announced: BTreeMap<String, (String, String)>,
    /// Takes that wait for their conversion, by the path of their parts.
    parts: BTreeMap<String, NeededParts>,
}

#[derive(Debug)]
struct NeededParts {
    owner: String,
    count: u64,
    /// The number of the last part.
    last: u32,
    found: u64,
}

impl NeededRecordings {
    /// Adds the files that the answers of a candidate need.
    pub fn add_answers(&mut self, answers: &Answers) {
        let objects = AnswerObjects::of(answers);
        let owner = format!("{}/{}", answers.project, answers.candidate);
        for (of, take) in answers.takes() {
            if let Some(conversion) = take.played_conversion {
                for file_type in [FileType::Mp4, FileType::Jpeg] {
                    let key = objects.rendition(of, conversion, file_type);
                    self.add_file(MediaPlace::Candidates, &answers.company, &key, &owner);
                }
            }
            let is_converted_next =
                matches!(take.conversion.status, ConversionStatus::Pending | ConversionStatus::Processing);
            if is_converted_next
                && let Some(path) = path_of(MediaPlace::Takes, &answers.company, &objects.parts(of))
            {
                let count = take.part_count.into();
                let parts = NeededParts { owner: owner.clone(), count, last: take.last_part, found: 0 };
                self.parts.insert(path, parts);
            }
        }
    }

    /// Adds the files that a welcome video needs.
    pub fn add_video(&mut self, video: &Video) {
        let owner = video.id.to_string();
        match video.conversion.status {
            ConversionStatus::Successful => {
                for rendition in Rendition::ALL {
                    let key = rendition_key(&video.company, video.id, rendition);
                    self.add_file(MediaPlace::Videos, &video.company, &key, &owner);
                }
            }
            ConversionStatus::Pending | ConversionStatus::Processing => {
                let key = video_upload_key(&video.company, video.id);
                self.add_file(MediaPlace::Uploads, &video.company, &key, &owner);
            }
            ConversionStatus::AwaitingUpload => {
                let upload = video_upload_key(&video.company, video.id);
                let upload = path_of(MediaPlace::Uploads, &video.company, &upload);
                let made = rendition_key(&video.company, video.id, Rendition::Mp4);
                let made = path_of(MediaPlace::Videos, &video.company, &made);
                self.announced.extend(made.zip(upload.map(|upload| (upload, owner))));
            }
            ConversionStatus::Failed => {}
        }
    }

    fn add_file(&mut self, place: MediaPlace, company: &CompanyId, key: &str, owner: &str) {
        if let Some(path) = path_of(place, company, key) {
            self.files.insert(path, owner.to_owned());
        }
    }

    /// Notes that the file at this path below `media/` was found.
    pub fn note_found(&mut self, path: &str) {
        if self.files.remove(path).is_some() {
            return;
        }
        // The video was converted after its record was read, so its upload is gone: count the upload as missing.
        if let Some((upload, owner)) = self.announced.remove(path) {
            self.files.insert(upload, owner);
        }
        // If this is an upload, its rendition is not needed. Uploads are listed before renditions.
        self.announced.retain(|_, (upload, _)| upload != path);
        let Some((parts, number)) = path.rsplit_once('/') else { return };
        if let Some(take) = self.parts.get_mut(&format!("{parts}/"))
            && recorded_part_in(number).is_some_and(|number| number <= take.last)
        {
            take.found += 1;
        }
    }

    /// The candidate of a take that waits for its conversion although none of its parts was found; `None` if there is no such take.
    pub fn lost_take(&self) -> Option<&str> {
        let lost = self.parts.values().find(|take| take.found == 0);
        lost.map(|take| take.owner.as_str())
    }

    /// The owners of files that were not found, each with the number of these files.
    pub fn missing(&self) -> impl Iterator<Item = (&str, u64)> {
        let files = self.files.values().map(|owner| (owner.as_str(), 1));
        let parts = self.parts.values();
        let parts = parts.map(|take| (take.owner.as_str(), take.count.saturating_sub(take.found)));
        files.chain(parts.filter(|(_, missing)| *missing > 0))
    }
}

/// The path below `media/` of the object with this key.
fn path_of(place: MediaPlace, company: &CompanyId, key: &str) -> Option<String> {
    Some(format!("{}/{}", place.name(), key.strip_prefix(&place.prefix(company))?))
}
