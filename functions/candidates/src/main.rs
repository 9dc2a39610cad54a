//! The `candidates` Lambda function.

fn main() -> shared::Outcome {
    shared::http::serve(candidates::routes)
}
