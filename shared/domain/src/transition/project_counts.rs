//! Counters of a project's candidates, so that no request has to count them.
//!
//! Each write of a candidate updates these counters in the same transaction. They count candidates by status, and interviewed
//! candidates also by the exact set of people who have completed their evaluation, for example "Ada and Grace, and nobody else:
//! 12". Because evaluators come and go, numbers for the current ones are computed on read: a candidate counts as evaluated if
//! enough bits of the counter's set belong to current evaluators. So changing the evaluators changes no counter.
//!
//! Deleted candidates leave counts behind: see [`erased_ratings`](crate::retention::erased_ratings).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::Refusal;
use crate::candidate::{Candidate, CandidateStatus};
use crate::evaluation::evaluator_index::EvaluatorSet;
use crate::id::{CandidateId, CustomerId};
use crate::names::parse_enum;
use crate::project::{CandidateRequirement, Project};
use crate::scoring::result::ResultSummary;

/// The number of counter shards of a project.
// Enough that changes of two candidates rarely conflict, and few enough to read together.
pub const SHARDS: u8 = 4;

/// The counter shard for a candidate's changes.
pub fn shard_of(candidate: CandidateId) -> u8 {
    candidate.to_bytes()[15] % SHARDS
}

/// The name of a counter. Its text form is `status:<status>`, `evaluated_by:<set>` or `evaluated_by:<set>:<set that has vetoed>`,
/// `erased:<status>`, `erased_rating:<0–10>` or `shown_rating:<0–10>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterName {
    Status(CandidateStatus),
    /// Interviewed candidates whose evaluation was completed by exactly these people.
    EvaluatedBy {
        /// The people who have completed their evaluation.
        completed: EvaluatorSet,
        vetoed: EvaluatorSet,
    },
    /// Deleted candidates who had this status.
    Erased(CandidateStatus),
    /// Deleted candidates whose evaluations had this mean, in tenths of the scale.
    ErasedRating(u8),
    /// Deleted candidates with this mean that statistics show.
    ShownRating(u8),
}

impl CounterName {
    /// Whether the counter is about deleted candidates, so that it cannot be recounted.
    pub fn is_of_erased(self) -> bool {
        match self {
            Self::Erased(_) | Self::ErasedRating(_) | Self::ShownRating(_) => true,
            Self::Status(_) | Self::EvaluatedBy { .. } => false,
        }
    }
}

impl fmt::Display for CounterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "status:{}", status.as_str()),
            // Short, because an item has only 400 KB: all sets of 14 people take 330 KB. With 40 people, a shard has room for
            // some 15,000 sets.
            Self::EvaluatedBy { completed, vetoed } if *vetoed == EvaluatorSet::default() => {
                write!(f, "evaluated_by:{completed}")
            }
            Self::EvaluatedBy { completed, vetoed } => write!(f, "evaluated_by:{completed}:{vetoed}"),
            Self::Erased(status) => write!(f, "erased:{}", status.as_str()),
            Self::ErasedRating(rating) => write!(f, "erased_rating:{rating}"),
            Self::ShownRating(rating) => write!(f, "shown_rating:{rating}"),
        }
    }
}

impl FromStr for CounterName {
    /// The text is another attribute, or a counter that only newer code knows.
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (kind, value) = text.split_once(':').ok_or(())?;
        match kind {
            "status" => parse_enum(value).map(Self::Status).map_err(|_| ()),
            "evaluated_by" => {
                let (completed, vetoed) = value.split_once(':').unwrap_or((value, "0"));
                let completed = completed.parse().map_err(|_| ())?;
                Ok(Self::EvaluatedBy { completed, vetoed: vetoed.parse().map_err(|_| ())? })
            }
            "erased" => parse_enum(value).map(Self::Erased).map_err(|_| ()),
            "erased_rating" => value.parse().map(Self::ErasedRating).map_err(|_| ()),
            "shown_rating" => value.parse().map(Self::ShownRating).map_err(|_| ()),
            _ => Err(()),
        }
    }
}

/// The value of each counter; missing ones are 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectCounts(BTreeMap<CounterName, i64>);

