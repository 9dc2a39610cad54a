//! The `videos` Lambda function.

fn main() -> shared::Outcome {
    shared::http::serve(videos::routes)
}
