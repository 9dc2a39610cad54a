//! The effects of recordings: conversions, and the deletion of objects that recordings no longer need.

use chrono::{DateTime, Utc};

use super::{Effect, EffectTask};
use crate::answers::Answers;
use crate::id::TakeRef;
use crate::media::conversion::queue::Recording;
use crate::media::video::Video;

impl Effect {
    /// The effects of replacing `before` by `answers`: conversions of finished takes, and the deletion of objects that takes no
    /// longer need. `version` is the version of `answers` after the write.
    pub fn of_answers(before: &Answers, answers: &Answers, version: u64, now: DateTime<Utc>) -> Vec<Self> {
        let Answers { company, project, candidate, .. } = answers;
        let project = *project;
        let candidate = *candidate;
        let conversions = answers.to_convert(before).into_iter().map(|take| {
            let TakeRef { question, number } = take;
            let cause = format!("{candidate}-{question}-{number}-{version}");
            let since = answers.take(take).and_then(|take| take.finished_at).unwrap_or(now);
            let recording = Recording::Take { project, candidate, take };
            let task = EffectTask::Conversion { recording, since };
            Self::new(company.clone(), cause, task, now)
        });
        let takes = answers.to_clear(before);
        let deletion = (!takes.is_empty()).then(|| {
            let task = EffectTask::TakesDeleted { project, candidate, takes };
            Self::new(company.clone(), format_args!("{candidate}-interview-{version}"), task, now)
        });
        conversions.chain(deletion).collect()
    }

    /// The conversion of a video. `version` is the video's version after the write.
    pub fn of_video(video: &Video, version: u64, now: DateTime<Utc>) -> Self {
        let recording = Recording::Video { video: video.id };
        let task = EffectTask::Conversion { recording, since: video.submitted_at };
        Self::new(video.company.clone(), format_args!("{}-{version}", video.id), task, now)
    }
}
