//! Questions and criteria, evaluations, vetos and results.

mod counts;
mod crud;
mod events;
mod questions;
mod results;
mod vetos;
