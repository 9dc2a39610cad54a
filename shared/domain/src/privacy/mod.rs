//! Privacy: consents and legal texts, requests for erasure, holds, retention rules, and the keys that sign receipts.

pub mod consent;
pub mod erasure_request;
pub mod hold;
pub mod legal;
pub mod receipt;
pub mod retention_rule;
