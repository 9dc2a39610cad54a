//! Ratings of erased candidates.
//!
//! A deletion adds numbers to the counts of its project: [`Erased`](CounterName::Erased) and, for interviewed candidates whose
//! evaluations have ratings, [`ErasedRating`](CounterName::ErasedRating). Instead of the latter, statistics show
//! [`ShownRating`](CounterName::ShownRating), a copy that grows only in steps of ten ratings.

use std::iter::repeat_n;

use crate::random::RandomSource;
use crate::transition::project_counts::{CounterName, ProjectCounts};

/// How many ratings become visible together.
pub const SHOWN_TOGETHER: usize = 10;

/// The number of candidates for each mean, in tenths of the scale from 0 to 10.
pub type RatingHistogram = [i64; 11];

impl ProjectCounts {
    /// The ratings that statistics show; `None` before the first ten.
    pub fn shown_ratings(&self) -> Option<RatingHistogram> {
        let shown = histogram(|rating| self.get(CounterName::ShownRating(rating)));
        shown.iter().any(|count| *count > 0).then_some(shown)
    }

    /// The ratings to add to the shown ones: ten, or a multiple of it; empty if fewer than ten wait.
    // A reader who knows who was erased between two reads learns from the difference how ten people were rated, never how one
    // was. Rounding the counts down would not suffice: it would reveal the person whose rating completes a ten. So the shown
    // ratings depend on those that were shown before, and are stored.
    pub fn ratings_to_show(&self, entropy: &dyn RandomSource) -> Self {
        let mut waiting: Vec<u8> = Vec::new();
        for (rating, count) in (0..).zip(histogram(|rating| {
            self.get(CounterName::ErasedRating(rating)) - self.get(CounterName::ShownRating(rating))
        })) {
            waiting.extend(repeat_n(rating, usize::try_from(count).unwrap_or(0)));
        }
        for _ in 0..waiting.len() % SHOWN_TOGETHER {
            // Choose at random which ratings keep waiting, so that neither the lowest nor the highest are always shown late.
            let mut bytes = [0; 2];
            entropy.fill(&mut bytes);
            waiting.swap_remove(usize::from(u16::from_le_bytes(bytes)) % waiting.len());
        }
        waiting.into_iter().map(|rating| (CounterName::ShownRating(rating), 1)).collect()
    }
}

fn histogram(count: impl Fn(u8) -> i64) -> RatingHistogram {
    std::array::from_fn(|rating| u8::try_from(rating).map_or(0, &count))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Bytes(u8);

    impl RandomSource for Bytes {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    fn erased(ratings: &[u8]) -> ProjectCounts {
        ratings.iter().map(|rating| (CounterName::ErasedRating(*rating), 1)).collect()
    }

    #[test]
    fn nothing_is_shown_of_nine_and_all_of_ten() {
        let ten = [0, 1, 2, 3, 4, 5, 6, 10, 10, 10];
        assert!(erased(&ten[..9]).ratings_to_show(&Bytes(0)).is_empty());
        let shown = erased(&ten).ratings_to_show(&Bytes(0)).shown_ratings();
        assert_eq!(shown, Some([1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 3]));
        assert_eq!(erased(&ten).shown_ratings(), None);
    }

    proptest! {
        #[test]
        fn what_is_shown_grows_by_tens_of_those_erased(
            batches in prop::collection::vec(prop::collection::vec(0..=10_u8, 0..25), 1..8), byte: u8,
        ) {
            let mut counts = ProjectCounts::default();
            let mut all = Vec::new();
            for batch in batches {
                for (counter, count) in erased(&batch).iter() {
                    counts.add(counter, count);
                }
                all.extend(batch);
                let more = counts.ratings_to_show(&Bytes(byte));
                prop_assert!(more.iter().map(|(_, count)| count).sum::<i64>() % 10 == 0);
                for (counter, count) in more.iter() {
                    counts.add(counter, count);
                }
                let shown = counts.shown_ratings().unwrap_or_default();
                prop_assert_eq!(shown.iter().sum::<i64>(), (all.len() / 10 * 10) as i64);
                for (rating, count) in (0..).zip(shown) {
                    prop_assert!(count <= counts.get(CounterName::ErasedRating(rating)));
                }
            }
        }
    }
}
