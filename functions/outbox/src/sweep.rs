//! Does what is due: effects that failed or that the stream missed, unnumbered events, notices and reminders for staff,
//! overdue uploads, videos and takes. Each kind of work runs on its own; within it, companies take turns.

use std::time::Duration;

use futures_util::future::join_all;
use shared::auth::SystemAccess;
use shared::invocation_summary::InvocationSummary;
use shared::mail::Mailer;
use shared::work::DueWork;
use shared::{Error, Result};

use crate::deliver::{PARALLEL, deliver};
use crate::outcome::{EffectResult, SweepSummary};
use crate::{help, notices, numbering, reminders, takes, uploads, videos};

// SES limits the mails per second.
const PAUSE: Duration = Duration::from_secs(1);

/// Works for `time`, but at least one step of each kind.
pub(crate) async fn handle(system: &SystemAccess, time: Duration) -> Result<SweepSummary> {
    let mut kinds: [SweepSummary; 8] = Default::default();
    let [events, notices, reminders, requests, uploads, videos, takes, effects] = &mut kinds;
    let work = |name| DueWork { system, name, time };
    // Concurrently, so that no kind of work delays another.
    let (of_events, of_notices, of_reminders, of_requests, of_uploads, of_videos, of_takes, of_effects) = tokio::join!(
        numbering::assign_missing_numbers(work("events"), events),
        notices::tell_staff(system, time, notices),
        // Boxed: together, the futures would be too large for a thread's stack.
        Box::pin(reminders::remind_evaluators(work("reminders of evaluators"), reminders)),
        help::hand_over(work("help notices"), requests),
        uploads::give_up_uploads(work("uploads"), uploads),
        videos::look_at_overdue(work("videos"), videos),
        takes::close_overdue(work("takes"), takes),
        run_effects(work("effects"), effects),
    );
    let mut summary = SweepSummary::default();
    kinds.into_iter().for_each(|kind| summary.add(kind));
    let oldest = system.store.oldest_pending_erasure().await?;
    summary.erasure_delay_seconds = oldest.map_or(0, |at| (system.now - at).num_seconds());
    summary.log(system.usage());
    let told = of_events.and(of_notices).and(of_reminders).and(of_requests);
    told.and(of_uploads).and(of_videos).and(of_takes).and(of_effects).map(|()| summary)
}

async fn run_effects(work: DueWork<'_>, summary: &mut SweepSummary) -> Result<()> {
    let system = work.system;
    let mailer = Mailer::new(system.aws(), system.config()).map_err(Error::internal)?;
    let mailer = &mailer;
    work.run_together(PARALLEL, system.store.due_effects(system.now), summary, |effects| async move {
        let mut group = SweepSummary::default();
        let mut is_refused = false;
        let tries = effects.iter().map(|effect| deliver(system, mailer, effect.clone()));
        for (effect, result) in effects.iter().zip(join_all(tries).await) {
            if let Some(result) = group.note_result(work.name, effect, result) {
                group.count(result);
                is_refused |= result == EffectResult::Postponed;
            }
        }
        // SES limits the mails per second, so further mails would be refused now.
        if is_refused && !work.is_over() {
            system.pause(PAUSE).await;
        }
        group
    })
    .await
}
