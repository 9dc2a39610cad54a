//! The objects of recorded answers: uploaded parts, markers that permit a conversion, and renditions.

use chrono::{DateTime, Utc};

use super::{CONVERSION_MARKERS, files_prefix};
use crate::domain::account::Account;
use crate::domain::answers::{Answers, RecordedPart};
use crate::domain::id::{CandidateId, CompanyId, ProjectId, QuestionId, TakeRef};
use crate::domain::language::Language;
use crate::domain::media::file::FileType;
use crate::error::Result;
use crate::media::{ListedObject, ObjectStore};

/// The prefix for the parts of takes that candidates upload. Nothing below it is served; a lifecycle rule of the bucket
/// deletes what remains.
const TAKES: &str = "takes/";

/// The objects of a candidate's answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerObjects {
    pub company: CompanyId,
    pub project: ProjectId,
    pub candidate: CandidateId,
}

impl AnswerObjects {
    /// The objects of these answers.
    pub fn of(answers: &Answers) -> Self {
        let Answers { company, project, candidate, .. } = answers;
        Self { company: company.clone(), project: *project, candidate: *candidate }
    }

    /// The prefix of all parts.
    pub fn all_parts(&self) -> String {
        format!("{TAKES}{}", self.place())
    }

    /// The prefix of the parts of a take.
    pub fn parts(&self, take: TakeRef) -> String {
        format!("{}{}/{}/", self.all_parts(), take.question, take.number)
    }

    /// The key of a part.
    pub fn part(&self, take: TakeRef, number: u32) -> String {
        // Padded with zeros, so that the bucket lists the parts in order.
        format!("{}{number:04}", self.parts(take))
    }

    /// The key of the marker that permits a take's conversion.
    pub fn marker(&self, take: TakeRef) -> String {
        format!("{}{}/{}", self.all_markers(), take.question, take.number)
    }

    /// The prefix of all markers.
    pub fn all_markers(&self) -> String {
        format!("{CONVERSION_MARKERS}{}", self.place())
    }

    /// The key of a rendition, mp4 or thumbnail, that the conversion with this number has made.
    // Each conversion has its own keys, so that a conversion that finishes too late replaces nothing.
    pub fn rendition(&self, take: TakeRef, conversion: u32, file_type: FileType) -> String {
        format!("{}{conversion}.{}", self.renditions(take), file_type.extension())
    }

    /// The prefix of all renditions of a take, from all its conversions.
    pub fn renditions(&self, take: TakeRef) -> String {
        format!("{}-", self.rendition_stem(take))
    }

    /// The name that the URLs of a rendition are signed for. It is the same for each conversion, so that URLs stay valid after a new one.
    pub fn rendition_name(&self, take: TakeRef, file_type: FileType) -> String {
        format!("{}.{}", self.rendition_stem(take), file_type.extension())
    }

    /// The name that the URLs of an answer's captions in a language are signed for. Captions are not in the bucket.
    pub fn captions_name(&self, question: QuestionId, language: Language) -> String {
        // No key of the bucket has this prefix.
        format!("captions/{}{question}/{}", self.place(), language.as_str())
    }

    // Below the candidate's files, so that erasures, exports and copies of the files include renditions.
    fn rendition_stem(&self, take: TakeRef) -> String {
        let owner = Account::Candidate { project: self.project, candidate: self.candidate };
        format!("{}answers/{}/{}", files_prefix(&self.company, owner), take.question, take.number)
    }

    /// The number of the conversion that has made the rendition under `key`; `None` if `key` is no rendition of the take.
    pub fn conversion_in(&self, take: TakeRef, key: &str) -> Option<u32> {
        let (conversion, _) = key.strip_prefix(&self.renditions(take))?.split_once('.')?;
        conversion.parse().ok()
    }

    fn place(&self) -> String {
        format!("{}/{}/{}/", self.company, self.project, self.candidate)
    }

    /// The take whose part or rendition has this key; `None` for other keys.
    pub fn in_file(key: &str) -> Option<(Self, TakeRef)> {
        let segments: Vec<&str> = key.split('/').collect();
        let (company, project, candidate, question, number) = match segments[..] {
            ["takes", company, project, candidate, question, number, _part] => {
                (company, project, candidate, question, number)
            }
            ["media", company, "candidates", project, candidate, "answers", question, file] => {
                (company, project, candidate, question, file.split_once('-')?.0)
            }
            _ => return None,
        };
        let objects = Self {
            company: company.parse().ok()?,
            project: project.parse().ok()?,
            candidate: candidate.parse().ok()?,
        };
        Some((objects, TakeRef { question: question.parse().ok()?, number: number.parse().ok()? }))
    }
}

impl ObjectStore<'_> {
    /// Closes the open takes of `answers` permanently at `now`, with the parts that have arrived. Drops a take without part 1.
    pub async fn close_takes(&self, answers: &Answers, now: DateTime<Utc>) -> Result<Answers> {
        let objects = AnswerObjects::of(answers);
        let mut closed = answers.clone();
        for take in answers.open_takes() {
            let found = recorded_parts(&self.list(&objects.parts(take)).await?);
            closed = closed.close_take(take, &found, true, now);
        }
        Ok(closed)
    }
}

/// The number of the part with this file name; `None` for other names.
pub fn recorded_part_in(name: &str) -> Option<u32> {
    name.parse().ok()
}

/// The recorded parts among the listed objects of one take.
pub fn recorded_parts(listed: &[ListedObject]) -> Vec<RecordedPart> {
    let part = |object: &ListedObject| {
        let number = recorded_part_in(object.key.rsplit('/').next()?)?;
        Some(RecordedPart { number, bytes: object.bytes, arrived_at: object.stored_at })
    };
    listed.iter().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;
    use crate::domain::samples;

    #[test]
    fn files_name_their_take_and_all_keys_begin_with_their_candidate() {
        let objects = AnswerObjects::of(&Answers::of(&samples::candidate()));
        let take = TakeRef { question: Id::from_bytes([3; 16]), number: 12 };
        let renditions = [FileType::Mp4, FileType::Jpeg].map(|of| objects.rendition(take, 34, of));
        for file in renditions.iter().chain([&objects.part(take, 7)]) {
            assert_eq!(AnswerObjects::in_file(file), Some((objects.clone(), take)), "{file}");
        }
        assert!(renditions.iter().all(|key| objects.conversion_in(take, key) == Some(34)), "{renditions:?}");
        let other = objects.rendition(TakeRef { number: 1, ..take }, 34, FileType::Mp4);
        assert_eq!(objects.conversion_in(take, &other), None);
        assert_eq!(AnswerObjects::in_file("media/acme/candidates/1/2/3"), None);
        assert!(objects.part(take, 7).ends_with("/12/0007"));
        assert!(objects.part(take, 7).starts_with(&objects.all_parts()));
        assert!(objects.marker(take).starts_with(&objects.all_markers()));
        let files = files_prefix(&samples::company().id, samples::candidate().account());
        assert!(renditions.iter().all(|key| key.starts_with(&files)));
    }
}
