//! Has staff told of interviews that have ended: reads where the feed tells of them, notes for each person what waits, and hands what has
//! waited long enough to the outbox, as mails.
//!
//! A wave is a place in the feed, and each notice knows up to which event it has come. So a run that dies leaves the wave, and the
//! next one adds nothing twice.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use futures_util::stream::{self, StreamExt as _};
use shared::auth::SystemAccess;
use shared::domain::id::{CompanyId, CustomerId};
use shared::domain::staff::notice::{EndedInterview, InterviewWave};
use shared::store::VersionedItem;
use shared::{Error, Result, log_failure};

use crate::outcome::SweepSummary;

/// The most ended interviews that are read together.
const TOGETHER: usize = 100;
/// The notices that are written at once.
const AT_ONCE: usize = 8;

/// Reads the waves that are due, and hands over the notices that are, also those that these waves have made due.
pub(crate) async fn tell_staff(
    system: &SystemAccess,
    time: Duration,
    summary: &mut SweepSummary,
) -> Result<()> {
    let mut due = system.store.due_interview_waves(system.now);
    let mut tried = TriedNotices::new();
    while let Some(waves) = due.try_next().await? {
        for wave in waves {
            let company = wave.company.clone();
            match read_wave(system, wave, time).await {
                Ok(has_more) => summary.more |= has_more,
                // Another run reads it.
                Err(Error::Changed | Error::NotFound) => {}
                Err(error) => {
                    log_failure!(target: "outbox", &error, company = company.as_str(), "could not read ended interviews");
                    summary.failed += 1;
                }
            }
            // After each wave: the mails of a company must not wait until the waves of all others are read.
            hand_over(system, time, &mut tried, summary).await?;
            if system.usage().elapsed() >= time {
                summary.more = true;
                return Ok(());
            }
        }
    }
    hand_over(system, time, &mut tried, summary).await
}

/// Reads the feed from the wave on, and ends the wave at the end of the feed. Returns whether there is more to read, for which
/// there was no time.
async fn read_wave(
    system: &SystemAccess,
    wave: VersionedItem<InterviewWave>,
    time: Duration,
) -> Result<bool> {
    let company = wave.company.clone();
    let mut after = wave.after;
    let has_more = read_feed(system, wave, &mut after, time).await;
    // However the read has ended: a long wave would otherwise be read from its beginning again and again.
    system.store.move_interview_wave(&company, after).await?;
    has_more
}

/// Does the work of [`read_wave`], and moves `after` to the last event that it has read.
async fn read_feed(
    system: &SystemAccess,
    mut wave: VersionedItem<InterviewWave>,
    after: &mut u64,
    time: Duration,
) -> Result<bool> {
    let store = &system.store;
    let company = wave.company.clone();
    loop {
        let Some(sequence) = store.sequence(&company).await? else {
            return store.end_interview_wave(&wave).await.map(|()| false);
        };
        let is_end = |event: &_| EndedInterview::of_event(event).is_some();
        let page = match store.events_after(&sequence, *after, TOGETHER, system.now, is_end).await {
            // After an outage that was longer than events are kept.
            Err(Error::Expired(first)) => {
                *after = first - 1;
                continue;
            }
            page => page?,
        };
        let ended = page.events.iter();
        let ended = ended.filter_map(|one| Some((one.sequence?, EndedInterview::of_event(one)?)));
        note(system, &company, &ended.collect::<Vec<_>>(), page.reached).await?;
        *after = page.reached;
        let is_over = !page.more && *after >= sequence.last;
        if !is_over && (!page.more || system.usage().elapsed() >= time) {
            // The index does not show the next event yet, or the time is over: the next run goes on.
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

/// Adds ended interviews to the notices of those who manage or evaluate them, once the feed was read up to number `reached`.
async fn note(
    system: &SystemAccess,
    company: &CompanyId,
    ended: &[(u64, EndedInterview)],
    reached: u64,
) -> Result<()> {
    let store = &system.store;
    let mut projects: Vec<_> = ended.iter().map(|(_, one)| one.project).collect();
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

/// The notices that a run has tried to hand over.
type TriedNotices = BTreeSet<(CompanyId, CustomerId)>;

/// Hands over the notices that are due and not among the `tried` ones.
async fn hand_over(
    system: &SystemAccess,
    time: Duration,
    tried: &mut TriedNotices,
    summary: &mut SweepSummary,
) -> Result<()> {
    let mut due = system.store.due_interview_notices(system.now);
    while let Some(notices) = due.try_next().await? {
        for notice in notices {
            // The index shows it again if it has failed, or if the index lags.
            if !tried.insert((notice.company.clone(), notice.customer)) {
                continue;
            }
            match system.commit(system.store.hand_over_notice(&notice, system.now)).await {
                Ok(()) => summary.notices += 1,
                Err(Error::Changed | Error::NotFound) => {}
                Err(error) => {
                    log_failure!(target: "outbox", &error, "could not hand over a notice");
                    summary.failed += 1;
                }
            }
            if system.usage().elapsed() >= time {
                summary.more = true;
                return Ok(());
            }
        }
    }
    Ok(())
}
