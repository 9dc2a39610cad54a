//! The `outbox` Lambda function.

fn main() -> shared::Outcome {
    shared::event::serve(outbox::handle)
}
