//! Computes the next cursor and the stalled resources from the results of a step.

use chrono::{DateTime, Utc};
use shared::domain::webhook::{DeliveryAttempt, DeliveryVerdict, StalledResource};
use shared::store::DeliveryProgress;

use super::in_flight::EventGroup;
use super::next_batch::DeliveryBatch;

/// Applies the results of a step: those of `batch`, and of groups from earlier steps that have ended. `random` spreads
/// retries.
pub(super) fn conclude(
    progress: &mut DeliveryProgress,
    batch: &DeliveryBatch,
    ended: Vec<EventGroup>,
    now: DateTime<Utc>,
    random: u8,
) {
    let mut after = progress.cursor.after.max(batch.reached);
    progress.stalled.retain(|resource| !batch.caught_up.contains(&resource.history_id));
    for (history_id, version) in &batch.skipped {
        find(&mut progress.stalled, history_id)
            .into_iter()
            .for_each(|resource| resource.next_version = *version);
    }
    for (attempt, request) in &batch.expired {
        progress.cursor.requests.retain(|queued| Some(queued) != request.as_ref());
        progress.attempts.push(attempt.clone());
    }
    for group in ended {
        if let Some(request) = &group.request {
            // Keep a request without an attempt: there was no time for it.
            progress.cursor.requests.retain(|queued| queued != request || group.attempts.is_empty());
            progress.attempts.extend(group.attempts.into_iter().map(DeliveryAttempt::given_up));
        } else if group.is_stalled {
            conclude_stalled(progress, group, now, random);
        } else {
            after = after.min(conclude_feed(progress, group, now, random));
        }
    }
    progress.cursor.after = after.max(progress.cursor.after);
    progress.cursor.accepted.retain(|number| *number > progress.cursor.after);
    progress.cursor.stalled_count = progress.stalled.len() as u32;
}

/// Marks a resource as stalled while its events are still in flight, so that others do not wait for it. If the turn is
/// interrupted, the next one continues at this version.
pub(super) fn stall(progress: &mut DeliveryProgress, history_id: String, version: u64, now: DateTime<Utc>) {
    progress.stalled.push(StalledResource::new(&progress.cursor, history_id, version, now));
    progress.cursor.stalled_count = progress.stalled.len() as u32;
}

/// Applies the result of a group of the feed. Returns the last number that the cursor may pass.
fn conclude_feed(progress: &mut DeliveryProgress, group: EventGroup, now: DateTime<Utc>, random: u8) -> u64 {
    progress.cursor.accepted.extend(group.accepted_numbers());
    let Some(next) = group.next() else {
        progress.attempts.extend(group.attempts);
        return u64::MAX;
    };
    let version = next.version_after;
    let number = next.sequence.unwrap_or_default();
    let health = &progress.cursor.health;
    let failure = group.failure.filter(|verdict| match verdict {
        DeliveryVerdict::Rejected(_) => true,
        // Stall nothing while the endpoint is down: the event is not at fault.
        DeliveryVerdict::Unclear(_) => !health.is_down(),
        DeliveryVerdict::Accepted | DeliveryVerdict::Throttled(_) | DeliveryVerdict::Gone => false,
    });
    let Some((verdict, last)) = failure.zip(group.attempts.last()) else {
        let next_try_at = health.paused_until;
        note_attempts(progress, group.attempts, next_try_at);
        return number.saturating_sub(1);
    };
    let mut stalled = StalledResource::new(&progress.cursor, group.history_id, version, now);
    stalled.note_failure(verdict, last.at, health, now, random);
    let next_try_at = Some(stalled.next_try_at);
    progress.stalled.push(stalled);
    note_attempts(progress, group.attempts, next_try_at);
    u64::MAX
}

fn conclude_stalled(progress: &mut DeliveryProgress, mut group: EventGroup, now: DateTime<Utc>, random: u8) {
    let cursor = &mut progress.cursor;
    // Events of a group that was marked as stalled may come after the cursor.
    cursor.accepted.extend(group.accepted_numbers());
    let Some(stalled) = find(&mut progress.stalled, &group.history_id) else {
        // A client has moved the position in the meantime.
        progress.attempts.extend(group.attempts);
        return;
    };
    if stalled.retry_epoch != cursor.retry_epoch {
        (stalled.retry_epoch, stalled.next_try_at) = (cursor.retry_epoch, now);
    }
    match (group.next(), group.events.last()) {
        (Some(next), _) if group.accepted > 0 => stalled.advance_to(next.version_after, now),
        (None, Some(last)) => stalled.advance_to(last.version_after + 1, now),
        _ => {}
    }
    // Take out only the failed attempt: accepted attempts stay in the list.
    if let Some(verdict) = group.failure
        && let Some(failed) = group.attempts.pop()
    {
        let is_given_up = stalled.note_failure(verdict, failed.at, &cursor.health, now, random);
        group.attempts.push(if is_given_up { failed.given_up() } else { failed });
    }
    let next_try_at = Some(stalled.next_try_at).max(cursor.health.paused_until);
    if group.next().is_none() && group.is_complete {
        progress.stalled.retain(|resource| resource.history_id != group.history_id);
    }
    note_attempts(progress, group.attempts, next_try_at);
}

fn find<'a>(stalled: &'a mut [StalledResource], history_id: &str) -> Option<&'a mut StalledResource> {
    stalled.iter_mut().find(|resource| resource.history_id == history_id)
}

fn note_attempts(
    progress: &mut DeliveryProgress,
    mut attempts: Vec<DeliveryAttempt>,
    next_try_at: Option<DateTime<Utc>>,
) {
    attempts.last_mut().into_iter().for_each(|attempt| attempt.repeat_at(next_try_at));
    progress.attempts.append(&mut attempts);
}
