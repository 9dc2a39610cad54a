//! Who is calling, what they may do, and the guards that let them.

pub mod caller;
pub mod credential;
mod csrf;
pub mod guard;
pub mod password;
pub mod policy;

pub use caller::Caller;
