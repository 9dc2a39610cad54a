//! The rules for saving and deleting evaluations, and for vetoes.

use chrono::{DateTime, SubsecRound, Utc};

use crate::Refusal;
use crate::candidate::{Candidate, CandidateStatus};
use crate::evaluation::evaluator_index::EvaluatorIndex;
use crate::evaluation::{
    ALREADY_VETOED, Evaluation, EvaluationReport, FirstJudgement, NOT_INTERVIEWED, NOTHING_RATED,
    VETO_DISABLED, VETOED, Veto,
};
use crate::id::CustomerId;
use crate::project::Project;
use crate::questionnaire::Questionnaire;
use crate::scoring::first::JudgementOrigin;
use crate::text::TextLines;

/// Everything that a change of one evaluation writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluationChange {
    /// The evaluation after the change; `None` deletes it.
    pub evaluation: Option<Evaluation>,
    /// The candidate after the change.
    pub candidate: Candidate,
    /// The project's index of evaluators after the change.
    pub evaluator_index: EvaluatorIndex,
}

impl Evaluation {
    /// An evaluation without content.
    pub fn new(candidate: &Candidate, evaluator: CustomerId, project: &Project) -> Self {
        Self {
            company: candidate.company.clone(),
            project: candidate.project,
            candidate: candidate.id,
            evaluator,
            maximum: project.settings.maximum_score,
            ratings: Vec::new(),
            remarks: Vec::new(),
            recommendation: None,
            comment: TextLines::default(),
            veto: None,
            first: None,
            changed_at: None,
            is_withdrawn: false,
        }
    }

    /// Records the first judgement of the current interview. If there is one already, records when the evaluation was changed.
    fn with_first(
        mut self,
        candidate: &Candidate,
        origin: Option<JudgementOrigin>,
        is_changed: bool,
        now: DateTime<Utc>,
    ) -> Self {
        let has_first = self.first.as_ref().is_some_and(|first| first.is_of_interview(candidate));
        match origin {
            Some(origin) if !has_first => {
                self.first = Some(FirstJudgement::of(&self, candidate, origin, now));
                self.changed_at = None;
            }
            _ if has_first && is_changed => self.changed_at = Some(now.trunc_subsecs(0)),
            _ => {}
        }
        self
    }
}

impl EvaluationChange {
    /// Replaces `before` by `after`, as a completed evaluation if there is an `origin`, otherwise as a draft. Fails with
    /// [`VETOED`], [`NOT_INTERVIEWED`], [`NOTHING_RATED`] or
    /// [`TOO_MANY_EVALUATORS`](crate::evaluation::evaluator_index::TOO_MANY_EVALUATORS).
    pub fn save(
        project: &Project,
        questionnaire: &Questionnaire,
        candidate: &Candidate,
        before: Option<&Evaluation>,
        after: Evaluation,
        origin: Option<JudgementOrigin>,
        now: DateTime<Utc>,
    ) -> Result<Self, Refusal> {
        let completed = origin.is_some();
        if completed {
            require_interviewed(candidate)?;
            // A project without questions and criteria has nothing to rate.
            if after.ratings.is_empty() && !questionnaire.is_empty() {
                return Err(NOTHING_RATED);
            }
        }
        let is_new = before != Some(&after);
        let mut change = Self::report(project, candidate, after.evaluator, completed, is_new, now)?;
        change.candidate.scores.entry(after.evaluator).or_default().rated = after.values();
        let is_changed = is_new || completed != candidate.completed_at(after.evaluator).is_some();
        let after = after.with_first(candidate, origin, is_changed, now);
        Ok(Self { evaluation: Some(after), ..change })
    }

    /// Deletes the evaluation by `evaluator` except its first judgement, which is kept in case they evaluate again. Fails with [`VETOED`].
    pub fn delete(
        project: &Project,
        candidate: &Candidate,
        evaluator: CustomerId,
        before: Option<&Evaluation>,
        now: DateTime<Utc>,
    ) -> Result<Self, Refusal> {
        let mut change = Self::report(project, candidate, evaluator, false, true, now)?;
        change.candidate.scores.entry(evaluator).or_default().rated = None;
        let first = before.and_then(|before| before.first.clone());
        let empty = Evaluation::new(candidate, evaluator, project);
        let left = first.map(|first| Evaluation { first: Some(first), is_withdrawn: true, ..empty });
        Ok(Self { evaluation: left, ..change })
    }

    /// Adds a veto to an evaluation, and completes it. Fails with [`VETO_DISABLED`], [`NOT_INTERVIEWED`], [`ALREADY_VETOED`] or
    /// [`TOO_MANY_EVALUATORS`](crate::evaluation::evaluator_index::TOO_MANY_EVALUATORS).
    pub fn veto(
        project: &Project,
        candidate: &Candidate,
        evaluation: Evaluation,
        veto: Veto,
        now: DateTime<Utc>,
    ) -> Result<Self, Refusal> {
        if !project.settings.veto_enabled {
            return Err(VETO_DISABLED);
        }
        require_interviewed(candidate)?;
        let evaluator = evaluation.evaluator;
        if candidate.is_vetoed_by(evaluator) {
            return Err(ALREADY_VETOED);
        }
        let mut change = Self::report(project, candidate, evaluator, true, true, now)?;
        change.candidate.scores.entry(evaluator).or_default().veto = Some(veto.id);
        let evaluation = Evaluation { veto: Some(veto), is_withdrawn: false, ..evaluation };
        Ok(Self { evaluation: Some(evaluation), ..change })
    }

    /// Records a report about the evaluation at `now`, as an event would. Increments the revision if the report changes or the
    /// evaluation `is_new`.
    fn report(
        project: &Project,
        candidate: &Candidate,
        evaluator: CustomerId,
        completed: bool,
        is_new: bool,
        now: DateTime<Utc>,
    ) -> Result<Self, Refusal> {
        if !completed && candidate.is_vetoed_by(evaluator) {
            return Err(VETOED);
        }
        let mut candidate = candidate.clone();
        let mut evaluator_index = project.evaluator_index.clone();
        // Events have whole seconds, so an event of the same second that arrives later must not count as earlier than this save.
        let at = now.trunc_subsecs(0);
        let known = candidate.evaluations.get(&evaluator);
        let was_completed = known.is_some_and(|known| known.completed);
        // A save through the API overrides every event so far, even one with a date in the future.
        let changes = was_completed != completed || known.is_some_and(|known| known.at > at);
        if changes {
            let bit = evaluator_index.assign_bit(evaluator)?;
            candidate.evaluations.insert(evaluator, EvaluationReport { completed, at, bit });
        }
        let score = candidate.scores.entry(evaluator).or_default();
        score.revision += u64::from(changes || is_new);
        score.saved_at = at;
        Ok(Self { evaluation: None, candidate, evaluator_index })
    }
}

fn require_interviewed(candidate: &Candidate) -> Result<(), Refusal> {
    let is_interviewed = candidate.status == CandidateStatus::Interviewed;
    if is_interviewed { Ok(()) } else { Err(NOT_INTERVIEWED) }
}
