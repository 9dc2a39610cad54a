//! The `evaluations` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve(evaluations::service)
}
