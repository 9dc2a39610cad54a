//! Applies evaluations to candidates and computes results: the rules for the data of [`evaluation`](super::evaluation),
//! candidates and projects.

pub mod agreement;
pub mod alpha;
pub mod change;
pub mod first;
mod reminder;
pub mod result;
pub mod status;
