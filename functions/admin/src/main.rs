//! The `admin` Lambda function.

fn main() -> shared::Outcome {
    shared::event::serve(admin::handle)
}
