//! Privacy: how long candidates are kept, what delays or requests their erasure, what they consent to, and the rules for all.
//! The end of a company.

pub mod consent;
pub mod erasure_request;
pub mod hold;
pub mod legal;
pub mod receipt;
pub mod retention_rule;
