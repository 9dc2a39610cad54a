//! Runs the engine with real ffmpeg on typical and hostile files.
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