impl ProjectCounts {
    /// The change from `before` to `after`. `None` stands for a candidate who does not exist.
    pub fn change(before: Option<&Candidate>, after: Option<&Candidate>) -> Self {
        let mut change = Self::default();
        for (candidate, count) in
            before.map(|candidate| (candidate, -1)).into_iter().chain(after.map(|candidate| (candidate, 1)))
        {
            change.add(CounterName::Status(candidate.status), count);
            if candidate.status == CandidateStatus::Interviewed {
                // Count everyone who has completed an evaluation, evaluator or not: then changing the evaluators of a project
                // writes only the project.
                let completed = candidate.completed_set();
                let vetoed = candidate.vetoed_set();
                change.add(CounterName::EvaluatedBy { completed, vetoed }, count);
            }
        }
        if let (Some(before), None) = (before, after) {
            // The write that deletes a candidate counts the deletion, whatever its reason, so each deletion counts exactly once.
            change.add(CounterName::Erased(before.status), 1);
            let rating = ResultSummary::of(before).and_then(|summary| summary.tenths_of_scale());
            rating.into_iter().for_each(|rating| change.add(CounterName::ErasedRating(rating), 1));
        }
        change.0.retain(|_, count| *count != 0);
        change
    }

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

    pub fn get(&self, counter: CounterName) -> i64 {
        self.0.get(&counter).copied().unwrap_or(0)
    }

    pub fn with_status(&self, status: CandidateStatus) -> i64 {
        self.get(CounterName::Status(status))
    }

    /// Whether any candidate has begun the interview.
    pub fn has_begun(&self) -> bool {
        use CandidateStatus::{Aborted, Interviewed, Interviewing};
        [Interviewing, Interviewed, Aborted].into_iter().any(|status| self.with_status(status) > 0)
    }

    pub fn statuses(&self) -> impl Iterator<Item = CandidateStatus> {
        CandidateStatus::ALL.into_iter().filter(|status| self.with_status(*status) > 0)
    }

    /// The number of all candidates.
    pub fn candidates(&self) -> i64 {
        CandidateStatus::ALL.into_iter().map(|status| self.with_status(status)).sum()
    }

    /// The number of interviewed candidates whose evaluation at least `at_least` of `evaluators` have completed, or one of them by a veto.
    fn evaluated_by(&self, evaluators: EvaluatorSet, at_least: usize) -> i64 {
        let mut evaluated = 0;
        for (counter, count) in self.iter() {
            if let CounterName::EvaluatedBy { completed, vetoed } = counter
                && (completed.count_in(evaluators) >= at_least || vetoed.count_in(evaluators) > 0)
            {
                evaluated += count;
            }
        }
        evaluated
    }

    /// The number of fully evaluated candidates.
    pub fn evaluated(&self, project: &Project) -> i64 {
        self.evaluated_by(project.evaluator_set(), project.evaluations_needed())
    }

    /// The number of interviewed candidates who await the evaluation by `customer`; `None` if they are not an evaluator.
    pub fn awaiting_evaluation(&self, project: &Project, customer: Option<CustomerId>) -> Option<i64> {
        let own = project.evaluator_index.set_of([&project.staff.evaluates(customer)?]);
        Some(self.with_status(CandidateStatus::Interviewed) - self.evaluated_by(own, 1))
    }

    /// The number of interviewed candidates with results.
    pub fn results(&self, project: &Project) -> u64 {
        u64::try_from(self.evaluated_by(project.evaluator_set(), 1)).unwrap_or(0)
    }

    /// Whether `customer` is an evaluator and there are interviewed candidates.
    pub fn can_evaluate(&self, project: &Project, customer: Option<CustomerId>) -> bool {
        project.staff.evaluates(customer).is_some() && self.with_status(CandidateStatus::Interviewed) > 0
    }

    /// Whether `customer` can see any result; evaluators see results once they have evaluated a candidate.
    pub fn can_see_results(&self, project: &Project, customer: Option<CustomerId>) -> bool {
        let evaluators = match project.staff.evaluates(customer) {
            Some(evaluator) => project.evaluator_index.set_of([&evaluator]),
            None => project.evaluator_set(),
        };
        self.evaluated_by(evaluators, 1) > 0
    }

