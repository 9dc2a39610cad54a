//! Targets in companies that need no credential.

pub(in crate::auth::access) mod legal;
pub(in crate::auth::access) mod login;
pub(in crate::auth::access) mod logo;
