//! The engine with real ffmpeg: what becomes of what people send, and of what pretends to be a video.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod conversion;
mod edit_lists;
mod hostile;
mod left_behind;
mod limits;
mod machine;
mod markers;
mod recordings;
mod support;
mod work;
