//! Questions and criteria, evaluations, vetoes and results.

mod agreement;
mod anchors;
mod counts;
pub(crate) mod crud;
mod drafts;
mod events;
mod first;
mod questions;
mod results;
mod strangers;
mod vetos;
mod waiting;
