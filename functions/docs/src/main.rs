//! The `docs` Lambda function.

fn main() -> shared::Outcome {
    shared::http::serve_without_table(docs::routes)
}
