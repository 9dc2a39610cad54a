//! The `platform-events` Lambda function.

fn main() -> shared::Outcome {
    shared::event::serve_queue(platform_events::handle)
}
