//! The `events` Lambda function.

fn main() -> shared::Outcome {
    shared::http::serve(events::routes)
}
