//! Welcome videos.

mod captions;
mod crud;
mod failures;
