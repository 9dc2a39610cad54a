//! The `video-conversion` Lambda function.

fn main() -> shared::Outcome {
    shared::event::serve(video_conversion::handle)
}
