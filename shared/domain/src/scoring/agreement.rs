//! How far the evaluators of a project agree: alpha over the first judgements of evaluators who had not read those of others.

use std::collections::{BTreeMap, BTreeSet};

use crate::Refusal;
use crate::evaluation::{FirstJudgement, RatingValues, Recommendation};
use crate::id::{CandidateId, CriterionId, CustomerId, QuestionId};
use crate::names::named;
use crate::questionnaire::Questionnaire;
use crate::scoring::alpha::PairableValues;

/// The maximum number of interviewed candidates for which agreement is computed.
pub const MAX_CANDIDATES: i64 = 10_000;
/// The minimum number of units for a meaningful alpha.
const MIN_UNITS: usize = 10;

/// The project has too many interviewed candidates.
pub const TOO_MANY_CANDIDATES: Refusal = Refusal {
    code: "too_many_candidates",
    detail: "Agreement is computed over at most 10,000 interviewed candidates. Compute it from an export of the company.",
};
/// The refusal of an evaluator who has not evaluated all candidates of the project yet.
pub const EVALUATE_ALL_FIRST: Refusal = Refusal {
    code: "evaluate_first",
    detail: "Complete your own evaluations of the project's candidates first.",
};

named! {
    /// Why there is no alpha.
    pub enum NoAlpha {
        /// Fewer than two evaluators have values.
        OneRater = "one_rater",
        /// Fewer than ten candidates have values of at least two evaluators.
        TooFewUnits = "too_few_units",
        /// All values are the same.
        NoVariation = "no_variation",
    }
}

/// How far evaluators agree on a question, a criterion, the overall rating or the recommendation.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// Alpha, or why there is none.
    pub alpha: Result<f64, NoAlpha>,
    /// The number of candidates with at least two values.
    pub units: usize,
    /// The number of evaluators who gave these values.
    pub raters: usize,
    /// The number of values of candidates with at least two.
    pub values: usize,
}

/// The numbers of evaluations that are left out, each counted under the first reason that applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Written by a named token.
    pub by_token: usize,
    /// Written by an evaluator who could read evaluations of others.
    pub not_blind: usize,
    /// The only remaining one of its candidate.
    pub single: usize,
}

/// How far the evaluators of a project agree.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectAgreement {
    pub questions: Vec<(QuestionId, Agreement)>,
    pub criteria: Vec<(CriterionId, Agreement)>,
    /// The agreement on the mean of each evaluator's ratings of a candidate.
    pub overall: Agreement,
    pub recommendation: Agreement,
    /// The number of evaluations that count.
    pub counted: usize,
    pub left_out: LeftOut,
}

/// First judgements of completed evaluations by evaluators of a project.
pub type Judgements = BTreeMap<CandidateId, BTreeMap<CustomerId, FirstJudgement>>;

impl ProjectAgreement {
    /// The agreement of these judgements on the current questions and criteria.
    pub fn of(mut judgements: Judgements, questionnaire: &Questionnaire) -> Self {
        let mut left_out = LeftOut::default();
        for by in judgements.values_mut() {
            by.retain(|_, first| {
                left_out.by_token += usize::from(first.by_token);
                left_out.not_blind += usize::from(!first.by_token && !first.blind);
                first.blind && !first.by_token
            });
        }
        left_out.single = judgements.values().filter(|by| by.len() == 1).count();
        let counted = judgements.values().map(BTreeMap::len).filter(|count| *count > 1).sum();
        let rated = |value: &dyn Fn(&RatingValues) -> Option<f64>| {
            agreement(&judgements, |first| value(first.rated.as_ref()?), PairableValues::interval_alpha)
        };
        let questions = questionnaire.questions.iter().map(|question| {
            (question.id, rated(&|values| part(values, *values.questions.get(&question.id)?)))
        });
        let criteria = questionnaire.criteria.iter().map(|criterion| {
            (criterion.id, rated(&|values| part(values, *values.criteria.get(&criterion.id)?)))
        });
        let recommendation =
            agreement(&judgements, |first| first.recommendation.map(rank), PairableValues::ordinal_alpha);
        Self {
            questions: questions.collect(),
            criteria: criteria.collect(),
            overall: rated(&|values| mean(values, questionnaire)),
            recommendation,
            counted,
            left_out,
        }
    }
}

/// A value as a fraction of its scale.
// A single division of integers, so that 4 of 5 and 8 of 10 give exactly the same number.
fn part(values: &RatingValues, tenths: u32) -> Option<f64> {
    let most = values.maximum.checked_mul(10).filter(|most| *most > 0)?;
    Some(f64::from(tenths) / f64::from(most))
}

/// The mean of the ratings of current questions and criteria, as a fraction of their scale.
fn mean(values: &RatingValues, questionnaire: &Questionnaire) -> Option<f64> {
    let sum = values.sum(questionnaire);
    let most = u64::from(sum.maximum) * 10 * u64::from(sum.count);
    (most > 0).then(|| f64::from(sum.tenths) / most as f64)
}

fn rank(recommendation: Recommendation) -> f64 {
    match recommendation {
        Recommendation::DefinitelyNo => 0.0,
        Recommendation::No => 1.0,
        Recommendation::Yes => 2.0,
        Recommendation::StrongYes => 3.0,
    }
}

