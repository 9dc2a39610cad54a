//! Krippendorff's alpha: how far raters agree beyond chance, for any number of raters and with missing values.
//!
//! Source: Klaus Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), part C (any number of raters, missing data) with the
//! difference functions of part D. With the squared difference of interval data, the sums over pairs of values of the paper equal sums of
//! squared distances to means: n values with the mean m have Σ(v−v′)² = 2n·Σ(v−m)² over all ordered pairs.

/// The values of the units with at least two values, each unit ascending.
#[derive(Debug, Clone, Default)]
pub struct PairableValues(Vec<Vec<f64>>);

impl PairableValues {
    /// Keeps the values of those `units` that have at least two.
    pub fn new(units: impl IntoIterator<Item = Vec<f64>>) -> Self {
        let units = units.into_iter().filter(|values| values.len() > 1);
        // Sorted, so that the order of the raters makes no difference, not even by rounding.
        let sorted = units.map(|mut values| {
            values.sort_by(f64::total_cmp);
            values
        });
        Self(sorted.collect())
    }

    /// The number of units with at least two values.
    pub fn units(&self) -> usize {
        self.0.len()
    }

    /// The number of values in these units.
    pub fn count(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// Alpha for interval data, where distances count: 1 for perfect agreement, 0 for chance. `None` unless two values differ.
    pub fn interval_alpha(&self) -> Option<f64> {
        let all: Vec<f64> = self.0.iter().flatten().copied().collect();
        let first = all.first()?;
        if all.iter().all(|value| value == first) {
            return None;
        }
        let observed: f64 = self.0.iter().map(|values| squares(values) * pairs_weight(values.len())).sum();
        let expected = squares(&all) * pairs_weight(all.len());
        Some(1.0 - observed / expected)
    }

    /// Alpha for ordinal data, where only the order of the values counts. `None` unless two values differ.
    pub fn ordinal_alpha(&self) -> Option<f64> {
        // The difference of two ranks is the number of values between them, plus half of the values that have one of the two
        // ranks. So ordinal data are interval data of middle ranks.
        let mut all: Vec<f64> = self.0.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let middle = |value: &f64| {
            let below = all.partition_point(|other| other < value);
            let up_to = all.partition_point(|other| other <= value);
            (below + up_to) as f64 / 2.0
        };
        let ranks = self.0.iter().map(|values| values.iter().map(middle).collect());
        Self(ranks.collect()).interval_alpha()
    }
}

/// The factor for the sum of squares of `count` values: each value is compared with all others, but not with itself.
fn pairs_weight(count: usize) -> f64 {
    let count = count as f64;
    count / (count - 1.0)
}

/// The sum of the squared distances of values from their mean.
fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean) * (value - mean)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(units: &[&[f64]]) -> PairableValues {
        PairableValues::new(units.iter().map(|unit| unit.to_vec()))
    }

    #[test]
    fn the_example_of_the_paper_has_its_alphas() {
        // Part C: four raters, twelve units, missing values; unit 12 has only one value.
        let units: [&[f64]; 12] = [
            &[1.0, 1.0, 1.0],
            &[2.0, 2.0, 3.0, 2.0],
            &[3.0, 3.0, 3.0, 3.0],
            &[3.0, 3.0, 3.0, 3.0],
            &[2.0, 2.0, 2.0, 2.0],
            &[1.0, 2.0, 3.0, 4.0],
            &[4.0, 4.0, 4.0, 4.0],
            &[1.0, 1.0, 2.0, 1.0],
            &[2.0, 2.0, 2.0, 2.0],
            &[5.0, 5.0, 5.0],
            &[1.0, 1.0],
            &[3.0],
        ];
        let values = values(&units);
        assert_eq!((values.units(), values.count()), (11, 40));
        assert_eq!(format!("{:.3}", values.interval_alpha().unwrap()), "0.849");
        assert_eq!(format!("{:.3}", values.ordinal_alpha().unwrap()), "0.815");
    }

    #[test]
    fn agreement_is_one_and_values_without_variation_have_none() {
        assert_eq!(values(&[&[0.1, 0.1], &[0.7, 0.7, 0.7]]).interval_alpha(), Some(1.0));
        for none in [values(&[]), values(&[&[1.0], &[2.0]]), values(&[&[0.3, 0.3], &[0.3, 0.3]])] {
            assert_eq!((none.interval_alpha(), none.ordinal_alpha()), (None, None));
        }
    }

    /// Alpha by the definition: observed over expected differences of all ordered pairs.
    fn by_definition(units: &[Vec<f64>], difference: &dyn Fn(f64, f64) -> f64) -> f64 {
        let units: Vec<_> = units.iter().filter(|unit| unit.len() > 1).collect();
        let all: Vec<f64> = units.iter().copied().flatten().copied().collect();
        let pairs = |values: &[f64]| -> f64 {
            let of = |(at, one): (usize, &f64)| {
                let others = values.iter().enumerate().filter(move |(other, _)| *other != at);
                others.map(|(_, other)| difference(*one, *other)).sum::<f64>()
            };
            values.iter().enumerate().map(of).sum()
        };
        let observed: f64 = units.iter().map(|unit| pairs(unit) / (unit.len() as f64 - 1.0)).sum();
        1.0 - observed / (pairs(&all) / (all.len() as f64 - 1.0))
    }

    fn ratings() -> impl Strategy<Value = Vec<Vec<f64>>> {
        let unit = prop::collection::vec((0..=50_u32).prop_map(|tenths| f64::from(tenths) / 50.0), 0..=6);
        prop::collection::vec(unit, 0..=30)
    }

    proptest! {
        #[test]
        fn alpha_equals_its_definition(units in ratings()) {
            let found = PairableValues::new(units.clone());
            if let Some(alpha) = found.interval_alpha() {
                let expected = by_definition(&units, &|one, other| (one - other).powi(2));
                prop_assert!((alpha - expected).abs() < 1e-9, "{} is not {}", alpha, expected);
                let count = |from: f64, to: f64| found.0.iter().flatten().filter(|value| (from..=to).contains(*value)).count() as f64;
                let between = |one: f64, other: f64| {
                    let (least, most) = (one.min(other), one.max(other));
                    (count(least, most) - (count(one, one) + count(other, other)) / 2.0).powi(2)
                };
                let expected = by_definition(&units, &between);
                prop_assert!((found.ordinal_alpha().unwrap() - expected).abs() < 1e-9);
            }
        }

        #[test]
        fn neither_the_order_of_raters_nor_a_constant_changes_alpha(units in ratings()) {
            let alpha = PairableValues::new(units.clone()).interval_alpha();
            let turned = units.iter().map(|unit| unit.iter().rev().copied().collect());
            prop_assert_eq!(PairableValues::new(turned).interval_alpha(), alpha);
            let raised = units.iter().map(|unit| unit.iter().map(|value| value + 7.0).collect());
            let raised = PairableValues::new(raised).interval_alpha();
            prop_assert_eq!(raised.is_some(), alpha.is_some());
            prop_assert!((raised.unwrap_or_default() - alpha.unwrap_or_default()).abs() < 1e-9);
        }
    }
}
