//! Counts of a project's candidates, so that no request has to count them.

use std::collections::BTreeMap;

use super::Refusal;
use super::candidate::{Candidate, CandidateStatus};
use super::id::{CandidateId, CustomerId};
use super::project::{CandidatesMust, Project};
use super::roster::EvaluatorSet;

/// The number of shards of a project's tally.
// Enough that two candidates' changes rarely conflict, few enough to read at once.
pub const SHARDS: u8 = 4;

/// The statuses before the end of the interview, which keep a project from closing.
pub const OPEN: [CandidateStatus; 3] =
    [CandidateStatus::Invited, CandidateStatus::Confirmed, CandidateStatus::Interviewing];

/// The statuses after the beginning of an interview.
const BEGUN: [CandidateStatus; 3] =
    [CandidateStatus::Interviewing, CandidateStatus::Interviewed, CandidateStatus::Aborted];

/// The shard for a candidate's changes.
pub fn shard_of(candidate: CandidateId) -> u8 {
    candidate.to_bytes()[15] % SHARDS
}

/// The name of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterName {
    /// Candidates with this status.
    Status(CandidateStatus),
    /// Interviewed candidates whose evaluation exactly these people of the roster have completed. The counts of any set
    /// of evaluators follow from these, so a change of evaluators changes no counter.
    EvaluatedBy {
        /// Those who have completed their evaluation.
        completed: EvaluatorSet,
        /// Those of them who have vetoed.
        vetoed: EvaluatorSet,
    },
}

/// Counts; missing ones are 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectCounts(BTreeMap<CounterName, i64>);

impl ProjectCounts {
    fn of(candidate: &Candidate) -> Self {
        let mut tally = Self::default();
        tally.add(CounterName::Status(candidate.status), 1);
        if candidate.status == CandidateStatus::Interviewed {
            // Of everyone, evaluators or not: changing the evaluators of a project then writes only the project.
            let (completed, vetoed) = (candidate.completed_seats(), candidate.vetoed_seats());
            tally.add(CounterName::EvaluatedBy { completed, vetoed }, 1);
        }
        tally
    }

    /// The difference between `before` and `after`; `None` stands for a candidate that does not exist.
    pub fn change(before: Option<&Candidate>, after: Option<&Candidate>) -> Self {
        let mut change = after.map(Self::of).unwrap_or_default();
        for (counter, count) in before.map(Self::of).unwrap_or_default().0 {
            change.add(counter, -count);
        }
        change.0.retain(|_, count| *count != 0);
        change
    }

    /// Adds `count` to `counter`.
    pub fn add(&mut self, counter: CounterName, count: i64) {
        *self.0.entry(counter).or_default() += count;
    }

    /// The counters that were ever changed.
    pub fn iter(&self) -> impl Iterator<Item = (CounterName, i64)> {
        self.0.iter().map(|(counter, count)| (*counter, *count))
    }

    /// Whether no counter was ever changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The count of one counter.
    pub fn get(&self, counter: CounterName) -> i64 {
        self.0.get(&counter).copied().unwrap_or(0)
    }

    /// Candidates with this status.
    pub fn with_status(&self, status: CandidateStatus) -> i64 {
        self.get(CounterName::Status(status))
    }

    /// Whether it counts candidates who have begun the interview.
    pub fn has_begun(&self) -> bool {
        BEGUN.into_iter().any(|status| self.with_status(status) > 0)
    }

    /// The statuses that candidates have.
    pub fn statuses(&self) -> impl Iterator<Item = CandidateStatus> {
        CandidateStatus::ALL.into_iter().filter(|status| self.with_status(*status) > 0)
    }

    /// All candidates.
    pub fn candidates(&self) -> i64 {
        CandidateStatus::ALL.into_iter().map(|status| self.with_status(status)).sum()
    }

    /// Interviewed candidates whose evaluation at least `at_least` of `evaluators` have completed, or one has by a veto.
    fn evaluated_by(&self, evaluators: EvaluatorSet, at_least: usize) -> i64 {
        let counts = |counter| match counter {
            CounterName::EvaluatedBy { completed, vetoed } => {
                completed.among(evaluators) >= at_least || vetoed.among(evaluators) > 0
            }
            CounterName::Status(_) => false,
        };
        self.iter().filter(|(counter, _)| counts(*counter)).map(|(_, count)| count).sum()
    }

