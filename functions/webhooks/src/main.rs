//! The `webhooks` Lambda function.

fn main() -> shared::Outcome {
    shared::event::serve(webhooks::handle)
}
