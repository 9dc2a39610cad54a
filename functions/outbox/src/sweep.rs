//! Picks up what is due: effects that the stream missed or that failed before, events that it did not have
//! numbered, ended interviews that staff are to be told of, uploads, videos and takes whose time is over. Each is a
//! kind of work of its own; within it, companies take turns.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use futures_util::future::join_all;
use shared::auth::SystemAccess;
use shared::mail::Mailer;
use shared::run_summary::RunSummary;
use shared::{Error, Result};

use crate::deliver::{PARALLEL, deliver};
use crate::outcome::{EffectResult, SweepSummary};
use crate::{notices, numbering, takes, uploads, videos};

// SES limits mails per second.
const PAUSE: Duration = Duration::from_secs(1);

/// Works for `time`, at each kind a step at least.
pub(crate) async fn handle(system: &SystemAccess, time: Duration) -> Result<SweepSummary> {
    let mut kinds: [SweepSummary; 6] = Default::default();
    let [events, notices, uploads, videos, takes, effects] = &mut kinds;
    // Side by side: no kind waits for another, however much there is of it.
    let (of_events, of_notices, of_uploads, of_videos, of_takes, of_effects) = tokio::join!(
        numbering::assign_missing_numbers(system, time, events),
        notices::tell_staff(system, time, notices),
        uploads::give_up_uploads(system, time, uploads),
        videos::look_at_overdue(system, time, videos),
        takes::close_overdue(system, time, takes),
        run_effects(system, time, effects),
    );
    let mut summary = SweepSummary::default();
    kinds.into_iter().for_each(|kind| summary.add(kind));
    let oldest = system.store.oldest_pending_erasure().await?;
    summary.erasure_delay_seconds = oldest.map_or(0, |at| (system.now - at).num_seconds());
    summary.log(system.usage());
    of_events.and(of_notices).and(of_uploads).and(of_videos).and(of_takes).and(of_effects).map(|()| summary)
}

async fn run_effects(system: &SystemAccess, time: Duration, summary: &mut SweepSummary) -> Result<()> {
    let mailer = Mailer::new(system.aws(), system.config()).map_err(Error::internal)?;
    let mut due = system.store.due_effects(system.now);
    while let Some(effects) = due.try_next().await? {
        for group in effects.chunks(PARALLEL) {
            let results = join_all(group.iter().map(|effect| deliver(system, &mailer, effect.clone()))).await;
            results.iter().for_each(|result| summary.count(result));
            if system.usage().elapsed() >= time {
                summary.more = true;
                return Ok(());
            }
            // SES limits mails per second, so more at once would be refused as well.
            if results.iter().any(|result| matches!(result, Ok(EffectResult::Postponed))) {
                system.pause(PAUSE).await;
            }
        }
    }
    Ok(())
}