    /// Checks that the candidates of `project` meet `requirement`. Fails with the refusal of `requirement`.
    pub fn check(&self, requirement: CandidateRequirement, project: &Project) -> Result<(), Refusal> {
        let holds = forbidden_statuses(requirement).iter().all(|status| self.with_status(*status) == 0)
            && (requirement != CandidateRequirement::Archivable
                || self.evaluated(project) == self.with_status(CandidateStatus::Interviewed));
        if holds { Ok(()) } else { Err(requirement.refusal()) }
    }

    /// Whether `project` may be closed.
    pub fn can_archive(&self, project: &Project) -> bool {
        self.check(CandidateRequirement::Archivable, project).is_ok()
    }
}

/// The statuses that no candidate may have if a move has this requirement.
pub fn forbidden_statuses(requirement: CandidateRequirement) -> &'static [CandidateStatus] {
    use CandidateStatus::{Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, Skipped};
    match requirement {
        CandidateRequirement::Nothing => &[],
        CandidateRequirement::Archivable => &[Invited, Confirmed, Interviewing],
        CandidateRequirement::New => {
            &[Invited, Confirmed, Interviewing, Interviewed, Expired, Aborted, Skipped]
        }
    }
}

impl FromIterator<(CounterName, i64)> for ProjectCounts {
    fn from_iter<I: IntoIterator<Item = (CounterName, i64)>>(counts: I) -> Self {
        let mut sum = Self::default();
        counts.into_iter().for_each(|(counter, count)| sum.add(counter, count));
        sum
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::evaluation::{EvaluationReport, ScoreNumbers};
    use crate::id::Id;
    use crate::samples::{self, customer, evaluator_index};
    use crate::scoring::status::EvaluationStatus;

    fn set(of: &[u8]) -> EvaluatorSet {
        evaluator_index().set_of(&of.iter().map(|byte| customer(*byte)).collect::<Vec<_>>())
    }

    fn candidate(status: CandidateStatus, completed_by: &[u8]) -> Candidate {
        let evaluation = |byte: &u8| {
            let bit = evaluator_index().assign_bit(customer(*byte)).unwrap();
            (customer(*byte), EvaluationReport { completed: true, at: DateTime::UNIX_EPOCH, bit })
        };
        let evaluations = completed_by.iter().map(evaluation).collect();
        Candidate { status, evaluations, ..samples::candidate() }
    }

    fn project(team_evaluation: u8, evaluators: &[u8]) -> Project {
        let mut project = Project { evaluator_index: evaluator_index(), ..samples::project() };
        project.settings.team_evaluation = team_evaluation;
        project.staff.evaluators = evaluators.iter().map(|byte| customer(*byte)).collect();
        project
    }

    fn counts_of(candidates: &[Candidate]) -> ProjectCounts {
        candidates
            .iter()
            .flat_map(|candidate| ProjectCounts::change(None, Some(candidate)).iter().collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn a_change_is_the_difference_and_coming_and_going_cancel_out() {
        let before = candidate(CandidateStatus::Interviewed, &[1]);
        let after = candidate(CandidateStatus::Interviewed, &[1, 2]);
        let change = ProjectCounts::change(Some(&before), Some(&after));
        let by = |of: &[u8]| CounterName::EvaluatedBy { completed: set(of), vetoed: EvaluatorSet::default() };
        let expected = [(by(&[1]), -1), (by(&[1, 2]), 1)];
        assert_eq!(change.iter().collect::<Vec<_>>(), expected);
        assert!(ProjectCounts::change(Some(&before), Some(&before)).is_empty());
        let gone = ProjectCounts::change(Some(&after), None);
        assert!(counts_of(&[after]).iter().all(|(counter, count)| gone.get(counter) == -count));
    }

    #[test]
    fn what_was_deleted_counts_as_erased_and_for_no_rule() {
        let skipped = candidate(CandidateStatus::Skipped, &[]);
        let gone = ProjectCounts::change(Some(&skipped), None);
        let numbers: Vec<_> = gone.iter().filter(|(counter, _)| counter.is_of_erased()).collect();
        assert_eq!(numbers, [(CounterName::Erased(CandidateStatus::Skipped), 1)]);
        let erased: ProjectCounts = numbers.into_iter().collect();
        let project = project(0, &[1]);
        for requirement in [CandidateRequirement::New, CandidateRequirement::Archivable] {
            assert_eq!(erased.check(requirement, &project), Ok(()));
        }
        assert_eq!((erased.candidates(), erased.has_begun()), (0, false));
    }

    #[test]
    fn every_status_counts_as_a_candidate() {
        let everyone: Vec<_> =
            CandidateStatus::ALL.into_iter().map(|status| candidate(status, &[])).collect();
        let counts = counts_of(&everyone);
        assert_eq!(counts.candidates(), 8);
        assert!(CandidateStatus::ALL.into_iter().all(|status| counts.with_status(status) == 1));
    }

    #[test]
    fn evaluated_follows_the_team_evaluation() {
        let interviewed = |by: &[u8]| candidate(CandidateStatus::Interviewed, by);
        let counts =
            counts_of(&[interviewed(&[]), interviewed(&[1]), interviewed(&[1, 2]), interviewed(&[1, 2, 3])]);
        for (team_evaluation, evaluated) in [(0, 1), (1, 3), (2, 2)] {
            assert_eq!(
                counts.evaluated(&project(team_evaluation, &[1, 2, 3])),
                evaluated,
                "{team_evaluation}"
            );
        }
    }

    #[test]
    fn only_evaluations_by_current_evaluators_count() {
        let interviewed = |by: &[u8]| candidate(CandidateStatus::Interviewed, by);
        let counts = counts_of(&[interviewed(&[1]), interviewed(&[1, 2])]);
        for (evaluators, evaluated) in
            [(&[1][..], 2), (&[2], 1), (&[1, 2], 1), (&[3], 0), (&[1, 3], 0), (&[4], 0), (&[], 0)]
        {
            let project = project(0, evaluators);
            assert_eq!(counts.evaluated(&project), evaluated, "{evaluators:?}");
            assert_eq!(counts.can_archive(&project), evaluated == 2, "{evaluators:?}");
            let has_results = evaluators.contains(&1) || evaluators.contains(&2);
            assert_eq!(counts.can_see_results(&project, None), has_results, "{evaluators:?}");
        }
        assert_eq!(counts.evaluated(&project(2, &[1, 3])), 0, "a second one has yet to evaluate");
        assert_eq!(counts.evaluated(&project(1, &[2, 3])), 1);
    }

    #[test]
    fn a_veto_of_an_evaluator_completes_the_evaluation_for_all() {
        let mut vetoed = candidate(CandidateStatus::Interviewed, &[1]);
        let score = ScoreNumbers { veto: Some(Id::from_bytes([7; 16])), ..ScoreNumbers::default() };
        vetoed.scores.insert(customer(1), score);
        let counts = counts_of(&[vetoed.clone(), candidate(CandidateStatus::Interviewed, &[2])]);
        for (team_evaluation, evaluators, evaluated) in
            [(0, &[1, 2][..], 1), (2, &[1, 2], 1), (2, &[2, 3], 0), (0, &[3], 0), (1, &[1, 2], 2)]
        {
            let project = project(team_evaluation, evaluators);
            assert_eq!(counts.evaluated(&project), evaluated, "{team_evaluation} {evaluators:?}");
            let is_evaluated = vetoed.evaluation_status(&project) == EvaluationStatus::Completed;
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
            assert_eq!(counts_of(&candidates).can_archive(&both), can_archive, "{candidates:?}");
        }
        let half = counts_of(&[candidate(Interviewed, &[1])]);
        assert!(half.can_evaluate(&both, Some(customer(1))) && !half.can_evaluate(&both, Some(customer(3))));
        assert!(!counts_of(&[candidate(Invited, &[])]).can_evaluate(&both, Some(customer(1))));
        let waiting = |counts: &ProjectCounts, by| counts.awaiting_evaluation(&both, Some(customer(by)));
        assert_eq!((waiting(&half, 1), waiting(&half, 2), waiting(&half, 3)), (Some(0), Some(1), None));
        assert_eq!(waiting(&counts_of(&[candidate(Invited, &[]), candidate(Interviewed, &[])]), 2), Some(1));
        assert!(half.can_see_results(&both, Some(customer(1))), "has evaluated");
        assert!(!half.can_see_results(&both, Some(customer(2))), "has yet to evaluate");
        assert!(half.can_see_results(&both, Some(customer(3))), "does not evaluate");
        assert!(!counts_of(&[candidate(Interviewed, &[])]).can_see_results(&both, Some(customer(3))));
    }
}
