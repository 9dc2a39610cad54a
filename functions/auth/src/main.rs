//! The `auth` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve(auth::service)
}
