//! A project, to whose interview candidates are invited, and the moves of its status.

pub mod contact;
mod copy;
mod reminder_days;
mod return_url;
mod settings;

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

pub use reminder_days::{ReminderDay, ReminderDays};
pub use return_url::ReturnUrl;
pub use settings::{InterviewPlatform, JoinMode, PlacedVideo, ProjectSettings};

use super::Refusal;
use super::company::Company;
use super::evaluation::evaluator_index::{EvaluatorIndex, EvaluatorSet};
use super::history::{
    EventType, FieldChanges, FieldValue, HasHistory, ResourceChange, ResourceRef, customers,
    events_that_apply, facts, private,
};
use super::id::{CompanyId, ProjectId};
use super::names::named;
use super::privacy::retention_rule::{ProjectRetention, RetentionRule};
use super::questionnaire::Questionnaire;
use super::staff::ProjectStaff;
use super::text::{ExternalId, ShortName, TextLine};

/// The maximum number of welcome videos, and of labels, per project.
pub const MAX_ATTACHED: usize = 20;

named! {
    /// The status of a project.
    #[schemars(extend("x-closed-set" = true))]
    pub enum ProjectStatus {
        /// A draft.
        Incomplete = "10-incomplete",
        /// Active.
        Running = "40-running",
        /// Archived.
        Closed = "60-closed",
    }
}

impl ProjectStatus {
    /// The condition on candidates for a move to `to`; `None` if there is no such move.
    pub fn candidate_requirement(self, to: Self) -> Option<CandidateRequirement> {
        match (self, to) {
            (Self::Incomplete | Self::Closed, Self::Running) => Some(CandidateRequirement::Nothing),
            (Self::Incomplete | Self::Running, Self::Closed) => Some(CandidateRequirement::Archivable),
            (Self::Running, Self::Incomplete) => Some(CandidateRequirement::New),
            _ => None,
        }
    }
}

/// A project as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub id: ProjectId,
    /// The company that owns the project.
    pub company: CompanyId,
    pub status: ProjectStatus,
    /// The fields that managers set.
    pub settings: ProjectSettings,
    /// The roles in the project.
    pub staff: ProjectStaff,
    /// Everyone who has ever evaluated in the project, with their bits.
    pub evaluator_index: EvaluatorIndex,
    /// When the project was last closed. Unlike `closedate`, clients cannot set it.
    pub closed_at: Option<DateTime<Utc>>,
    /// How long the project's candidates are kept.
    #[serde(default)]
    pub retention: ProjectRetention,
}

/// The condition on a project's candidates for a move of its status, checked when the move is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateRequirement {
    /// No condition.
    Nothing,
    /// No candidate is invited, confirmed or interviewing, and each interviewed candidate is fully evaluated.
    Archivable,
    /// All candidates are `new`.
    New,
}

/// The project cannot move from its status to the requested one.
pub const NO_MOVE: Refusal =
    Refusal { code: "no_transition", detail: "The project cannot move from its current status to this one." };

impl CandidateRequirement {
    /// The refusal if the condition does not hold.
    pub fn refusal(self) -> Refusal {
        match self {
            Self::Archivable => Refusal {
                code: "cannot_archive",
                detail: "The project cannot be closed while candidates are invited, confirmed, interviewing or not fully evaluated.",
            },
            Self::New | Self::Nothing => Refusal {
                code: "candidates_not_new",
                detail: "The project cannot return to `10-incomplete` once a candidate is no longer `new`.",
            },
        }
    }
}

impl Project {
    /// A draft without staff.
    pub fn new(id: ProjectId, company: &Company, name: ShortName, now: DateTime<Utc>) -> Self {
        Self {
            id,
            company: company.id.clone(),
            status: ProjectStatus::Incomplete,
            settings: ProjectSettings::new(name, company, now),
            staff: ProjectStaff::default(),
            evaluator_index: EvaluatorIndex::default(),
            closed_at: None,
            retention: ProjectRetention::default(),
        }
    }

    /// The number of completed evaluations that a fully evaluated candidate needs; never 0.
    pub fn evaluations_needed(&self) -> usize {
        match self.settings.team_evaluation {
            // A project without evaluators has no fully evaluated candidate.
            0 => self.staff.evaluators.len().max(1),
            needed => needed.into(),
        }
    }

    /// Whether this service conducts the project's interviews, with this questionnaire.
    pub fn conducts(&self, questionnaire: &Questionnaire) -> bool {
        self.settings.interview_platform == InterviewPlatform::Builtin && !questionnaire.questions.is_empty()
    }

    /// The evaluators who have evaluated in the project before.
    pub fn evaluator_set(&self) -> EvaluatorSet {
        self.evaluator_index.set_of(&self.staff.evaluators)
    }

    /// The project with status `to`, and the condition on its candidates. Fails if there is no such move; also if `to` is the
    /// current status, so check that first.
    pub fn move_to(
        mut self,
        to: ProjectStatus,
        now: DateTime<Utc>,
    ) -> Result<(Self, CandidateRequirement), Refusal> {
        use ProjectStatus::{Closed, Incomplete, Running};
        let requirement = self.status.candidate_requirement(to).ok_or(NO_MOVE)?;
        let today = Some(now.date_naive());
        match to {
            // Keep a date that was planned.
            Running => self.settings.activationdate = self.settings.activationdate.or(today),
            Closed => self.settings.closedate = self.settings.closedate.or(today),
            Incomplete => {}
        }
        self.closed_at = (to == Closed).then_some(now);
        self.status = to;
        Ok((self, requirement))
    }
}

