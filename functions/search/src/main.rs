//! The `search` Lambda function.

fn main() -> shared::Outcome {
    shared::http::serve(search::routes)
}
