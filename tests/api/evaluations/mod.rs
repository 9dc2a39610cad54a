//! Questions and criteria, evaluations, vetoes and results.

mod counts;
pub(crate) mod crud;
mod drafts;
mod events;
mod questions;
mod results;
mod strangers;
mod vetos;
mod waiting;
