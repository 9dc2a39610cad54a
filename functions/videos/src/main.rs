//! The `videos` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve(videos::service)
}
