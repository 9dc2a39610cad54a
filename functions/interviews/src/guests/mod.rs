//! Guest links, which let people without an account watch a candidate's answers.

pub(crate) mod links;
pub(crate) mod review;
pub(crate) mod view;
