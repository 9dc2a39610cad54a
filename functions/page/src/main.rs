//! The `page` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve_without_table(page::service)
}
