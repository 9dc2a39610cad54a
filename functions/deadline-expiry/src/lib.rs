//! Moves candidates past their deadline to expired, or to aborted if they had started. Ends interviews in the service
//! when they close: the candidate becomes interviewed or aborted. Sends the reminders before the deadline that the
//! project has set.
//!
//! Rules check the deadline itself, at once; this function updates status, lists and counts within a minute or two.

mod interview;

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt as _};
use serde::de::IgnoredAny;
use shared::app::App;
use shared::auth::SystemAccess;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::id::{CompanyId, ProjectId};
use shared::domain::project::ProjectStatus;
use shared::domain::transition::CandidateChange;
use shared::domain::transition::project_counts::SHARDS;
use shared::event::leave_to_next_invocation;
use shared::invocation_summary::InvocationSummary;
use shared::store::{DuePages, Store, VersionedItem};
use shared::work::{DueWork, due_again};
use shared::{Error, Result, invocation_summary, log_failure};

/// The time limit of one invocation; the next one continues.
const RUN: Duration = Duration::from_secs(40);
/// The name of the work in the log.
const NAME: &str = "candidates";
/// The number of candidates of one counter shard that are processed together.
const PAGE: usize = 100;
/// The number of projects of one counter shard that are processed concurrently.
const PROJECTS: usize = 8;
/// The maximum number of interviews of one counter shard that an invocation ends. It holds their candidates in memory.
const INTERVIEWS: usize = 500;

invocation_summary! {
    "deadline-expiry", "swept";
    /// The result of one invocation.
    pub struct ExpirySummary {
        /// Candidates who had not started.
        pub expired: usize,
        /// Candidates who had started but not finished.
        pub aborted: usize,
        /// Candidates who had answered everything required without completing the interview.
        pub interviewed: usize,
        /// Candidates who were mailed a reminder of their deadline.
        pub reminded: usize,
        /// Reminders that were no longer needed.
        pub dropped: usize,
        /// How long the most overdue deadline or reminder was overdue, in seconds.
        pub lag_seconds: i64,
    }
}

/// A candidate, and the change that is due.
type DueChange = (VersionedItem<Candidate>, CandidateChange);

/// The due candidates of one project.
#[derive(Default)]
struct DueCandidates {
    expired: Vec<DueChange>,
    to_remind: Vec<VersionedItem<Candidate>>,
}

/// Handles one scheduled invocation.
///
/// # Errors
/// If the storage cannot be read.
pub async fn handle(app: &App, _: IgnoredAny) -> Result<ExpirySummary> {
    let summary = sweep(app, RUN).await.inspect_err(|error| {
        log_failure!(target: "deadline-expiry", error, "could not sweep");
    });
    leave_to_next_invocation(summary)
}

/// Processes due candidates for this time, but at least one batch per counter shard. Companies take turns.
///
/// # Errors
/// If the storage cannot be read.
pub async fn sweep(app: &App, time: Duration) -> Result<ExpirySummary> {
    let system = SystemAccess::of(app);
    // One part per counter shard: transactions on the same shard would conflict.
    let parts =
        (0..SHARDS).map(|counts| expire_due(&system, system.store.due_candidates(counts, system.now), time));
    let parts: Vec<ExpirySummary> = try_join_all(parts).await?;
    let mut summary = ExpirySummary::default();
    parts.into_iter().for_each(|part| summary.add(part));
    summary.log(system.usage());
    Ok(summary)
}

async fn expire_due(
    system: &SystemAccess,
    due: DuePages<'_, Candidate>,
    time: Duration,
) -> Result<ExpirySummary> {
    let work = DueWork { system, name: NAME, time };
    let mut summary = ExpirySummary::default();
    let mut interviews = Vec::new();
    let page = work.run_together(PAGE, due, &mut summary, |due| {
        let (to_end, to_change): (Vec<_>, Vec<_>) =
            due.into_iter().partition(|candidate: &VersionedItem<Candidate>| candidate.is_in_interview());
        let room = INTERVIEWS - interviews.len();
        let more = to_end.len() > room;
        interviews.extend(to_end.into_iter().take(room));
        async move { ExpirySummary { more, ..change_page(system, to_change).await } }
    });
    page.await?;
    // End interviews last: each end needs the bucket, and a slow bucket must not delay deadlines and reminders.
    let end = work.run(due_again(interviews), &mut summary, |candidate| async move {
        let mut ended = ExpirySummary::default();
        if let Some(change) = interview::end(system, &candidate).await? {
            ended.count(&candidate, &change, system.now);
        }
        Ok(ended)
    });
    end.await?;
    Ok(summary)
}

