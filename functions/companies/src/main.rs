//! The `companies` Lambda function.

fn main() -> shared::Outcome {
    shared::http::serve(companies::routes)
}
