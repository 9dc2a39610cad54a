//! Logs: each event is one line of JSON, and each request has one event. Some lines contain metrics in CloudWatch's embedded format.
//!
//! In functions that events start, an ERROR line is a fault of the service: while a release gets a tenth of the events, one such
//! line rolls it back. A failure that others cause, such as a malformed event or a mail that SES refuses, is a WARN line.

use std::fmt;

use chrono::{DateTime, Utc};
use serde_json::json;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::clock::{Clock, SystemClock};
use crate::config::Config;

/// The targets of the service's own log lines. A test reports missing ones.
pub const TARGETS: [&str; 19] = [
    "aws",
    "bulk",
    "conversion",
    "deadline-expiry",
    "exports",
    "feed",
    "idempotency",
    "import",
    "operator",
    "outbox",
    "platform-events",
    "receipts",
    "request",
    "retention",
    "search",
    "sign-in",
    "unreadable",
    "uploads",
    "webhooks",
];

/// Dimensions, and the fields that are metrics with these dimensions, each with its unit. CloudWatch charges for each
/// combination of a metric and values of its dimensions.
type MetricDimensions = (&'static [&'static str], &'static [(&'static str, &'static str)]);

/// The metrics in log lines, by the line's target.
const METRICS: [(&str, &[MetricDimensions]); 9] = [
    (
        "request",
        // Only latency has the dimension `route`, because CloudWatch charges 0.30 dollars a month for each metric of each
        // route. For the table's units by route, query the log.
        &[
            (&["method", "route"], &[("milliseconds", "Milliseconds")]),
            (&[], &[("cold_start", "Count")]),
            // By release, so that a canary's failures and latency are visible while most requests go to the former release.
            (&["release"], &[("failed", "Count"), ("milliseconds", "Milliseconds")]),
        ],
    ),
    ("conversion", &[(&[], &[("conversion_failed", "Count")])]),
    ("deadline-expiry", &[(&[], &[("lag_seconds", "Seconds")])]),
    ("exports", &[(&[], &[("export_delay_seconds", "Seconds")])]),
    ("feed", &[(&[], &[("index_lag_seconds", "Seconds")])]),
    (
        "outbox",
        &[(
            &[],
            &[
                ("numbering_lag_seconds", "Seconds"),
                ("erasure_delay_seconds", "Seconds"),
                ("reminder_delay_seconds", "Seconds"),
            ],
        )],
    ),
    ("retention", &[(&[], &[("retention_delay_seconds", "Seconds")])]),
    ("unreadable", &[(&[], &[("unreadable_items", "Count")])]),
    ("webhooks", &[(&[], &[("webhook_delay_seconds", "Seconds")])]),
];

/// Logs the end of an invocation, with its [use](crate::store::RequestUsage) of DynamoDB.
#[macro_export]
macro_rules! log_invocation {
    (target: $target:literal, $usage:expr, $($line:tt)+) => {{
        let usage = $usage;
        tracing::info!(
            target: $target,
            milliseconds = usage.elapsed().as_secs_f64() * 1000.0,
            dynamodb_calls = usage.calls(),
            read_units = usage.read_units(),
            write_units = usage.write_units(),
            $($line)+
        );
    }};
}

/// Logs why work without a waiting client has failed: as a warning if [others](crate::Error::is_of_others) can cause
/// the failure, else as an error.
// One ERROR line rolls back a release, so clients must not be able to cause one. The work is retried in any case, and
// permanent failures have alarms of their own: for dead letters and for delays.
#[macro_export]
macro_rules! log_failure {
    (target: $target:literal, $error:expr, $($line:tt)+) => {{
        let error: &$crate::Error = $error;
        if let $crate::Error::Busy(_) = error {
            // An alarm compares the number of these lines with that of all invocations.
            tracing::warn!(target: $target, %error, storage_busy = 1u8, $($line)+);
        } else if error.is_of_others() {
            tracing::warn!(target: $target, %error, $($line)+);
        } else {
            tracing::error!(target: $target, %error, $($line)+);
        }
    }};
}

/// Logs to standard output, which Lambda collects. Lines have metrics if the configuration has a namespace.
pub fn install(config: &Config) {
    let labels = LineLabels { namespace: config.metrics_namespace.clone(), release: config.release.clone() };
    let _ = subscriber(std::io::stdout, labels).try_init();
}

/// Logs to `writer`. Only the first call in a process has an effect.
pub fn install_to<W>(writer: W)
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    // Ignore the error of a second call, for example in a test process.
    let _ = subscriber(writer, LineLabels::default()).try_init();
}

/// The deployment's labels for each line.
#[derive(Clone, Default)]
struct LineLabels {
    /// CloudWatch's namespace; `None` for lines without metrics.
    namespace: Option<String>,
    release: Option<String>,
}

