//! The `video-conversion` Lambda function.

fn main() -> shared::LambdaResult {
    // The process hides before a program works on a file: the environment has the credentials of the function's role.
    video_conversion::engine::hide_process()?;
    shared::event::serve(video_conversion::process)
}
