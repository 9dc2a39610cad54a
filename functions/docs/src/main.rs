//! The `docs` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve_without_table(docs::service)
}
