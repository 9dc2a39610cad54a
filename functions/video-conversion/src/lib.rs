//! Makes the renditions of welcome videos.

pub mod engine;
