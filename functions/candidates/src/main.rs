//! The `candidates` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve(candidates::service)
}