fn subscriber<W>(writer: W, labels: LineLabels) -> impl Subscriber + Send + Sync + 'static
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .map_event_format(|json| JsonLines { json, labels })
        .with_writer(writer);
    // Drop the info lines of libraries, which may quote requests.
    let heard = TARGETS.map(|target| (target, LevelFilter::INFO));
    let ours = Targets::new().with_default(LevelFilter::WARN).with_targets(heard);
    tracing_subscriber::registry().with(lines).with(ours)
}

struct JsonLines<F> {
    json: F,
    labels: LineLabels,
}

impl<S, N, F> FormatEvent<S, N> for JsonLines<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let LineLabels { namespace, release } = &self.labels;
        let now = SystemClock.now();
        let metrics = namespace.as_deref().and_then(|namespace| directive(namespace, event.metadata(), now));
        if metrics.is_none() && release.is_none() {
            return self.json.format_event(context, writer, event);
        }
        let mut line = String::new();
        self.json.format_event(context, Writer::new(&mut line), event)?;
        let members = line.strip_prefix('{').ok_or(fmt::Error)?;
        writer.write_char('{')?;
        if let Some(metrics) = metrics {
            write!(writer, "\"_aws\":{metrics},")?;
        }
        if let Some(release) = release {
            write!(writer, "\"release\":{},", json!(release))?;
        }
        writer.write_str(members)
    }
}

/// The metadata that declares fields of a line as metrics; `None` for lines without metrics.
fn directive(namespace: &str, line: &Metadata<'_>, now: DateTime<Utc>) -> Option<serde_json::Value> {
    let (_, sets) = METRICS.iter().find(|(target, _)| *target == line.target())?;
    // CloudWatch requires each declared metric to be in the line.
    if sets.iter().flat_map(|(_, metrics)| *metrics).any(|(name, _)| line.fields().field(name).is_none()) {
        return None;
    }
    let sets = sets.iter().map(|(dimensions, metrics)| {
        let metrics: Vec<_> =
            metrics.iter().map(|(name, unit)| json!({ "Name": name, "Unit": unit })).collect();
        json!({ "Namespace": namespace, "Dimensions": [dimensions], "Metrics": metrics })
    });
    Some(json!({ "Timestamp": now.timestamp_millis(), "CloudWatchMetrics": sets.collect::<Vec<_>>() }))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use serde_json::Value;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn deployed() -> LineLabels {
        LineLabels {
            namespace: Some("interviews".to_owned()),
            release: Some("v3.1.0/20261108T100000Z".to_owned()),
        }
    }

    fn lines(labels: LineLabels, log: impl FnOnce()) -> Vec<Value> {
        let kept = Kept::default();
        let writer = kept.clone();
        tracing::subscriber::with_default(subscriber(move || writer.clone(), labels), log);
        let bytes = kept.0.lock().unwrap();
        String::from_utf8_lossy(&bytes).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn a_request() {
        tracing::info!(
            target: "request",
            method = "GET",
            route = "/api/v3/whoami/",
            milliseconds = 1.5,
            read_units = 1.0,
            write_units = 0.0,
            cold_start = 1,
            failed = 0,
        );
    }

    #[test]
    fn a_request_is_a_latency_by_route_maybe_a_cold_start_and_maybe_a_failure_of_its_release() {
        let lines = lines(deployed(), a_request);
        let [line] = &lines[..] else { panic!("{lines:?}") };
        let milliseconds = json!({ "Name": "milliseconds", "Unit": "Milliseconds" });
        let count = |name: &str| json!({ "Name": name, "Unit": "Count" });
        let set = |dimensions: &[&str], metrics: &[&Value]| json!({ "Namespace": "interviews", "Dimensions": [dimensions], "Metrics": metrics });
        assert_eq!(
            line["_aws"]["CloudWatchMetrics"],
            json!([
                set(&["method", "route"], &[&milliseconds]),
                set(&[], &[&count("cold_start")]),
                set(&["release"], &[&count("failed"), &milliseconds]),
            ])
        );
        for metric in ["milliseconds", "cold_start", "failed"] {
            assert!(line[metric].is_number(), "{metric} in {line}");
        }
        for dimension in ["method", "route", "release"] {
            assert!(line[dimension].is_string(), "{line}");
        }
        assert!(line["_aws"]["Timestamp"].is_i64());
        assert_eq!((&line["milliseconds"], &line["target"]), (&json!(1.5), &json!("request")));
    }

    #[test]
    fn other_lines_are_none_and_nor_is_any_without_a_namespace() {
        let others = || {
            tracing::warn!(target: "request", error = "x", "background task failed");
            tracing::info!(target: "outbox", milliseconds = 1.0);
        };
        let without_namespace = LineLabels { namespace: None, ..deployed() };
        for line in lines(deployed(), others).iter().chain(&lines(without_namespace, a_request)) {
            assert_eq!(line.get("_aws"), None);
            assert_eq!(line["release"], "v3.1.0/20261108T100000Z");
        }
        let sweep = lines(deployed(), || tracing::info!(target: "deadline-expiry", lag_seconds = 3));
        assert_eq!(sweep[0]["_aws"]["CloudWatchMetrics"][0]["Dimensions"], json!([[]]));
    }
}
