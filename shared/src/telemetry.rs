//! Logs: JSON, one line an event, one event a request.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// What our own lines are about.
const OURS: [&str; 6] = ["request", "operator", "outbox", "deadline-expiry", "platform-events", "uploads"];

/// Writes this process's log to standard output, where Lambda reads it.
pub fn install() {
    install_to(std::io::stdout);
}

/// Writes this process's log to `writer`. Only the first call in a process counts.
pub fn install_to<W>(writer: W)
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false);
    // Libraries are heard only when something is wrong; what they say below that may quote requests.
    let heard = OURS.map(|target| (target, LevelFilter::INFO));
    let ours = Targets::new().with_default(LevelFilter::WARN).with_targets(heard);
    let registry = tracing_subscriber::registry().with(lines.with_writer(writer)).with(ours);
    // A second installation, in a test process for example, leaves the first as it is.
    let _ = registry.try_init();
}
