//! Notifies staff of ended interviews: reads them from the feed, collects them in a notice per person, and turns
//! notices into mails when they have waited long enough.
//!
//! A wave is a position in the feed, and each notice records the last event that it includes. So if an invocation dies,
//! the next one repeats the wave without adding anything twice.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use shared::auth::SystemAccess;
use shared::domain::id::{CompanyId, CustomerId};
use shared::domain::staff::ended_interviews::EndedInterview;
use shared::domain::staff::notice::InterviewWave;
use shared::invocation_summary::InvocationSummary as _;
use shared::store::VersionedItem;
use shared::work::DueWork;
use shared::{Error, Result};
use tokio::sync::Mutex;

use crate::outcome::SweepSummary;

/// The maximum number of ended interviews that are read together.
const TOGETHER: usize = 100;
/// The number of notices that are written concurrently.
const AT_ONCE: usize = 8;

/// Reads due waves and turns due notices into mails, including notices that these waves make due.
pub(crate) async fn tell_staff(
    system: &SystemAccess,
    time: Duration,
    summary: &mut SweepSummary,
) -> Result<()> {
    let waves = DueWork { system, name: "interview waves", time };
    let notices = DueWork { name: "interview notices", ..waves };
    let tried = &Mutex::new(TriedNotices::new());
    let due = system.store.due_interview_waves(system.now);
    let read = waves.run_together(1, due, summary, |due| async move {
        let mut ended = SweepSummary::default();
        for wave in due {
            let has_more = read_wave(waves, wave.clone()).await;
            ended.more |= ended.note_result(waves.name, &wave, has_more).unwrap_or_default();
            // Send notices after each wave: a company's mails must not wait until the waves of all other companies are
            // read.
            let handed_over = hand_over(notices, tried, &mut ended).await;
            ended.note_result(notices.name, &wave, handed_over);
        }
        ended
    });
    read.await?;
    hand_over(notices, tried, summary).await
}

/// Reads the feed from the wave on, and ends the wave at the end of the feed. Returns whether more is left because the
/// time is over.
async fn read_wave(waves: DueWork<'_>, wave: VersionedItem<InterviewWave>) -> Result<bool> {
    let company = wave.company.clone();
    let mut after = wave.after;
    let has_more = read_feed(waves, wave, &mut after).await;
    // Save the position even after an error: otherwise a long wave would be read from its beginning again and again.
    waves.system.store.move_interview_wave(&company, after).await?;
    has_more
}

/// Reads the feed for [`read_wave`], and advances `after` to the last event read.
async fn read_feed(
    waves: DueWork<'_>,
    mut wave: VersionedItem<InterviewWave>,
    after: &mut u64,
) -> Result<bool> {
    let system = waves.system;
    let store = &system.store;
    let company = wave.company.clone();
    loop {
        let Some(sequence) = store.sequence(&company).await? else {
            return store.end_interview_wave(&wave).await.map(|()| false);
        };
        let is_end = |event: &_| EndedInterview::of_event(event).is_some();
        let page = match store.events_after(&sequence, *after, TOGETHER, system.now, is_end).await {
            // The outage was longer than events are kept. Continue with the first event that is left.
            Err(Error::Expired(first)) => {
                *after = first - 1;
                continue;
            }
            page => page?,
        };
        let ended = page.events.iter();
        let ended = ended.filter_map(|event| Some((event.sequence?, EndedInterview::of_event(event)?)));
        note(system, &company, &ended.collect::<Vec<_>>(), page.reached).await?;
        *after = page.reached;
        let is_over = !page.more && *after >= sequence.last;
        if !is_over && (!page.more || waves.is_over()) {
            // The time is over, or the index does not show the next event yet. The next invocation continues.
            return Ok(page.more);
        }
        if is_over {
            match store.end_interview_wave(&wave).await {
                // More interviews have ended in the meantime.
                Err(Error::Changed) => {}
                ended => return ended.map(|()| false),
            }
            let Some(next) = store.interview_wave(&company).await?.filter(|next| next.read_at <= system.now)
            else {
                return Ok(false);
            };
            wave = next;
        }
    }
}

/// Adds ended interviews to the notices of the people who manage or evaluate them. The feed has been read up to number
/// `reached`.
async fn note(
    system: &SystemAccess,
    company: &CompanyId,
    ended: &[(u64, EndedInterview)],
    reached: u64,
) -> Result<()> {
    let store = &system.store;
    let mut projects: Vec<_> = ended.iter().map(|(_, interview)| interview.project).collect();
    projects.sort_unstable();
    projects.dedup();
    let projects = store.projects_by_id(company, projects).await?;
    let mut told = BTreeMap::<CustomerId, Vec<(u64, EndedInterview)>>::new();
    for (number, one) in ended {
        let staff = projects.iter().find(|project| project.id == one.project).map(|project| &project.staff);
        let staff =
            staff.map(|staff| staff.interview_managers.union(&staff.evaluators)).into_iter().flatten();
        staff.for_each(|customer| told.entry(*customer).or_default().push((*number, *one)));
    }
    let customers = store.customers(company, told.keys().copied()).await?;
    let notices = customers.iter().filter(|customer| customer.takes_interview_notices()).map(|customer| {
        let interviews = told.remove(&customer.id).unwrap_or_default();
        async move { store.add_to_notice(company, customer.id, &interviews, reached, system.now).await }
    });
    let notices: Vec<_> = notices.collect();
    stream::iter(notices).buffer_unordered(AT_ONCE).try_collect().await
}

/// The notices that this invocation has tried to turn into mails.
type TriedNotices = BTreeSet<(CompanyId, CustomerId)>;

/// Turns due notices into mails, except those in `tried`.
async fn hand_over(
    notices: DueWork<'_>,
    tried: &Mutex<TriedNotices>,
    summary: &mut SweepSummary,
) -> Result<()> {
    let system = notices.system;
    let due = system.store.due_interview_notices(system.now);
    let handed_over = notices.run(due, summary, |notice| async move {
        // The index shows a notice again if it has failed or if the index lags.
        if !tried.lock().await.insert((notice.company.clone(), notice.customer)) {
            return Ok(SweepSummary::default());
        }
        system.commit(system.store.hand_over_notice(&notice, system.now)).await?;
        Ok(SweepSummary { notices: 1, ..SweepSummary::default() })
    });
    handed_over.await
}
