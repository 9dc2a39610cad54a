//! Writes the archives that owners have requested, and deletes the files of exports that have ended.
//!
//! An archive is written in one invocation: into a temporary folder, and from there into the bucket below
//! [`exports/`](shared::media::export_prefix). A lease, longer than any invocation, keeps a second worker from the
//! export. Each step saves the export with a version check, so that deleting the export stops the worker, and an
//! erasure tells it whom to leave out. An interrupted attempt starts again, up to three times: no part of an
//! incomplete archive is stored.

mod write;

use std::time::Duration;

use futures_util::TryStreamExt as _;
use serde::de::IgnoredAny;
use shared::app::App;
use shared::auth::SystemAccess;
use shared::domain::export::{CompanyExport, ExportStatus};
use shared::event::leave_to_next_invocation;
use shared::invocation_summary::InvocationSummary;
use shared::media::export_prefix;
use shared::store::VersionedItem;
use shared::{Result, invocation_summary, log_failure};

/// The limits of one invocation.
#[derive(Debug, Clone, Copy)]
pub struct InvocationLimits {
    /// For how long new archives are begun. Later invocations begin the rest while this one still writes.
    pub begin: Duration,
    /// The time limit of one archive.
    pub archive: Duration,
    /// The time between two saves of the progress.
    pub pause: Duration,
}

impl InvocationLimits {
    /// The limits of a scheduled invocation.
    // The function's timeout is 15 minutes, and an invocation starts every minute.
    pub const SCHEDULED: Self = Self {
        begin: Duration::from_secs(60),
        archive: Duration::from_secs(12 * 60),
        pause: Duration::from_secs(5),
    };

    /// For how long DynamoDB calls are retried.
    fn patience(&self) -> Duration {
        self.archive.saturating_add(Duration::from_secs(60))
    }
}

/// The maximum number of archives that are written concurrently.
// Fewer than the function's concurrency, so that every scheduled invocation can run and delete expired files.
pub const MOST_AT_ONCE: usize = 5;

invocation_summary! {
    "exports", "exported";
    /// The result of one invocation.
    pub struct ExportSummary {
        /// Archives that are ready for download.
        pub written: usize,
        /// Exports that were given up.
        pub given_up: usize,
        /// Exports whose files were deleted.
        pub cleared: usize,
        /// The age of the oldest unfinished export, in seconds.
        pub export_delay_seconds: i64,
    }
}

/// Handles one scheduled invocation.
///
/// # Errors
/// If the storage cannot be read.
pub async fn handle(app: &App, _: IgnoredAny) -> Result<ExportSummary> {
    let summary = run(app, InvocationLimits::SCHEDULED).await.inspect_err(|error| {
        log_failure!(target: "exports", error, "could not run");
    });
    leave_to_next_invocation(summary)
}

/// Writes and deletes what is due, within `limits`.
///
/// # Errors
/// If the storage cannot be read.
pub async fn run(app: &App, limits: InvocationLimits) -> Result<ExportSummary> {
    let system = SystemAccess::of(app);
    let mut summary = ExportSummary::default();
    let open: Vec<Vec<VersionedItem<CompanyExport>>> =
        system.store.open_exports(system.now).try_collect().await?;
    let mut open: Vec<VersionedItem<CompanyExport>> = open.into_iter().flatten().collect();
    let under_way = open.iter().filter(|export| export.is_under_way());
    let oldest = under_way.map(|export| export.created_at).min();
    // Include exports that other workers are writing: an export that is retried again and again is never overdue.
    summary.export_delay_seconds = oldest.map_or(0, |at| (system.now - at).num_seconds());
    open.retain(|export| export.work.is_due(system.now));
    // Delete files first, because that takes only moments.
    let (to_write, to_clear): (Vec<_>, Vec<_>) = open.into_iter().partition(|export| export.is_under_way());
    for export in to_clear {
        let cleared = clear(&system, &export).await;
        summary.cleared += usize::from(summary.note_result("exports", &export, cleared).is_some());
    }
    for export in to_write {
        let is_over = system.usage().elapsed() >= limits.begin;
        // Count again before each archive: other invocations may have begun some in the meantime.
        if is_over || system.store.exports_being_written(app.now()).await? >= MOST_AT_ONCE {
            summary.more = true;
            break;
        }
        let written = write::write(app, limits, &export).await;
        match summary.note_result("exports", &export, written) {
            Some(Ended::Written) => summary.written += 1,
            Some(Ended::GivenUp) => summary.given_up += 1,
            None => {}
        }
    }
    summary.log(system.usage());
    Ok(summary)
}

enum Ended {
    Written,
    GivenUp,
}

/// Deletes the files of an export that has ended.
async fn clear(system: &SystemAccess, export: &VersionedItem<CompanyExport>) -> Result<()> {
    system.objects()?.delete_all(&export_prefix(&export.company, export.id)).await?;
    let status = export.status;
    let after = CompanyExport::clone(export).without_files(system.now);
    system.store.update_export(export, after).await?;
    tracing::info!(
        target: "exports",
        company = export.company.as_str(),
        export = %export.id,
        status = ExportStatus::as_str(status),
        "files deleted"
    );
    Ok(())
}
