//! The `events` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve(events::service)
}
