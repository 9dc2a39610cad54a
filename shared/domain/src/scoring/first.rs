//! First judgements: what is recorded of an evaluation when its author first completes it.

use chrono::{DateTime, SubsecRound, Utc};

use crate::candidate::Candidate;
use crate::evaluation::{Evaluation, FirstJudgement};
use crate::id::CustomerId;
use crate::staff::ProjectStaff;
use crate::staff::customer::AccountType;

/// The circumstances in which an evaluation is completed, for its first judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgementOrigin {
    /// Whether the author can read existing evaluations of others.
    pub reads_others: bool,
    /// Whether a named token writes on behalf of the author.
    pub by_token: bool,
}

/// The writer of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgementWriter {
    /// The author in person.
    Author,
    /// A user who has logged in on behalf of the author.
    OnBehalf,
    NamedToken,
}

impl JudgementOrigin {
    /// The origin of an evaluation that `writer` writes for `author`.
    pub fn new(
        author: CustomerId,
        account_type: AccountType,
        staff: &ProjectStaff,
        writer: JudgementWriter,
    ) -> Self {
        // A user who acts on behalf of the author may have read others' evaluations with their own rights, which are not looked up.
        // Owners and managers count as readers even where they are blind themselves, because their other roles show them the results.
        let reads_others = writer == JudgementWriter::OnBehalf
            || account_type >= AccountType::Admin
            || staff.interview_managers.contains(&author)
            || staff.reviewers.contains(&author);
        Self { reads_others, by_token: writer == JudgementWriter::NamedToken }
    }
}

impl FirstJudgement {
    /// The first judgement of an evaluation that is completed at `now`.
    pub(super) fn of(
        evaluation: &Evaluation,
        candidate: &Candidate,
        JudgementOrigin { reads_others, by_token }: JudgementOrigin,
        now: DateTime<Utc>,
    ) -> Self {
        let author = evaluation.evaluator;
        let is_other = |by: &CustomerId| *by != author;
        let others_have_judged =
            candidate.completed_by().iter().any(is_other) || candidate.vetos().any(|(by, _)| is_other(&by));
        // A veto or an event may have completed the author's evaluation before, which let them read those of others.
        let was_completed = candidate.evaluations.contains_key(&author);
        Self {
            completed_at: now.trunc_subsecs(0),
            recommendation: evaluation.recommendation,
            rated: evaluation.values(),
            blind: !(others_have_judged && (reads_others || was_completed)),
            by_token,
        }
    }

    /// Whether the judgement is about the current answers. A reopened interview is judged anew.
    pub(super) fn is_of_interview(&self, candidate: &Candidate) -> bool {
        let completed_at = candidate.interviewed_at.map(|at| at.trunc_subsecs(0));
        completed_at.is_none_or(|at| at <= self.completed_at)
    }
}
