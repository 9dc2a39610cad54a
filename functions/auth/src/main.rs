//! The `auth` Lambda function.

fn main() -> shared::Outcome {
    shared::http::serve(auth::routes)
}
