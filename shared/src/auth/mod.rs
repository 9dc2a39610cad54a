//! Authenticates callers, decides what they may do, and admits their requests.

pub mod access;
mod admission;
mod authentication;
pub mod caller;
pub mod credential;
mod csrf;
mod ended_key;
pub mod login;
pub mod operator;
pub mod password;
pub mod system;

pub use admission::{AdmissionRule, HasAdmission};
pub use caller::Caller;
pub use operator::OperatorAccess;
pub use system::SystemAccess;
