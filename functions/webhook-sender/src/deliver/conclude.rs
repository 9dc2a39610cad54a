//! What a step makes of the cursor and the stalled resources.

use chrono::{DateTime, Utc};
use shared::domain::webhook::{
    DeliveryAttempt, DeliveryCursor, DeliveryVerdict, EndpointHealth, StalledResource,
};

use super::batch::DeliveryBatch;
use super::group::{GroupOrigin, GroupReport};

/// The deliveries to an endpoint, as a step leaves them.
#[derive(Debug)]
pub(crate) struct StepResult {
    pub(crate) cursor: DeliveryCursor,
    pub(crate) stalled: Vec<StalledResource>,
    pub(crate) attempts: Vec<DeliveryAttempt>,
    now: DateTime<Utc>,
    chance: u8,
}

impl StepResult {
    /// The state before the step, with what its attempts have shown about the endpoint. `chance` spreads repetitions.
    pub(crate) fn new(
        cursor: DeliveryCursor,
        stalled: Vec<StalledResource>,
        health: EndpointHealth,
        now: DateTime<Utc>,
        chance: u8,
    ) -> Self {
        Self { cursor: DeliveryCursor { health, ..cursor }, stalled, attempts: Vec::new(), now, chance }
    }

    /// Takes in what came of the groups of `batch`, and of groups of earlier steps that have ended since.
    pub(crate) fn conclude(&mut self, batch: &DeliveryBatch, reports: Vec<GroupReport>) {
        let mut after = self.cursor.after.max(batch.reached);
        self.stalled.retain(|one| !batch.caught_up.contains(&one.history));
        for (history, version) in &batch.skipped {
            self.find(history).into_iter().for_each(|one| one.next_version = *version);
        }
        for (attempt, request) in &batch.expired {
            self.cursor.requests.retain(|one| Some(one) != request.as_ref());
            self.attempts.push(attempt.clone());
        }
        for report in reports {
            match &report.group.origin {
                GroupOrigin::Request(request) => {
                    // Without an attempt, there was no time for it.
                    self.cursor.requests.retain(|one| one != request || report.attempts.is_empty());
                    self.attempts.extend(report.attempts.into_iter().map(DeliveryAttempt::given_up));
                }
                GroupOrigin::Feed => after = after.min(self.conclude_feed(report)),
                GroupOrigin::Stalled => self.conclude_stalled(report),
            }
        }
        self.cursor.after = after.max(self.cursor.after);
        self.cursor.accepted.retain(|number| *number > self.cursor.after);
        self.cursor.stalled = self.stalled.len() as u32;
    }

    /// Stalls a resource whose events of the feed are still under way, so that others do not wait for it. If the run breaks
    /// off, it goes on at this version.
    pub(crate) fn set_aside(&mut self, history: String, version: u64) {
        self.stalled.push(StalledResource::new(&self.cursor, history, version, self.now));
        self.cursor.stalled = self.stalled.len() as u32;
    }

    /// Returns the number up to which the cursor may pass.
    fn conclude_feed(&mut self, mut report: GroupReport) -> u64 {
        self.cursor.accepted.extend(report.accepted_numbers());
        let next = report.next().map(|event| (event.version_after, event.sequence.unwrap_or_default()));
        let Some((version, number)) = next else {
            self.attempts.append(&mut report.attempts);
            return u64::MAX;
        };
        let failure = report.failure.filter(|failure| match failure.verdict {
            DeliveryVerdict::Rejected(_) => true,
            // Nothing stalls at an endpoint that is down: it is not the event's fault.
            DeliveryVerdict::Unclear(_) => !self.cursor.health.is_down(),
            DeliveryVerdict::Accepted | DeliveryVerdict::Throttled(_) | DeliveryVerdict::Gone => false,
        });
        let Some(failure) = failure else {
            let next_try_at = self.cursor.health.next_try_at;
            self.note_attempts(report.attempts, next_try_at);
            return number.saturating_sub(1);
        };
        let mut stalled = StalledResource::new(&self.cursor, report.group.history, version, self.now);
        let health = &self.cursor.health;
        stalled.note_failure(failure.verdict, failure.started_at, health, self.now, self.chance);
        let next_try_at = Some(stalled.next_try_at);
        self.stalled.push(stalled);
        self.note_attempts(report.attempts, next_try_at);
        u64::MAX
    }

    fn conclude_stalled(&mut self, mut report: GroupReport) {
        let (now, chance) = (self.now, self.chance);
        let health = self.cursor.health.clone();
        let restarts = self.cursor.restarts;
        // Those of a group that was set aside may be after the cursor.
        self.cursor.accepted.extend(report.accepted_numbers());
        let Some(stalled) = self.find(&report.group.history) else {
            // A client has set the position in the meantime.
            self.attempts.append(&mut report.attempts);
            return;
        };
        if stalled.restarts != restarts {
            (stalled.restarts, stalled.next_try_at) = (restarts, now);
        }
        match (report.next(), report.group.events.last()) {
            (Some(next), _) if report.accepted > 0 => stalled.advance_to(next.version_after, now),
            (None, Some(last)) => stalled.advance_to(last.version_after + 1, now),
            _ => {}
        }
        let mut is_given_up = false;
        if let Some(failure) = report.failure {
            is_given_up = stalled.note_failure(failure.verdict, failure.started_at, &health, now, chance);
        }
        let next_try_at = Some(stalled.next_try_at).max(health.next_try_at);
        if report.next().is_none() && report.group.is_complete {
            self.stalled.retain(|one| one.history != report.group.history);
        }
        if is_given_up && let Some(last) = report.attempts.pop() {
            report.attempts.push(last.given_up());
        }
        self.note_attempts(report.attempts, next_try_at);
    }

    fn find(&mut self, history: &str) -> Option<&mut StalledResource> {
        self.stalled.iter_mut().find(|one| one.history == history)
    }

    fn note_attempts(&mut self, mut attempts: Vec<DeliveryAttempt>, next_try_at: Option<DateTime<Utc>>) {
        attempts.last_mut().into_iter().for_each(|attempt| attempt.repeat_at(next_try_at));
        self.attempts.append(&mut attempts);
    }
}
