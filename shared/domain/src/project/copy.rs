//! Copies of a project: the settings, questions and criteria that a copy takes over.

use super::{Project, ProjectSettings};
use crate::id::{CriterionId, LabelId, ProjectId, QuestionId, VideoId};
use crate::questionnaire::{Criterion, Question, Questionnaire};

impl Project {
    /// The new project with the settings of `source`, except those specific to `source`: name, keys, dates, people, partner data.
    /// Labels and videos are copied if `has_label` and `has_video` say that they still exist.
    pub fn copying(
        mut self,
        source: &Self,
        has_label: impl Fn(LabelId) -> bool,
        has_video: impl Fn(VideoId) -> bool,
    ) -> Self {
        // Destructured, so that a new field does not compile until it is copied or explicitly left out.
        let ProjectSettings {
            job_url,
            return_url,
            email_alias,
            mode,
            maximum_score,
            support_lang,
            allow_hash_login,
            max_interview_time,
            interview_platform,
            invite_candidates,
            default_interview_period,
            contact_person,
            veto_enabled,
            team_evaluation,
            reminder_days,
            evaluation_days,
            mut labels,
            mut videos,
            name: _,
            internal_id: _,
            external_id: _,
            closedate: _,
            activationdate: _,
            creationdate: _,
            partner_data: _,
        } = source.settings.clone();
        labels.retain(|label| has_label(*label));
        videos.retain(|placed| has_video(placed.video));
        self.settings = ProjectSettings {
            job_url,
            return_url,
            email_alias,
            mode,
            maximum_score,
            support_lang,
            allow_hash_login,
            max_interview_time,
            interview_platform,
            invite_candidates,
            default_interview_period,
            contact_person,
            veto_enabled,
            team_evaluation,
            reminder_days,
            evaluation_days,
            labels,
            videos,
            ..self.settings
        };
        self
    }

    /// The new project with the retention rule of `source`, if `source` has its own.
    pub fn copying_retention(mut self, source: &Self) -> Self {
        // Without its own rule, the `starts_at` of `source` belongs to a former rule.
        if source.retention.own.is_some() {
            self.retention = source.retention;
        }
        self
    }
}

impl Questionnaire {
    /// Copies the questions and criteria under new identifiers, for another project of the company. Questions lose videos that no
    /// longer exist according to `has_video`.
    pub fn copied_to(
        &self,
        project: ProjectId,
        has_video: impl Fn(VideoId) -> bool,
        mut question_id: impl FnMut() -> QuestionId,
        mut criterion_id: impl FnMut() -> CriterionId,
    ) -> Self {
        let questions = self.questions.iter().cloned().map(|question| Question {
            id: question_id(),
            revision: 1,
            former_texts: Vec::new(),
            video: question.video.filter(|video| has_video(*video)),
            ..question
        });
        let criteria = self.criteria.iter().cloned();
        let criteria = criteria.map(|criterion| Criterion { id: criterion_id(), revision: 1, ..criterion });
        Self {
            company: self.company.clone(),
            project,
            questions: questions.collect(),
            criteria: criteria.collect(),
        }
    }
}