    /// Fully evaluated candidates.
    pub fn evaluated(&self, project: &Project) -> i64 {
        self.evaluated_by(project.evaluator_seats(), project.evaluations_needed())
    }

    /// Interviewed candidates with results.
    pub fn results(&self, project: &Project) -> u64 {
        u64::try_from(self.evaluated_by(project.evaluator_seats(), 1)).unwrap_or(0)
    }

    /// Whether `customer` is an evaluator and there are interviewed candidates.
    pub fn can_evaluate(&self, project: &Project, customer: Option<CustomerId>) -> bool {
        project.staff.evaluates(customer).is_some() && self.with_status(CandidateStatus::Interviewed) > 0
    }

    /// Whether there are results for `customer`; evaluators see them once they have evaluated a candidate.
    pub fn can_see_results(&self, project: &Project, customer: Option<CustomerId>) -> bool {
        let whose = match project.staff.evaluates(customer) {
            Some(evaluator) => project.roster.seats_of([&evaluator]),
            None => project.evaluator_seats(),
        };
        self.evaluated_by(whose, 1) > 0
    }

    /// Refuses a move of `project` unless its candidates meet the condition `must`. Fails with the refusal of `must`.
    pub fn check(&self, must: CandidatesMust, project: &Project) -> Result<(), Refusal> {
        let holds = match must {
            CandidatesMust::BeAnything => true,
            CandidatesMust::BeArchivable => self.can_archive(project),
            CandidatesMust::BeNew => self.candidates() == self.with_status(CandidateStatus::New),
        };
        if holds { Ok(()) } else { Err(must.refusal()) }
    }

    /// Whether `project` may be closed.
    pub fn can_archive(&self, project: &Project) -> bool {
        OPEN.into_iter().all(|status| self.with_status(status) == 0)
            && self.evaluated(project) == self.with_status(CandidateStatus::Interviewed)
    }
}