/// Expires and reminds candidates, project by project.
async fn change_page(system: &SystemAccess, due: Vec<VersionedItem<Candidate>>) -> ExpirySummary {
    let mut projects: BTreeMap<(CompanyId, ProjectId), DueCandidates> = BTreeMap::new();
    for before in due {
        let due = projects.entry((before.company.clone(), before.project)).or_default();
        match Candidate::clone(&before).expire(system.now) {
            Some(after) => due.expired.push((before, after.into())),
            None => due.to_remind.push(before),
        }
    }
    let changes =
        projects.into_iter().map(|((company, project), due)| change_due(system, company, project, due));
    let mut parts = stream::iter(changes).buffer_unordered(PROJECTS);
    let mut summary = ExpirySummary::default();
    while let Some(part) = parts.next().await {
        summary.add(part);
    }
    summary
}

/// Expires and reminds the candidates of one project.
async fn change_due(
    system: &SystemAccess,
    company: CompanyId,
    project: ProjectId,
    due: DueCandidates,
) -> ExpirySummary {
    let DueCandidates { expired, to_remind } = due;
    let mut summary = change_all(system, expired).await;
    if to_remind.is_empty() {
        return summary;
    }
    match system.store.project(&company, project).await {
        Ok(found) => {
            let is_running = found.is_some_and(|project| project.status == ProjectStatus::Running);
            let reminders = to_remind.into_iter().filter_map(|before| {
                let change = Candidate::clone(&before).after_due_reminder(is_running, system.now)?;
                Some((before, change))
            });
            summary.add(change_all(system, reminders.collect()).await);
        }
        // A project that cannot be read must not hold up others.
        Err(error) => to_remind.iter().for_each(|before| summary.note_error(NAME, before, &error)),
    }
    summary
}

/// Changes candidates of one project and one counter shard: in one transaction or, if that fails because of one
/// candidate, one by one.
async fn change_all(system: &SystemAccess, changes: Vec<DueChange>) -> ExpirySummary {
    let mut summary = ExpirySummary::default();
    for together in changes.chunks(Store::MAX_TOGETHER) {
        match system.commit(system.store.change_together(together, system.now)).await {
            Ok(()) => together.iter().for_each(|(before, change)| summary.count(before, change, system.now)),
            // Retrying them one by one would only increase the load of the table.
            Err(error @ Error::Busy(_)) => {
                together.iter().for_each(|(before, _)| summary.note_error(NAME, before, &error));
            }
            // One by one, so that a candidate who cannot be written does not hold up the others.
            Err(_) => {
                for one in together {
                    let (before, change) = one;
                    let alone = std::slice::from_ref(one);
                    let changed = system.commit(system.store.change_together(alone, system.now)).await;
                    if summary.note_result(NAME, before, changed).is_some() {
                        summary.count(before, change, system.now);
                    }
                }
            }
        }
    }
    summary
}

impl ExpirySummary {
    fn count(&mut self, before: &Candidate, change: &CandidateChange, now: DateTime<Utc>) {
        match change.candidate.status {
            CandidateStatus::Aborted => self.aborted += 1,
            CandidateStatus::Interviewed => self.interviewed += 1,
            CandidateStatus::Expired => self.expired += 1,
            _ if change.mail.is_some() => self.reminded += 1,
            _ => self.dropped += 1,
        }
        let overdue = before.due_at().map_or(0, |at| (now - at).num_seconds());
        self.lag_seconds = self.lag_seconds.max(overdue);
    }
}
