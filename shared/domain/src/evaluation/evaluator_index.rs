//! Sets of evaluators, encoded compactly enough for the name of a counter.
//!
//! A project counts its candidates by the exact set of people who have evaluated them (see
//! [`project_counts`](crate::transition::project_counts)). Each person gets a bit with their first evaluation in the project, so
//! a set is a 128-bit number.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::id::CustomerId;

/// The maximum number of people who evaluate in a project over its lifetime: the bits of [`EvaluatorSet`].
// Bits are never reused, because counters still contain the bits of people who have left.
pub const MAX_EVALUATORS: usize = u128::BITS as usize;

/// All bits are assigned.
pub const TOO_MANY_EVALUATORS: Refusal = Refusal {
    code: "too_many_evaluators",
    detail: "128 people have already evaluated in this project. Create another project for new evaluators.",
};

/// Everyone who has evaluated in a project, even if they are no longer evaluators, in the order of their bits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EvaluatorIndex(Vec<CustomerId>);

impl EvaluatorIndex {
    /// The bit of `customer`, newly assigned if necessary. Fails with [`TOO_MANY_EVALUATORS`].
    pub fn assign_bit(&mut self, customer: CustomerId) -> Result<EvaluatorBit, Refusal> {
        if let Some(bit) = self.bit_of(customer) {
            return Ok(bit);
        }
        if self.0.len() == MAX_EVALUATORS {
            return Err(TOO_MANY_EVALUATORS);
        }
        self.0.push(customer);
        Ok(EvaluatorBit(self.0.len() as u8 - 1))
    }

    /// The set of those `customers` who have evaluated.
    pub fn set_of<'a>(&self, customers: impl IntoIterator<Item = &'a CustomerId>) -> EvaluatorSet {
        customers.into_iter().filter_map(|customer| self.bit_of(*customer)).collect()
    }

    fn bit_of(&self, customer: CustomerId) -> Option<EvaluatorBit> {
        let place = self.0.iter().position(|known| *known == customer)?;
        Some(EvaluatorBit(place as u8))
    }
}

/// A person's permanent place in an [`EvaluatorIndex`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EvaluatorBit(u8);

/// A set of people in an [`EvaluatorIndex`]. Its text form is a hexadecimal number with one bit per person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvaluatorSet(u128);

impl EvaluatorSet {
    /// The size of the intersection with `others`.
    pub fn count_in(self, others: Self) -> usize {
        (self.0 & others.0).count_ones() as usize
    }
}

impl FromIterator<EvaluatorBit> for EvaluatorSet {
    fn from_iter<I: IntoIterator<Item = EvaluatorBit>>(all: I) -> Self {
        Self(all.into_iter().fold(0, |set, EvaluatorBit(bit)| set | 1 << bit))
    }
}

impl Display for EvaluatorSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:x}", self.0)
    }
}

impl FromStr for EvaluatorSet {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn customer(number: usize) -> CustomerId {
        CustomerId::from_bytes([u8::try_from(number).unwrap(); 16])
    }

    #[test]
    fn everyone_keeps_their_bit_until_all_are_assigned() {
        let mut index = EvaluatorIndex::default();
        let everyone: Vec<CustomerId> = (0..MAX_EVALUATORS).map(customer).collect();
        for _ in 0..2 {
            for (number, one) in everyone.iter().enumerate() {
                assert_eq!(index.assign_bit(*one).map(|bit| usize::from(bit.0)), Ok(number));
            }
        }
        assert_eq!(index.assign_bit(customer(MAX_EVALUATORS)), Err(TOO_MANY_EVALUATORS));
        let all = index.set_of(&everyone);
        assert_eq!((all.count_in(all), all.to_string()), (MAX_EVALUATORS, "f".repeat(32)));
        assert_eq!(all.to_string().parse(), Ok(all));
    }

    #[test]
    fn sets_of_people_intersect() {
        let mut index = EvaluatorIndex::default();
        for number in 0..5 {
            index.assign_bit(customer(number)).unwrap();
        }
        let some = index.set_of(&[customer(0), customer(4), customer(9)]);
        assert_eq!(some.to_string(), "11", "those without a bit are left out");
        assert_eq!(some.count_in(index.set_of(&[customer(4), customer(3)])), 1);
        assert_eq!(some.count_in(EvaluatorSet::default()), 0);
    }
}
