//! The `uploads` Lambda function.

fn main() -> shared::Outcome {
    shared::event::serve(uploads::handle)
}
