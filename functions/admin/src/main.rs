//! The `admin` Lambda function.

fn main() -> shared::LambdaResult {
    shared::event::serve(admin::handle)
}