impl FromIterator<(CounterName, i64)> for ProjectCounts {
    fn from_iter<I: IntoIterator<Item = (CounterName, i64)>>(counts: I) -> Self {
        let mut tally = Self::default();
        for (counter, count) in counts {
            tally.add(counter, count);
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::candidate::EvaluationReport;
    use crate::domain::evaluation::{self, EvaluationStatus};
    use crate::domain::id::Id;
    use crate::domain::samples::{self, customer, roster};
    use crate::domain::scorecard::ScoreNumbers;

    fn seats(of: &[u8]) -> EvaluatorSet {
        roster().seats_of(&of.iter().map(|byte| customer(*byte)).collect::<Vec<_>>())
    }

    fn candidate(status: CandidateStatus, completed_by: &[u8]) -> Candidate {
        let evaluation = |byte: &u8| {
            let seat = roster().take_seat(customer(*byte)).unwrap();
            (customer(*byte), EvaluationReport { completed: true, at: DateTime::UNIX_EPOCH, seat })
        };
        let evaluations = completed_by.iter().map(evaluation).collect();
        Candidate { status, evaluations, ..samples::candidate() }
    }

    fn project(team_evaluation: u8, evaluators: &[u8]) -> Project {
        let mut project = Project { roster: roster(), ..samples::project() };
        project.settings.team_evaluation = team_evaluation;
        project.staff.evaluators = evaluators.iter().map(|byte| customer(*byte)).collect();
        project
    }

    fn tally(candidates: &[Candidate]) -> ProjectCounts {
        candidates
            .iter()
            .flat_map(|one| ProjectCounts::change(None, Some(one)).iter().collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn a_change_is_the_difference_and_coming_and_going_cancel_out() {
        let before = candidate(CandidateStatus::Interviewed, &[1]);
        let after = candidate(CandidateStatus::Interviewed, &[1, 2]);
        let change = ProjectCounts::change(Some(&before), Some(&after));
        let by =
            |of: &[u8]| CounterName::EvaluatedBy { completed: seats(of), vetoed: EvaluatorSet::default() };
        let expected = [(by(&[1]), -1), (by(&[1, 2]), 1)];
        assert_eq!(change.iter().collect::<Vec<_>>(), expected);
        assert!(ProjectCounts::change(Some(&before), Some(&before)).is_empty());
        let gone = ProjectCounts::change(Some(&after), None);
        assert!(tally(&[after]).iter().all(|(counter, count)| gone.get(counter) == -count));
    }

    #[test]
    fn every_status_counts_as_a_candidate() {
        let everyone: Vec<_> =
            CandidateStatus::ALL.into_iter().map(|status| candidate(status, &[])).collect();
        let tally = tally(&everyone);
        assert_eq!(tally.candidates(), 8);
        assert!(CandidateStatus::ALL.into_iter().all(|status| tally.with_status(status) == 1));
    }

    #[test]
    fn evaluated_follows_the_team_evaluation() {
        let interviewed = |by: &[u8]| candidate(CandidateStatus::Interviewed, by);
        let tally =
            tally(&[interviewed(&[]), interviewed(&[1]), interviewed(&[1, 2]), interviewed(&[1, 2, 3])]);
        for (team_evaluation, evaluated) in [(0, 1), (1, 3), (2, 2)] {
            assert_eq!(
                tally.evaluated(&project(team_evaluation, &[1, 2, 3])),
                evaluated,
                "{team_evaluation}"
            );
        }
    }

    #[test]
    fn only_evaluations_by_current_evaluators_count() {
        let interviewed = |by: &[u8]| candidate(CandidateStatus::Interviewed, by);
        let tally = tally(&[interviewed(&[1]), interviewed(&[1, 2])]);
        for (evaluators, evaluated) in
            [(&[1][..], 2), (&[2], 1), (&[1, 2], 1), (&[3], 0), (&[1, 3], 0), (&[4], 0), (&[], 0)]
        {
            let project = project(0, evaluators);
            assert_eq!(tally.evaluated(&project), evaluated, "{evaluators:?}");
            assert_eq!(tally.can_archive(&project), evaluated == 2, "{evaluators:?}");
            let has_results = evaluators.contains(&1) || evaluators.contains(&2);
            assert_eq!(tally.can_see_results(&project, None), has_results, "{evaluators:?}");
        }
        assert_eq!(tally.evaluated(&project(2, &[1, 3])), 0, "a second one has yet to evaluate");
        assert_eq!(tally.evaluated(&project(1, &[2, 3])), 1);
    }

    #[test]
    fn a_veto_of_an_evaluator_completes_the_evaluation_for_all() {
        let mut vetoed = candidate(CandidateStatus::Interviewed, &[1]);
        let score = ScoreNumbers { veto: Some(Id::from_bytes([7; 16])), ..ScoreNumbers::default() };
        vetoed.scores.insert(customer(1), score);
        let tally = tally(&[vetoed.clone(), candidate(CandidateStatus::Interviewed, &[2])]);
        for (team_evaluation, evaluators, evaluated) in
            [(0, &[1, 2][..], 1), (2, &[1, 2], 1), (2, &[2, 3], 0), (0, &[3], 0), (1, &[1, 2], 2)]
        {
            let project = project(team_evaluation, evaluators);
            assert_eq!(tally.evaluated(&project), evaluated, "{team_evaluation} {evaluators:?}");
            let is_evaluated = evaluation::status_of(&vetoed, &project) == EvaluationStatus::Completed;
            assert_eq!(is_evaluated, evaluators.contains(&1), "{team_evaluation} {evaluators:?}");
        }
    }

    #[test]
    fn flags_follow_the_counts() {
        use CandidateStatus::{Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped};
        let both = project(0, &[1, 2]);
        for (candidates, can_archive) in [
            (vec![], true),
            (vec![candidate(New, &[]), candidate(Expired, &[]), candidate(Skipped, &[])], true),
            (vec![candidate(Invited, &[])], false),
            (vec![candidate(Confirmed, &[])], false),
            (vec![candidate(Interviewing, &[])], false),
            (vec![candidate(Interviewed, &[1])], false),
            (vec![candidate(Interviewed, &[1, 2])], true),
        ] {
            assert_eq!(tally(&candidates).can_archive(&both), can_archive, "{candidates:?}");
        }
        let half = tally(&[candidate(Interviewed, &[1])]);
        assert!(half.can_evaluate(&both, Some(customer(1))) && !half.can_evaluate(&both, Some(customer(3))));
        assert!(!tally(&[candidate(Invited, &[])]).can_evaluate(&both, Some(customer(1))));
        assert!(half.can_see_results(&both, Some(customer(1))), "has evaluated");
        assert!(!half.can_see_results(&both, Some(customer(2))), "has yet to evaluate");
        assert!(half.can_see_results(&both, Some(customer(3))), "does not evaluate");
        assert!(!tally(&[candidate(Interviewed, &[])]).can_see_results(&both, Some(customer(3))));
    }
}
