//! Welcome videos.

mod crud;
mod failures;
