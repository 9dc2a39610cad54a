//! The search of candidates.

mod find;
mod model;
