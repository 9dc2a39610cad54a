//! The `deadline-expiry` Lambda function.

fn main() -> shared::LambdaResult {
    shared::event::serve(deadline_expiry::handle)
}
