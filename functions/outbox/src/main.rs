//! The `outbox` Lambda function.

fn main() -> shared::LambdaResult {
    shared::event::serve(outbox::handle)
}
