//! The `evaluations` Lambda function.

fn main() -> shared::Outcome {
    shared::http::serve(evaluations::routes)
}
