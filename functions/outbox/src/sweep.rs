//! Picks up effects that the stream missed or that failed before, and events that it did not have numbered.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;
use shared::Result;
use shared::auth::SystemAccess;
use shared::mail::Mailer;
use shared::store::{DueCursor, DueQueue};

use crate::deliver::{PARALLEL, deliver};
use crate::outcome::EffectResult;
use crate::{numbering, uploads};

/// The duration of one run; the next one continues.
pub(crate) const RUN: Duration = Duration::from_secs(40);
// SES limits mails per second.
const PAUSE: Duration = Duration::from_secs(1);

/// The result of one sweep.
#[derive(Debug, Default, Serialize)]
pub struct SweepSummary {
    /// Mails that SES accepted.
    pub sent: usize,
    /// Recorded deletions, and deleted objects without references.
    pub deleted: usize,
    /// Effects that the candidate's moves made pointless.
    pub outdated: usize,
    /// Effects to retry later.
    pub postponed: usize,
    /// Effects that failed permanently or too often.
    pub given_up: usize,
    /// Effects and uploads that could not be read, and companies whose events could not be numbered.
    pub failed: usize,
    /// Uploads that did not arrive in time, and videos that were not converted in time.
    pub uploads_given_up: usize,
    /// Events that the stream did not have numbered.
    pub events: usize,
    /// The age of the oldest of these events.
    pub numbering_lag_seconds: i64,
    /// Whether work remains for the next run.
    pub more: bool,
}

pub(crate) async fn handle(system: &SystemAccess) -> Result<SweepSummary> {
    let mailer = Mailer::new(system.aws(), system.config()).map_err(shared::Error::internal)?;
    let events = numbering::sweep(system).await?;
    // First, so that this run deletes what remains of them.
    let given_up = uploads::give_up(system).await?;
    let mut summary = SweepSummary {
        uploads_given_up: given_up.uploads,
        failed: given_up.failed + events.failed,
        events: events.events,
        numbering_lag_seconds: events.lag_seconds,
        ..SweepSummary::default()
    };
    let mut is_postponed = false;
    for first in DueCursor::all(DueQueue::Effects, system.now) {
        let mut page = Some(first);
        while let Some(cursor) = page {
            let due = system.store.due_effects(cursor).await?;
            for group in due.rows.chunks(PARALLEL) {
                if system.usage().elapsed() > RUN {
                    summary.more = true;
                    return Ok(summary.log(system));
                }
                // SES limits mails per second, so more at once would be refused as well.
                if is_postponed {
                    tokio::time::sleep(PAUSE).await;
                }
                let outcomes =
                    join_all(group.iter().map(|effect| deliver(system, &mailer, effect.clone()))).await;
                is_postponed = outcomes.iter().any(|outcome| matches!(outcome, Ok(EffectResult::Postponed)));
                outcomes.iter().for_each(|outcome| summary.count(outcome));
            }
            page = due.next;
        }
    }
    Ok(summary.log(system))
}

impl SweepSummary {
    fn count(&mut self, outcome: &Result<EffectResult>) {
        match outcome {
            Ok(EffectResult::Sent) => self.sent += 1,
            Ok(EffectResult::Deleted) => self.deleted += 1,
            Ok(EffectResult::Outdated) => self.outdated += 1,
            Ok(EffectResult::Failed | EffectResult::Postponed) => self.postponed += 1,
            Ok(EffectResult::GivenUp) => self.given_up += 1,
            Ok(EffectResult::Skipped) => {}
            Err(error) => {
                tracing::error!(target: "outbox", %error, "an effect could not be looked at");
                self.failed += 1;
            }
        }
    }

    fn log(self, system: &SystemAccess) -> Self {
        let Self { sent, deleted, outdated, postponed, given_up, failed, uploads_given_up, more, .. } = self;
        let Self { events, numbering_lag_seconds, .. } = self;
        let usage = system.usage();
        tracing::info!(
            target: "outbox",
            sent,
            deleted,
            outdated,
            postponed,
            given_up,
            failed,
            uploads_given_up,
            events,
            numbering_lag_seconds,
            more,
            milliseconds = usage.elapsed().as_secs_f64() * 1000.0,
            dynamodb_calls = usage.calls(),
            read_units = usage.read_units(),
            write_units = usage.write_units(),
            "swept",
        );
        self
    }
}
