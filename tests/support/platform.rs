//! Changes of candidates without API requests: reports of the platform, and deadlines.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deadline_expiry::ExpirySummary;
use export_writer::ExportSummary;
use retention::{InvocationLimits, RetentionSummary};
use serde_json::{Value, json};
use shared::clock::Clock;
use shared::event::{RecordOutcome, TableResponse};

use crate::app::TestApp;

static EVENTS: AtomicUsize = AtomicUsize::new(0);

/// An event as on the bus, with a unique identifier.
pub fn event(kind: &str, time: &str, detail: Value) -> Value {
    let id = format!("event-{}", EVENTS.fetch_add(1, Ordering::Relaxed));
    json!({
        "version": "0",
        "id": id,
        "detail-type": kind,
        "source": "platform",
        "account": "000000000000",
        "time": time,
        "region": "eu-central-1",
        "resources": [],
        "detail": detail,
    })
}

impl TestApp {
    /// Sends an event to the function `platform-events`.
    ///
    /// # Errors
    /// If the function fails, or the event is malformed.
    pub async fn report(&self, event: Value) -> shared::Result<RecordOutcome> {
        let event = serde_json::from_value(event).map_err(shared::Error::internal)?;
        // Boxed, as in `shared::event`, like the calls below.
        Box::pin(platform_events::process(&self.app_of("PlatformEventsFunction"), event)).await
    }

    /// The platform reports that the candidate at `uri` has completed the interview.
    pub async fn complete(&self, uri: &str) {
        self.must_apply("interview.completed", json!({ "candidate": uri })).await;
    }

    /// The platform reports that the candidate at `uri` has aborted the interview.
    pub async fn abort(&self, uri: &str) {
        self.must_apply("interview.aborted", json!({ "candidate": uri })).await;
    }

    /// The platform reports whether the customer at `by` has completed the evaluation of the candidate at `uri`.
    pub async fn evaluate(&self, uri: &str, by: &str, completed: bool) {
        let detail = json!({ "candidate": uri, "customer": by, "completed": completed });
        self.must_apply("evaluation.recorded", detail).await;
    }

    async fn must_apply(&self, kind: &str, detail: Value) {
        let now = self.clock().now().format("%Y-%m-%dT%H:%M:%SZ").to_string();
        let outcome = self.report(event(kind, &now, detail)).await;
        assert_eq!(outcome.unwrap_or_else(|refused| panic!("{refused}")), RecordOutcome::Applied);
    }

    /// Invokes `webhook-sender` with an event.
    pub async fn send_events(
        &self,
        event: Value,
    ) -> shared::Result<TableResponse<webhook_sender::DeliverySummary>> {
        let event = serde_json::from_value(event).expect("an event");
        Box::pin(webhook_sender::handle(&self.app_of("WebhookSenderFunction"), event)).await
    }

    /// Processes passed deadlines, as the schedule does.
    pub async fn expire_overdue(&self) -> ExpirySummary {
        let tick = serde_json::from_value(json!({})).expect("anything");
        Box::pin(deadline_expiry::handle(&self.app_of("DeadlineExpiryFunction"), tick))
            .await
            .unwrap_or_else(|failed| panic!("{failed}"))
    }

    /// Processes passed deadlines with a time limit of zero, i.e. only a page or two.
    pub async fn expire_without_time(&self) -> ExpirySummary {
        Box::pin(deadline_expiry::sweep(&self.app_of("DeadlineExpiryFunction"), Duration::ZERO))
            .await
            .unwrap_or_else(|failed| panic!("{failed}"))
    }

    /// Erases due candidates, as the schedule does.
    pub async fn erase_due(&self) -> RetentionSummary {
        self.try_to_erase_due().await.unwrap_or_else(|failed| panic!("{failed}"))
    }

    /// Erases due candidates, or returns the error.
    ///
    /// # Errors
    /// If the function fails.
    pub async fn try_to_erase_due(&self) -> shared::Result<RetentionSummary> {
        let tick = serde_json::from_value(json!({})).expect("anything");
        Box::pin(retention::handle(&self.app_of("RetentionFunction"), tick)).await
    }

    /// Writes due exports within these limits.
    ///
    /// # Errors
    /// If the function fails.
    pub async fn write_exports(
        &self,
        limits: export_writer::InvocationLimits,
    ) -> shared::Result<ExportSummary> {
        Box::pin(export_writer::run(&self.app_of("ExportWriterFunction"), limits)).await
    }

    /// Erases due candidates within these limits.
    pub async fn erase_due_within(&self, limits: InvocationLimits) -> RetentionSummary {
        Box::pin(retention::run(&self.app_of("RetentionFunction"), limits))
            .await
            .unwrap_or_else(|failed| panic!("{failed}"))
    }
}
