//! The `deadline-expiry` Lambda function.

fn main() -> shared::Outcome {
    shared::event::serve(deadline_expiry::handle)
}
