//! Welcome videos.

mod captions;
pub(crate) mod crud;
mod failures;
