//! The `platform-events` Lambda function.

fn main() -> shared::Outcome {
    shared::event::serve(platform_events::handle)
}
