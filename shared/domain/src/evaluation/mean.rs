//! Means of ratings in whole numbers.

use std::cmp::Ordering;

/// The unit of sums: 1,000 times a multiple of every number of ratings that one evaluation can hold (1 to 50). The factor 1,000
/// covers the usual factors between scales.
// Divisions by such numbers have no remainder, so equal means compare as equal.
const UNIT: u128 = 3_099_044_504_245_996_706_400 * 1_000;

/// The mean of ratings on one scale.
///
/// Exact if all ratings were given on this scale, or on one that differs by a factor such as 2 or 10. Otherwise, the error is
/// less than one unit in the twentieth decimal.
#[derive(Debug, Clone, Copy, Default)]
pub struct RatingMean {
    /// In [`UNIT`]s.
    sum: u128,
    count: u128,
}

/// The sum of ratings that were given on one scale.
#[derive(Debug, Clone, Copy)]
pub struct RatingSum {
    /// The sum of the ratings, in tenths.
    pub tenths: u32,
    /// The number of the ratings.
    pub count: u32,
    /// The maximum of the ratings' scale; not 0.
    pub maximum: u32,
}

impl RatingMean {
    /// Counts the mean of `ratings`, converted to a scale with the maximum `scale`, as one value. Does nothing without ratings.
    pub fn add(&mut self, ratings: RatingSum, scale: u32) {
        let RatingSum { tenths, count, maximum } = ratings;
        if count > 0 && maximum > 0 {
            self.sum += u128::from(tenths) * u128::from(scale) * UNIT
                / (10 * u128::from(count) * u128::from(maximum));
            self.count += 1;
        }
    }

    /// The mean in hundredths, rounded half up; `None` without values.
    pub fn hundredths(self) -> Option<u32> {
        self.rounded(100)
    }

    /// The mean in whole numbers, rounded half up; `None` without values.
    pub fn whole(self) -> Option<u32> {
        self.rounded(1)
    }

    /// The mean times `factor`, rounded half up; `None` without values.
    fn rounded(self, factor: u128) -> Option<u32> {
        // Integers, because floats would not round half up exactly.
        let whole = 2 * self.count * UNIT;
        let rounded = (self.sum * 2 * factor + self.count * UNIT).checked_div(whole)?;
        u32::try_from(rounded).ok()
    }

    /// Compares two means that both have values.
    pub fn compare(self, other: Self) -> Ordering {
        (self.sum * other.count).cmp(&(other.sum * self.count))
    }

    /// Whether there are no values.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mean(all: &[(u32, u32, u32)], scale: u32) -> RatingMean {
        let mut mean = RatingMean::default();
        for (tenths, count, maximum) in all {
            mean.add(RatingSum { tenths: *tenths, count: *count, maximum: *maximum }, scale);
        }
        mean
    }

    #[test]
    fn means_of_means_are_rounded_half_up() {
        assert_eq!(mean(&[], 5).hundredths(), None);
        assert_eq!(mean(&[(40, 1, 5), (45, 1, 5)], 5).hundredths(), Some(425));
        // 4 and the mean of 5, 5 and 4: 4.3333…
        assert_eq!(mean(&[(40, 1, 5), (140, 3, 5)], 5).hundredths(), Some(433));
        assert_eq!(mean(&[(1, 4, 5)], 5).hundredths(), Some(3), "0.025 is rounded up");
        assert_eq!(mean(&[(40, 1, 5), (45, 1, 5)], 10).hundredths(), Some(850));
        assert_eq!(mean(&[(0, 3, 5)], 5).hundredths(), Some(0));
        assert_eq!(mean(&[(10_000 * 50, 50, 1_000); 128], 1_000).hundredths(), Some(100_000));
        assert_eq!([44, 45].map(|tenths| mean(&[(tenths, 1, 10)], 10).whole()), [Some(4), Some(5)]);
    }

    proptest! {
        #[test]
        fn means_equal_exact_fractions(
            all in prop::collection::vec((0..=50_u32, 1..=50_u32), 1..=8), scale in prop::sample::select(vec![5_u32, 10, 1]),
        ) {
            // Numerator and denominator of the fraction Σ value / (10 × ratings × 5) × scale / evaluators.
            let mut top = 0_u128;
            let mut bottom = 1_u128;
            for (tenths, count) in &all {
                let part = u128::from(*tenths * scale);
                let of = u128::from(*count) * 50;
                (top, bottom) = (top * of + part * bottom, bottom * of);
            }
            bottom *= all.len() as u128;
            let expected = (200 * top + bottom) / (2 * bottom);
            let ratings: Vec<_> = all.iter().map(|(tenths, count)| (*tenths, *count, 5)).collect();
            prop_assert_eq!(mean(&ratings, scale).hundredths().map(u128::from), Some(expected));
        }
    }
}
