//! What companies show to those who have no credential.

pub(in crate::auth::access) mod legal;
pub(in crate::auth::access) mod login;
pub(in crate::auth::access) mod logo;
