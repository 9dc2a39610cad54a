//! The `video-conversion` Lambda function.
fn main() {}
