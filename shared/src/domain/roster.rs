//! The people who have evaluated in a project, and sets of them that are short enough for a counter's name.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Refusal;
use super::id::CustomerId;

/// The maximum number of people whose evaluations a project can count over its lifetime: the bits of [`EvaluatorSet`].
pub const MAX_SEATS: usize = 128;

/// All seats are taken; seats are never reused.
pub const NO_SEAT: Refusal = Refusal {
    code: "too_many_evaluators",
    detail: "128 people have already evaluated in this project. Create another project for new evaluators.",
};

/// Everyone who has evaluated a candidate of the project, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EvaluatorIndex(Vec<CustomerId>);

impl EvaluatorIndex {
    /// The seat of `customer`, newly assigned if necessary. Fails with [`NO_SEAT`].
    pub fn take_seat(&mut self, customer: CustomerId) -> Result<EvaluatorBit, Refusal> {
        if let Some(seat) = self.seat_of(customer) {
            return Ok(seat);
        }
        let seat = u8::try_from(self.0.len()).ok().filter(|seat| usize::from(*seat) < MAX_SEATS);
        let seat = seat.map(EvaluatorBit).ok_or(NO_SEAT)?;
        // Never removed: counters name seats, and a reused one would count for another person.
        self.0.push(customer);
        Ok(seat)
    }

    /// The seats of those `customers` who have one.
    pub fn seats_of<'a>(&self, customers: impl IntoIterator<Item = &'a CustomerId>) -> EvaluatorSet {
        customers.into_iter().filter_map(|customer| self.seat_of(*customer)).collect()
    }

    fn seat_of(&self, customer: CustomerId) -> Option<EvaluatorBit> {
        let place = self.0.iter().position(|seated| *seated == customer)?;
        u8::try_from(place).ok().map(EvaluatorBit)
    }
}

/// A person's permanent number in a [`EvaluatorIndex`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EvaluatorBit(u8);

/// A set of people in a [`EvaluatorIndex`]; as text a hexadecimal number with one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvaluatorSet(u128);

impl EvaluatorSet {
    /// The size of the intersection with `others`.
    pub fn among(self, others: Self) -> usize {
        (self.0 & others.0).count_ones() as usize
    }
}

impl FromIterator<EvaluatorBit> for EvaluatorSet {
    fn from_iter<I: IntoIterator<Item = EvaluatorBit>>(seats: I) -> Self {
        Self(seats.into_iter().fold(0, |bits, EvaluatorBit(seat)| bits | 1 << seat))
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
    fn everyone_keeps_their_seat_until_all_are_taken() {
        let mut roster = EvaluatorIndex::default();
        let everyone: Vec<CustomerId> = (0..MAX_SEATS).map(customer).collect();
        for _ in 0..2 {
            for (number, one) in everyone.iter().enumerate() {
                assert_eq!(roster.take_seat(*one).map(|seat| usize::from(seat.0)), Ok(number));
            }
        }
        assert_eq!(roster.take_seat(customer(MAX_SEATS)), Err(NO_SEAT));
        let all = roster.seats_of(&everyone);
        assert_eq!((all.among(all), all.to_string()), (MAX_SEATS, "f".repeat(32)));
        assert_eq!(all.to_string().parse(), Ok(all));
    }

    #[test]
    fn sets_of_people_intersect() {
        let mut roster = EvaluatorIndex::default();
        for number in 0..5 {
            roster.take_seat(customer(number)).unwrap();
        }
        let some = roster.seats_of(&[customer(0), customer(4), customer(9)]);
        assert_eq!(some.to_string(), "11", "those without a seat are left out");
        assert_eq!(some.among(roster.seats_of(&[customer(4), customer(3)])), 1);
        assert_eq!(some.among(EvaluatorSet::default()), 0);
    }
}