fn agreement(
    judgements: &Judgements,
    value: impl Fn(&FirstJudgement) -> Option<f64>,
    alpha: impl Fn(&PairableValues) -> Option<f64>,
) -> Agreement {
    let (mut having, mut raters) = (BTreeSet::new(), BTreeSet::new());
    let mut units = Vec::with_capacity(judgements.len());
    for by in judgements.values() {
        let valued: Vec<_> = by.iter().filter_map(|(rater, first)| Some((*rater, value(first)?))).collect();
        having.extend(valued.iter().map(|(rater, _)| *rater));
        if valued.len() > 1 {
            raters.extend(valued.iter().map(|(rater, _)| *rater));
        }
        units.push(valued.into_iter().map(|(_, value)| value).collect());
    }
    let pairable = PairableValues::new(units);
    let alpha = if having.len() < 2 {
        Err(NoAlpha::OneRater)
    } else if pairable.units() < MIN_UNITS {
        Err(NoAlpha::TooFewUnits)
    } else {
        alpha(&pairable).ok_or(NoAlpha::NoVariation)
    };
    Agreement { alpha, units: pairable.units(), raters: raters.len(), values: pairable.count() }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::id::Id;
    use crate::samples;

    fn first(value: Option<u32>, recommendation: Option<Recommendation>) -> FirstJudgement {
        let rated = value.map(|tenths| RatingValues {
            maximum: 5,
            questions: BTreeMap::new(),
            criteria: BTreeMap::from([(criterion(), tenths)]),
        });
        let completed_at = DateTime::UNIX_EPOCH;
        FirstJudgement { completed_at, recommendation, rated, blind: true, by_token: false }
    }

    fn criterion() -> CriterionId {
        Id::from_bytes([1; 16])
    }

    fn questionnaire() -> Questionnaire {
        let criterion = crate::questionnaire::Criterion {
            id: criterion(),
            revision: 1,
            position: 1,
            name: crate::questionnaire::CriterionName::parse("Listening").unwrap(),
            description: crate::text::TextLines::default(),
            anchors: crate::questionnaire::Anchors::default(),
        };
        Questionnaire::new(samples::company().id, samples::project().id).with_criterion(criterion).unwrap()
    }

    /// Judgements by evaluators 1, 2, … of candidates 1, 2, …
    fn judgements(candidates: &[&[FirstJudgement]]) -> Judgements {
        let by = |judgements: &[FirstJudgement]| {
            let numbered = (1..).zip(judgements.iter().cloned());
            numbered.map(|(number, first)| (samples::customer(number), first)).collect()
        };
        (1..).zip(candidates).map(|(number, all)| (Id::from_bytes([number; 16]), by(all))).collect()
    }

    fn valued(tenths: u32) -> FirstJudgement {
        first(Some(tenths), None)
    }

    #[test]
    fn each_evaluation_is_left_out_for_its_first_reason() {
        let token = FirstJudgement { by_token: true, blind: false, ..valued(30) };
        let reader = FirstJudgement { blind: false, ..valued(30) };
        let all: [&[FirstJudgement]; 4] = [
            &[valued(30), valued(40), reader.clone()],
            &[valued(30), token.clone()],
            &[token, reader],
            &[valued(30)],
        ];
        let found = ProjectAgreement::of(judgements(&all), &questionnaire());
        assert_eq!(found.counted, 2);
        assert_eq!(found.left_out, LeftOut { by_token: 2, not_blind: 2, single: 2 });
        assert_eq!((found.overall.units, found.overall.raters, found.overall.values), (1, 2, 2));
    }

    #[test]
    fn reasons_come_in_their_order() {
        let one: Vec<[FirstJudgement; 1]> = (0..12).map(|value| [valued(value)]).collect();
        let one: Vec<&[FirstJudgement]> = one.iter().map(|all| &all[..]).collect();
        let of = |all: &[&[FirstJudgement]]| ProjectAgreement::of(judgements(all), &questionnaire());
        assert_eq!(of(&one).overall.alpha, Err(NoAlpha::OneRater));
        let pair = [valued(30), valued(30)];
        let nine: Vec<&[FirstJudgement]> = vec![&pair; 9];
        assert_eq!(of(&nine).overall.alpha, Err(NoAlpha::TooFewUnits));
        let mut ten: Vec<&[FirstJudgement]> = vec![&pair; 10];
        assert_eq!(of(&ten).overall.alpha, Err(NoAlpha::NoVariation));
        assert_eq!(of(&ten).recommendation.alpha, Err(NoAlpha::OneRater));
        let other = [valued(40), valued(40)];
        ten[0] = &other;
        assert_eq!(of(&ten).overall.alpha, Ok(1.0));
        assert_eq!(of(&ten).criteria[0].1.alpha, Ok(1.0));
        assert_eq!(
            ProjectAgreement::of(
                judgements(&ten),
                &Questionnaire::new(samples::company().id, samples::project().id)
            )
            .overall
            .alpha,
            Err(NoAlpha::OneRater),
            "nothing is left to rate"
        );
    }

    #[test]
    fn values_of_different_scales_are_compared_by_their_parts() {
        let ten = |tenths: u32| {
            let mut first = valued(tenths);
            first.rated = first.rated.map(|values| RatingValues { maximum: 10, ..values });
            first
        };
        let pairs: Vec<[FirstJudgement; 2]> = (0..10).map(|value| [valued(value), ten(2 * value)]).collect();
        let pairs: Vec<&[FirstJudgement]> = pairs.iter().map(|all| &all[..]).collect();
        assert_eq!(ProjectAgreement::of(judgements(&pairs), &questionnaire()).overall.alpha, Ok(1.0));
    }
}