facts! {
    /// The facts of a project: values that its events contain.
    pub struct ProjectFacts {
        /// The display name.
        name: ShortName,
        /// The company's own identifier of the project, shown to people; empty for none.
        internal_id: TextLine<100>,
        /// The project's status.
        status: ProjectStatus,
        /// When the project first ran or is planned to run.
        activationdate: Option<NaiveDate>,
        /// When the project was first closed or is planned to close.
        closedate: Option<NaiveDate>,
        /// The project's own rule for how long candidates are kept; null if the company's rule applies.
        retention: Option<RetentionRule>,
    }
}

impl HasHistory for Project {
    const CREATED: EventType = EventType::ProjectCreated;
    const UPDATED: Option<EventType> = Some(EventType::ProjectUpdated);
    const DELETED: Option<EventType> = None;

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Project { project: self.id })
    }

    fn external_id(&self) -> Option<&ExternalId> {
        self.settings.external_id.as_ref()
    }

    #[rustfmt::skip]
    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self {
            status, settings, staff: ProjectStaff { interview_managers, evaluators, reviewers },
            retention, id: _, company: _, evaluator_index: _, closed_at: _,
        } = self;
        let ProjectSettings {
            name, job_url, return_url, email_alias, mode, maximum_score, support_lang, internal_id, external_id, allow_hash_login,
            max_interview_time, interview_platform, invite_candidates, default_interview_period, closedate, activationdate, creationdate,
            contact_person, veto_enabled, team_evaluation, reminder_days, evaluation_days, partner_data, labels, videos,
        } = settings;
        let facts = ProjectFacts {
            name: name.clone(),
            internal_id: internal_id.clone(),
            status: *status,
            activationdate: *activationdate,
            closedate: *closedate,
            retention: retention.own,
        };
        let others = [
            ("external_id", private(external_id)),
            ("interview_managers", customers(interview_managers)),
            ("evaluators", customers(evaluators)),
            ("reviewers", customers(reviewers)),
            ("job_url", private(job_url)),
            ("return_url", private(return_url)),
            ("email_alias", private(email_alias)),
            ("mode", private(mode)),
            ("maximum_score", private(maximum_score)),
            ("support_lang", private(support_lang)),
            ("allow_hash_login", private(allow_hash_login)),
            ("max_interview_time", private(max_interview_time)),
            ("interview_platform", private(interview_platform)),
            ("invite_candidates", private(invite_candidates)),
            ("default_interview_period", private(default_interview_period)),
            ("creationdate", private(creationdate)),
            ("contact_person", private(contact_person)),
            ("veto_enabled", private(veto_enabled)),
            ("team_evaluation", private(team_evaluation)),
            ("reminder_days", private(reminder_days)),
            ("evaluation_days", private(evaluation_days)),
            ("partner_data", private(partner_data)),
            ("labels", private(labels)),
            ("videos", private(videos)),
        ];
        facts.into_fields().into_iter().chain(others).collect()
    }

    fn events(_: Option<&Self>, _: &Self, changes: &FieldChanges) -> Vec<EventType> {
        let staff = ["interview_managers", "evaluators", "reviewers"];
        if changes.has("status") {
            // A move also sets dates, which clients expect in the same event.
            return vec![EventType::ProjectStatusChanged];
        }
        events_that_apply([
            (staff.iter().any(|role| changes.has(role)), EventType::ProjectStaffChanged),
            (changes.has_other_than(&staff), EventType::ProjectUpdated),
        ])
    }
}

impl Project {
    /// The change that replaces the questionnaire, which is a part of the project.
    pub fn questionnaire_change(&self, before: &Questionnaire, after: &Questionnaire) -> ResourceChange {
        // Include the project's fields, so that the event shows the project's facts.
        let before = [self.history_fields(), before.history_fields()].concat();
        let after = [self.history_fields(), after.history_fields()].concat();
        let (company, resource) = self.place();
        let changes = FieldChanges::between(Some(before), after);
        ResourceChange::new(company, resource, vec![EventType::ProjectUpdated], changes)
            .with_external_id(self.settings.external_id.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn project(status: ProjectStatus) -> Project {
        Project { status, ..samples::project() }
    }

    #[test]
    fn the_status_moves_as_decided_and_no_other_way() {
        use ProjectStatus::{Closed, Incomplete, Running};
        let archivable = CandidateRequirement::Archivable;
        let allowed = [
            (Incomplete, Running, CandidateRequirement::Nothing),
            (Running, Closed, archivable),
            (Incomplete, Closed, archivable),
            (Closed, Running, CandidateRequirement::Nothing),
            (Running, Incomplete, CandidateRequirement::New),
        ];
        for from in ProjectStatus::ALL {
            for to in ProjectStatus::ALL {
                let expected = allowed
                    .iter()
                    .find(|(f, t, _)| (*f, *t) == (from, to))
                    .map(|(.., requirement)| *requirement);
                let moved = project(from).move_to(to, DateTime::UNIX_EPOCH);
                assert_eq!(moved.as_ref().ok().map(|(_, must)| *must), expected, "{from:?} → {to:?}");
                if let Ok((moved, _)) = moved {
                    assert_eq!(moved.status, to);
                }
            }
        }
    }

    #[test]
    fn the_first_move_dates_the_project_and_later_ones_keep_the_date() {
        let day = |day: i64| DateTime::UNIX_EPOCH + chrono::TimeDelta::days(day);
        let (running, _) =
            project(ProjectStatus::Incomplete).move_to(ProjectStatus::Running, day(1)).unwrap();
        let (closed, _) = running.move_to(ProjectStatus::Closed, day(2)).unwrap();
        let (again, _) = closed.move_to(ProjectStatus::Running, day(3)).unwrap();
        assert_eq!(again.settings.activationdate, Some(day(1).date_naive()));
        assert_eq!(again.settings.closedate, Some(day(2).date_naive()));
    }
}
