//! The `projects` Lambda function.

fn main() -> shared::Outcome {
    shared::http::serve(projects::routes)
}
