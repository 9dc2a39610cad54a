//! The `webhooks` Lambda function.

fn main() -> shared::LambdaResult {
    shared::event::serve(webhooks::handle)
}
