//! Privacy: how long candidates are kept, what delays or requests their erasure, what they consent to, and the rules for all.
//! The end of a company.

pub mod company_erasure;
pub mod consent;
pub mod erased_ratings;
pub mod erasure_request;
pub mod hold;
pub mod legal;
pub mod receipt;
pub mod retention;
pub mod retention_review;
pub mod retention_rule;
pub mod retention_run;
