//! Picks up effects that the stream missed or that failed before, and events that it did not have numbered.

use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use shared::auth::SystemAccess;
use shared::mail::Mailer;
use shared::{Error, Result, log_run};

use crate::deliver::{PARALLEL, deliver};
use crate::outcome::{EffectResult, RUN, SweepSummary};
use crate::{numbering, takes, uploads};

// SES limits mails per second.
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn handle(system: &SystemAccess) -> Result<SweepSummary> {
    let mut summary = SweepSummary::default();
    numbering::assign_missing_numbers(system, &mut summary).await?;
    // Before the effects, so that this run deletes what remains of them.
    uploads::give_up(system, &mut summary).await?;
    takes::close_overdue(system, &mut summary).await?;
    run_effects(system, &mut summary).await?;
    let oldest = system.store.oldest_pending_erasure().await?;
    summary.erasure_delay_seconds = oldest.map_or(0, |at| (system.now - at).num_seconds());
    let SweepSummary { sent, started, deleted, outdated, postponed, given_up, .. } = summary;
    let SweepSummary { failed, uploads_given_up, takes_closed, events, numbering_lag_seconds, .. } = summary;
    let SweepSummary { erasure_delay_seconds, more, .. } = summary;
    log_run!(
        target: "outbox",
        system.usage(),
        sent,
        started,
        deleted,
        outdated,
        postponed,
        given_up,
        failed,
        uploads_given_up,
        takes_closed,
        events,
        numbering_lag_seconds,
        erasure_delay_seconds,
        more,
        "swept"
    );
    Ok(summary)
}

async fn run_effects(system: &SystemAccess, summary: &mut SweepSummary) -> Result<()> {
    let mailer = Mailer::new(system.aws(), system.config()).map_err(Error::internal)?;
    let mut due = stream::iter(system.store.due_effects(system.now)).flatten();
    let mut is_postponed = false;
    while let Some(effects) = due.try_next().await? {
        for group in effects.chunks(PARALLEL) {
            if system.usage().elapsed() > RUN {
                summary.more = true;
                return Ok(());
            }
            // SES limits mails per second, so more at once would be refused as well.
            if is_postponed {
                tokio::time::sleep(PAUSE).await;
            }
            let results = join_all(group.iter().map(|effect| deliver(system, &mailer, effect.clone()))).await;
            is_postponed = results.iter().any(|result| matches!(result, Ok(EffectResult::Postponed)));
            results.iter().for_each(|result| summary.count(result));
        }
    }
    Ok(())
}
