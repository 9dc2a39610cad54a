//! The `video-conversion` Lambda function.

fn main() -> shared::LambdaResult {
    shared::event::serve(video_conversion::process)
}
