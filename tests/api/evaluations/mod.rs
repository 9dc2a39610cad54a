//! Questions and criteria, evaluations, vetoes and results.

mod counts;
pub(crate) mod crud;
mod drafts;
mod events;
mod questions;
mod results;
mod vetos;
mod waiting;
