//! The `webhook-sender` Lambda function.

fn main() -> shared::LambdaResult {
    shared::event::serve(webhook_sender::handle)
}
