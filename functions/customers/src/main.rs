//! The `customers` Lambda function.

fn main() -> shared::Outcome {
    shared::http::serve(customers::routes)
}
