//! The `search` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve(search::service)
}
