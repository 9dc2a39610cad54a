//! The `retention` Lambda function.

fn main() -> shared::LambdaResult {
    shared::event::serve(retention::handle)
}
