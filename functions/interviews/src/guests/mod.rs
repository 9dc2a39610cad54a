//! Links that let people without an account watch the answers of a candidate.

pub(crate) mod links;
pub(crate) mod review;
pub(crate) mod view;
