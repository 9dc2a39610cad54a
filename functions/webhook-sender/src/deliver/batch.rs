//! The groups that one step sends, at once where the endpoint bears it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use shared::Result;
use shared::domain::webhook::{DeliveryAttempt, DeliveryRequest, DeliveryVerdict, Webhook};

use super::group::{EventGroup, EventTransport, GroupOrigin, GroupReport, SharedHealth, send_group};
use super::load::PAGE;

/// How long a step waits for requests when nothing else is to be sent: then they hang. The next steps do not wait for those that hang.
const HANG_TIME: Duration = Duration::from_secs(2);
/// How long a run that has nothing else to do waits for these before it looks for new events.
const LOOK_PAUSE: Duration = Duration::from_millis(300);

/// What a step sends.
#[derive(Debug, Default)]
pub(crate) struct DeliveryBatch {
    pub(crate) groups: Vec<EventGroup>,
    /// The number up to which the feed has no other events that are wanted; 0 if the step does not read the feed.
    pub(crate) reached: u64,
    /// Stalled resources with nothing left to send.
    pub(crate) caught_up: Vec<String>,
    /// Stalled resources that have nothing to send before this version.
    pub(crate) skipped: Vec<(String, u64)>,
    /// Notes of events that have expired, and the requests of clients for them.
    pub(crate) expired: Vec<(DeliveryAttempt, Option<DeliveryRequest>)>,
}

/// A resource whose events are under way.
struct ResourceUnderWay {
    /// The version of the first of these events.
    version: u64,
    /// Whether the table knows that the resource waits.
    is_stalled: bool,
    /// The batch with which it was started.
    batch: u32,
}

/// The requests that are under way at an endpoint, over several steps of a run.
pub(crate) struct UnderWay<'a, T> {
    transport: &'a T,
    pub(crate) health: SharedHealth,
    requests: FuturesUnordered<BoxFuture<'a, Result<GroupReport>>>,
    /// The resources of these.
    resources: BTreeMap<String, ResourceUnderWay>,
    /// The number of batches so far.
    batches: u32,
    /// How many events the endpoint has accepted.
    accepted: usize,
    /// Whether a batch had to leave requests that hang.
    has_hung: bool,
    is_gone: bool,
}

impl<'a, T: EventTransport> UnderWay<'a, T> {
    pub(crate) fn new(transport: &'a T) -> Self {
        let (health, requests) = (SharedHealth::default(), FuturesUnordered::new());
        Self {
            transport,
            health,
            requests,
            resources: BTreeMap::new(),
            batches: 0,
            accepted: 0,
            has_hung: false,
            is_gone: false,
        }
    }

    /// Whether an event of the resource is under way.
    pub(crate) fn has(&self, history: &str) -> bool {
        self.resources.contains_key(history)
    }

    /// The resources whose events are under way.
    pub(crate) fn resources(&self) -> BTreeSet<String> {
        self.resources.keys().cloned().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Whether the endpoint has said that it accepts nothing any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Whether the run was short for what the endpoint takes. A run at an endpoint that is slow is not: others wait behind it.
    pub(crate) fn is_worth_another_run(&self) -> bool {
        self.accepted >= PAGE || self.accepted > 0 && !self.has_hung
    }

    /// Sends groups, and returns what came of them and of earlier groups. Groups that hang stay under way.
    pub(crate) async fn send(
        &mut self,
        webhook: &Webhook,
        groups: Vec<EventGroup>,
    ) -> Result<Vec<GroupReport>> {
        // What clients ask for is queued until it was tried, so it would be sent again if a batch left it under way.
        let is_of_requests = groups.iter().any(EventGroup::is_request);
        let (mut waiting, mut reports) = (VecDeque::from(groups), Vec::new());
        self.batches += 1;
        loop {
            self.start(webhook, &mut waiting);
            let is_full = !waiting.is_empty() && !self.is_stopped();
            if !is_full && !self.resources.values().any(|resource| resource.batch == self.batches) {
                break;
            }
            // Not while more may be started once a request ends, nor at an endpoint that may be down.
            let is_working = self.health.lock().failing_since.is_none();
            let may_leave = is_working && !is_full && !is_of_requests;
            match self.next_report(may_leave.then_some(HANG_TIME)).await? {
                Some(report) => reports.push(report),
                None => {
                    self.has_hung = true;
                    break;
                }
            }
        }
        reports.extend(waiting.into_iter().map(GroupReport::unsent));
        Ok(reports)
    }

    /// The resources whose events of the feed hang, with the version of the first: they count as stalled from now on.
    pub(crate) fn set_aside(&mut self) -> Vec<(String, u64)> {
        let hanging = self.resources.iter_mut().filter(|(_, resource)| !resource.is_stalled);
        let set_aside = hanging.map(|(history, resource)| {
            resource.is_stalled = true;
            (history.clone(), resource.version)
        });
        set_aside.collect()
    }

    /// Waits for one of the groups that are under way; `None` if all take too long.
    pub(crate) async fn wait_for_one(&mut self) -> Result<Option<GroupReport>> {
        self.next_report(Some(LOOK_PAUSE)).await
    }

    /// Waits for everything that is under way, and returns the attempts. What they show does not count any more.
    pub(crate) async fn drain(&mut self) -> Result<Vec<DeliveryAttempt>> {
        let mut attempts = Vec::new();
        while let Some(report) = self.next_report(None).await? {
            attempts.extend(report.attempts);
        }
        self.is_gone = false;
        Ok(attempts)
    }

    fn start(&mut self, webhook: &Webhook, waiting: &mut VecDeque<EventGroup>) {
        while let Some(group) = waiting.front() {
            let is_request = group.is_request();
            let at_once = self.health.lock().resources_at_once as usize;
            if !is_request && (self.requests.len() >= at_once || self.is_stopped()) {
                return;
            }
            let Some(group) = waiting.pop_front() else { return };
            let version = group.events.first().map_or(0, |event| event.version_after);
            let (is_stalled, batch) = (group.origin != GroupOrigin::Feed, self.batches);
            let resource = ResourceUnderWay { version, is_stalled, batch };
            self.resources.insert(group.history.clone(), resource);
            let (transport, health, webhook) = (self.transport, self.health.clone(), webhook.clone());
            self.requests
                .push(Box::pin(async move { send_group(transport, &webhook, group, &health).await }));
        }
    }

    fn is_stopped(&self) -> bool {
        self.is_gone || self.transport.is_late() || self.health.lock().is_paused(self.transport.now())
    }

    /// The next group that ends; `None` if the time is up first.
    async fn next_report(&mut self, patience: Option<Duration>) -> Result<Option<GroupReport>> {
        let next = self.requests.next();
        let ended = match patience {
            None => next.await,
            Some(time) => match select(next, Box::pin(self.transport.wait(time))).await {
                Either::Left((ended, _)) => ended,
                Either::Right(_) => None,
            },
        };
        let Some(mut report) = ended.transpose()? else { return Ok(None) };
        if let Some(resource) = self.resources.remove(&report.group.history) {
            if report.group.origin == GroupOrigin::Feed && resource.is_stalled {
                report.group.origin = GroupOrigin::Stalled;
            }
            // The cursor may have passed later events of the resource since.
            report.group.is_complete &= resource.batch == self.batches;
        }
        self.accepted += report.accepted;
        self.is_gone |= report.failure.is_some_and(|failure| failure.verdict == DeliveryVerdict::Gone)
            && !report.group.is_request();
        Ok(Some(report))
    }
}
