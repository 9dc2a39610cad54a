//! Applies evaluations to candidates, and computes their results: the rules over the data of [`evaluation`](super::evaluation),
//! candidates and projects.

pub mod agreement;
pub mod alpha;
pub mod change;
pub mod first;
mod reminder;
pub mod result;
pub mod status;
