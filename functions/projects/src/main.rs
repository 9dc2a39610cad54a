//! The `projects` Lambda function.

fn main() -> shared::LambdaResult {
    shared::http::serve(projects::service)
}
