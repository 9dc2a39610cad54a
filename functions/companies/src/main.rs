//! The `companies` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve(companies::service)
}
