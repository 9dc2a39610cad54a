//! The `uploads` Lambda function.

fn main() -> shared::LambdaResult {
    shared::event::serve(uploads::process)
}
