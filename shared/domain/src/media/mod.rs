//! Files, videos and recordings: what they are, how they arrive, and how videos are converted.

pub mod captions;
pub mod conversion;
pub mod file;
pub mod upload;
pub mod video;
