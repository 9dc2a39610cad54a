//! Reminds evaluators: on each working morning of a company, one mail to each about all candidates who wait for them.
//!
//! Each person's notice records the day of the last reminder. So if an invocation dies, the next one reminds only those
//! who were not reminded yet.
//!
//! A company may have more candidates than one step can read. Halfway through its time, a step stops reading and mails
//! what it has read; the round saves the position for the next step. Evaluators who got a mail get no second one that
//! day: the mail named the candidates that had been read. If the time is over before all mails are sent, the next step
//! reads the same candidates again and sends the rest.
//!
//! The next morning begins with the first candidate again. A round that has not ended by then leaves evaluators without
//! a reminder, so an alarm must tell the operator.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt as _};
use shared::domain::company::Company;
use shared::domain::id::CustomerId;
use shared::domain::staff::ended_interviews::EndedInterview;
use shared::domain::staff::reminder::{EvaluationRound, ReadingPlace, morning_of};
use shared::invocation_summary::InvocationSummary as _;
use shared::store::VersionedItem;
use shared::work::DueWork;
use shared::{Error, Result};

use crate::outcome::SweepSummary;

/// The maximum number of candidates that are read together.
// An item may have 400 KB, and all kinds of work share the function's memory.
const TOGETHER: usize = 100;

/// The number of notices that are written concurrently.
const AT_ONCE: usize = 8;

/// For each evaluator, the waiting candidates and when their interviews ended.
type WaitingInterviews = BTreeMap<CustomerId, Vec<(Option<DateTime<Utc>>, EndedInterview)>>;

/// Reminds the evaluators of companies whose round is due.
pub(crate) async fn remind_evaluators(work: DueWork<'_>, summary: &mut SweepSummary) -> Result<()> {
    let system = work.system;
    let due = system.store.due_evaluation_rounds(system.now);
    work.run(due, summary, |round| async move { end_round(work, &round).await }).await
}

/// The candidates that a step has read.
struct ReadCandidates {
    waiting: WaitingInterviews,
    /// The position of the first candidate; `None` if no project has reminders.
    from: Option<ReadingPlace>,
    /// The position after the last candidate; `None` if none are left to read.
    to: Option<ReadingPlace>,
}

/// The mails that a step has sent.
struct HandedOver {
    mails: usize,
    /// Whether the time was over before all mails were checked.
    is_cut_short: bool,
}

/// On a working day from 8 o'clock on, reminds the evaluators of a company. Then plans the next morning, or the next
/// step if the time is over.
async fn end_round(work: DueWork<'_>, round: &VersionedItem<EvaluationRound>) -> Result<SweepSummary> {
    let system = work.system;
    let store = &system.store;
    let mut summary = SweepSummary::default();
    let Some(company) = store.company(&round.company).await? else {
        return store.end_evaluation_round(round).await.map(|()| summary);
    };
    let zone = company.time_zone();
    if let Some(day) = round.missed_day(&zone, system.now) {
        let company = company.id.as_str();
        tracing::error!(target: "outbox", work = work.name, company, %day, "evaluators were not reminded");
    }
    let mut goes_on = None;
    if let Some(day) = round.day_at(&zone, system.now) {
        let read = read_waiting(work, &company, day, round.place_on(day)).await?;
        let handed_over = hand_over(work, &company, day, read.waiting).await?;
        summary.notices = handed_over.mails;
        goes_on = if handed_over.is_cut_short { read.from } else { read.to };
    }
    let moved = match goes_on {
        Some(place) => {
            summary.note_more();
            summary.reminder_delay_seconds = (system.now - morning_of(place.day, &zone)).num_seconds();
            store.go_on_with_evaluation_round(round, place, system.now).await
        }
        None => store.plan_evaluation_round(round, &company, system.now).await,
    };
    match moved {
        // Another invocation was faster, or another project got reminders: the next invocation plans the round.
        Err(Error::Changed) => Ok(summary),
        moved => moved.map(|()| summary),
    }
}

/// Reads the candidates who wait on `day`, from the position `after` on, during half of the remaining time, but at
/// least one page.
async fn read_waiting(
    work: DueWork<'_>,
    company: &Company,
    day: NaiveDate,
    after: Option<ReadingPlace>,
) -> Result<ReadCandidates> {
    let system = work.system;
    let store = &system.store;
    // The other half of the time is for the mails.
    let reading = DueWork { time: (system.usage().elapsed() + work.time) / 2, ..work };
    let zone = company.time_zone();
    let mut waiting = WaitingInterviews::new();
    let mut projects = store.all_projects(&company.id).await?;
    projects.retain(|project| {
        project.reminder_days().is_some() && after.is_none_or(|after| project.id >= after.project)
    });
    projects.sort_unstable_by_key(|project| project.id);
    let first = projects.first().map(|project| ReadingPlace { day, project: project.id, candidate: None });
    let from = after.or(first);
    let mut is_first = true;
    for project in projects {
        let mut candidate =
            after.filter(|after| after.project == project.id).and_then(|after| after.candidate);
        // Always read at least one page, even if other work has used up the time.
        if !is_first && reading.is_over() {
            let to = Some(ReadingPlace { day, project: project.id, candidate });
            return Ok(ReadCandidates { waiting, from, to });
        }
        let unevaluated = store.unevaluated(&project, candidate).await?;
        for (number, page) in unevaluated.chunks(TOGETHER).enumerate() {
            if (!is_first || number > 0) && reading.is_over() {
                let to = Some(ReadingPlace { day, project: project.id, candidate });
                return Ok(ReadCandidates { waiting, from, to });
            }
            for candidate in store.candidates_that_may_lag(&project, page).await? {
                let one = EndedInterview { project: project.id, candidate: candidate.id };
                for evaluator in candidate.reminded_evaluators(&project, &zone, day, system.now) {
                    waiting.entry(evaluator).or_default().push((candidate.interviewed_at, one));
                }
            }
            candidate = page.last().copied();
        }
        is_first = false;
    }
    Ok(ReadCandidates { waiting, from, to: None })
}

/// Sends the mails of `day` until the time is over, but at least those of a few evaluators who got none that day.
async fn hand_over(
    work: DueWork<'_>,
    company: &Company,
    day: NaiveDate,
    mut waiting: WaitingInterviews,
) -> Result<HandedOver> {
    let system = work.system;
    let store = &system.store;
    let customers = store.customers(&company.id, waiting.keys().copied()).await?;
    let mails = customers.iter().filter(|customer| customer.takes_interview_notices()).map(|customer| {
        let mut interviews = waiting.remove(&customer.id).unwrap_or_default();
        interviews.sort_by_key(|(ended_at, one)| (*ended_at, one.candidate));
        let interviews: Vec<EndedInterview> = interviews.into_iter().map(|(_, one)| one).collect();
        async move { store.remind_evaluator(&company.id, customer.id, day, &interviews, system.now).await }
    });
    let mut handed_over = HandedOver { mails: 0, is_cut_short: false };
    let mut together = stream::iter(mails.collect::<Vec<_>>()).chunks(AT_ONCE);
    while let Some(mails) = together.next().await {
        // Always send at least one mail that is still due: earlier steps may have sent the first ones.
        if handed_over.mails > 0 && work.is_over() {
            handed_over.is_cut_short = true;
            break;
        }
        let are_due = try_join_all(mails).await?;
        handed_over.mails += are_due.into_iter().filter(|is_due| *is_due).count();
    }
    Ok(handed_over)
}
