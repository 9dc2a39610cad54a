//! The `customers` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve(customers::service)
}
