//! Reminds evaluators: on each working morning of a company, one mail to each about all candidates who wait for them.
//!
//! The notice of a member of staff knows the day of the last reminder. So an invocation that dies leaves the round, and the next
//! one reminds those who were not reminded yet.
//!
//! A company may have more candidates than one step can read. What the step has read by half of its time leaves as mails, and the
//! round keeps the place where the next step goes on. Those who got a mail by then get no second one: it told them of the candidates
//! who were read. If the time is over before all mails are handed over, the next step reads the same candidates again and hands over
//! the rest.
//!
//! The next morning begins with the first candidate. A round that has not ended by then leaves evaluators without a reminder, so that an
//! operator has to be told.

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

/// The most candidates that are read together.
// An item may have 400 KB, and all kinds of work share the memory.
const TOGETHER: usize = 100;

/// The notices that are written at once.
const AT_ONCE: usize = 8;

/// The candidates who wait for each evaluator, with the ends of their interviews.
type WaitingInterviews = BTreeMap<CustomerId, Vec<(Option<DateTime<Utc>>, EndedInterview)>>;

/// Reminds the evaluators of the companies whose morning has come.
pub(crate) async fn remind_evaluators(work: DueWork<'_>, summary: &mut SweepSummary) -> Result<()> {
    let system = work.system;
    let due = system.store.due_evaluation_rounds(system.now);
    work.run(due, summary, |round| async move { end_round(work, &round).await }).await
}

/// The candidates that a step has read.
struct ReadCandidates {
    waiting: WaitingInterviews,
    /// The place of the first candidate; `None` if no project has its evaluators reminded.
    from: Option<ReadingPlace>,
    /// The place behind the last candidate; `None` if there is nobody left to read.
    to: Option<ReadingPlace>,
}

/// The mails that a step has handed over.
struct HandedOver {
    mails: usize,
    /// Whether its time was over before it had looked at all of them.
    is_cut_short: bool,
}

/// Reminds the evaluators of a company if it is a working day from 8 o'clock on, and plans the next morning, or the next step if its
/// time is over.
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
        // Another invocation was faster, or another project has its evaluators reminded: the next invocation plans it.
        Err(Error::Changed) => Ok(summary),
        moved => moved.map(|()| summary),
    }
}

/// Reads who waits on `day` from the place on that a step before has reached, until half of the time that is left is over, but a page
/// of candidates at least.
async fn read_waiting(
    work: DueWork<'_>,
    company: &Company,
    day: NaiveDate,
    after: Option<ReadingPlace>,
) -> Result<ReadCandidates> {
    let system = work.system;
    let store = &system.store;
    // The other half is for the mails.
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
        // Each step gets further, also one that begins when others have taken up the time.
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

/// Hands over the mails of `day` until the time is over, but those of a few evaluators at least who got none on that day.
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
        // Each step gets further: a step before has handed over those that are not due any more.
        if handed_over.mails > 0 && work.is_over() {
            handed_over.is_cut_short = true;
            break;
        }
        let are_due = try_join_all(mails).await?;
        handed_over.mails += are_due.into_iter().filter(|is_due| *is_due).count();
    }
    Ok(handed_over)
}
