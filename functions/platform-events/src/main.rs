//! The `platform-events` Lambda function.

fn main() -> shared::LambdaResult {
    shared::event::serve_queue(platform_events::process)
}
