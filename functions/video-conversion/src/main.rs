//! The `video-conversion` Lambda function.

fn main() -> shared::LambdaResult {
    // Hide the process before a program works on a file: its environment holds the credentials of the function's role.
    video_conversion::engine::hide_process()?;
    shared::event::serve(video_conversion::process)
}
