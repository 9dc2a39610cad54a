//! The `interviews` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve(interviews::service)
}
