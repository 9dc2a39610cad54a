//! What evaluations do to a candidate, and what they amount to: the rules over the data of
//! [`evaluation`](super::evaluation), candidates and projects.

pub mod change;
pub mod result;
pub mod status;
