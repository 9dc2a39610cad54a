//! The company, its labels, legal texts, named tokens and retention.

mod company;
mod due;
mod exports;
mod labels;
mod languages;
pub(crate) mod legal;
mod logo;
pub(crate) mod retention;
mod settings;
mod token_ends;
mod token_limits;
mod token_rights;
mod token_uses;
mod tokens;
mod usage;
