//! Decides what the sender does next for an endpoint.

use chrono::{DateTime, Utc};

use super::Webhook;
use super::cursor::DeliveryCursor;
use super::stalled::StalledResource;

/// The number of stalled resources at which an endpoint gets no more of the feed, until some of them are no longer stalled.
// More than an import creates, so that an endpoint that rejects one type of event still gets the others.
pub const MAX_STALLED: usize = 2_000;

/// A task of the sender for an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryTask {
    /// Send what clients have requested.
    Requests,
    /// Send one event, to find out whether the endpoint accepts events again.
    ProbeEndpoint,
    /// Send one event of another resource than the suspect, to find out whether the endpoint or that resource is at fault.
    ProbeResource,
    /// Send the next events of the feed.
    Feed,
    /// Send the next events of stalled resources.
    Stalled,
    /// Delete data that is no longer used: a former secret, and void stalled resources.
    CleanUp,
}

/// The next task for an endpoint, and when it is due; `None` if nothing is left to do. `latest` is the number of the feed's last
/// event, `previous_task` the task that the turn has just carried out.
pub fn next_task(
    webhook: &Webhook,
    cursor: &DeliveryCursor,
    stalled: &[StalledResource],
    latest: u64,
    now: DateTime<Utc>,
    previous_task: Option<DeliveryTask>,
) -> Option<(DateTime<Utc>, DeliveryTask)> {
    if !cursor.requests.is_empty() {
        return Some((DateTime::UNIX_EPOCH, DeliveryTask::Requests));
    }
    if cursor.has_void_resources {
        return Some((DateTime::UNIX_EPOCH, DeliveryTask::CleanUp));
    }
    let secret = webhook.former_secret.as_ref().map(|former| (former.until, DeliveryTask::CleanUp));
    let deliveries =
        if webhook.is_enabled() { next_delivery(cursor, stalled, latest, now, previous_task) } else { None };
    [secret, deliveries].into_iter().flatten().min_by_key(|(at, _)| *at)
}

fn next_delivery(
    cursor: &DeliveryCursor,
    stalled: &[StalledResource],
    latest: u64,
    now: DateTime<Utc>,
    previous_task: Option<DeliveryTask>,
) -> Option<(DateTime<Utc>, DeliveryTask)> {
    let health = &cursor.health;
    let from = health.paused_until.unwrap_or(DateTime::UNIX_EPOCH);
    let is_behind = cursor.after < latest;
    if health.is_down() {
        return (is_behind || !stalled.is_empty()).then_some((from, DeliveryTask::ProbeEndpoint));
    }
    // While one resource is suspected, an event of another one shows whether the endpoint is down.
    let of_feed = if health.suspects.is_empty() { DeliveryTask::Feed } else { DeliveryTask::ProbeResource };
    let feed = (is_behind && stalled.len() < MAX_STALLED).then_some((from, of_feed));
    let due = stalled.iter().map(|resource| resource.due_at(cursor).max(from)).min();
    match (feed, due.map(|at| (at, DeliveryTask::Stalled))) {
        // Feed and stalled resources take turns, because neither may ever end.
        (Some(_), Some(stalled))
            if stalled.0 <= now
                && matches!(previous_task, Some(DeliveryTask::Feed | DeliveryTask::ProbeResource)) =>
        {
            Some(stalled)
        }
        (feed, stalled) => feed.or(stalled),
    }
}

#[cfg(test)]
mod tests {
    use super::DeliveryTask::{CleanUp, Feed, ProbeEndpoint, ProbeResource, Requests, Stalled};
    use super::*;
    use crate::webhook::tests::{cursor, second, webhook};
    use crate::webhook::{DeliveryRequest, DisabledReason, EndpointHealth};

    const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn stalled_until(at: i64) -> StalledResource {
        StalledResource::new(&cursor(), "h".to_owned(), 3, second(at))
    }

    fn with_health(health: EndpointHealth) -> DeliveryCursor {
        DeliveryCursor { health, ..cursor() }
    }

    fn suspects(names: &[&str]) -> EndpointHealth {
        let suspects = names.iter().map(|name| (*name).to_owned()).collect();
        EndpointHealth { suspects, ..EndpointHealth::default() }
    }

    #[test]
    fn requests_come_first_then_what_is_due() {
        // The sample cursor is after event 5.
        let request = DeliveryRequest::Event { event: "e".to_owned() };
        let asked = cursor().add_request(request, START).unwrap();
        let paused =
            with_health(EndpointHealth { paused_until: Some(second(50)), ..EndpointHealth::default() });
        let down = with_health(EndpointHealth { paused_until: Some(second(50)), ..suspects(&["a", "b"]) });
        let one = with_health(suspects(&["a"]));
        let due = &[stalled_until(3)][..];
        let later = &[stalled_until(40)][..];
        let both = &[stalled_until(40), stalled_until(3)][..];
        for (number, (cursor, stalled, latest, previous_task, expected)) in [
            (&cursor(), &[][..], 5, None, None),
            (&cursor(), &[], 6, None, Some((START, Feed))),
            (&asked, due, 6, None, Some((START, Requests))),
            (&cursor(), due, 5, None, Some((second(3), Stalled))),
            (&cursor(), later, 5, None, Some((second(40), Stalled))),
            (&cursor(), later, 6, Some(Feed), Some((START, Feed))),
            (&cursor(), both, 6, None, Some((START, Feed))),
            (&cursor(), both, 6, Some(Feed), Some((second(3), Stalled))),
            (&cursor(), due, 6, Some(Stalled), Some((START, Feed))),
            (&paused, due, 6, None, Some((second(50), Feed))),
            (&paused, due, 5, None, Some((second(50), Stalled))),
            (&down, due, 5, None, Some((second(50), ProbeEndpoint))),
            (&down, &[], 6, None, Some((second(50), ProbeEndpoint))),
            (&down, &[], 5, None, None),
            (&one, later, 6, None, Some((START, ProbeResource))),
            (&one, due, 5, None, Some((second(3), Stalled))),
        ]
        .into_iter()
        .enumerate()
        {
            let next = next_task(&webhook(), cursor, stalled, latest, second(10), previous_task);
            assert_eq!(next, expected, "case {number}");
        }
    }

    #[test]
    fn with_two_thousand_stalled_resources_the_feed_waits() {
        let stalled = vec![stalled_until(40); MAX_STALLED];
        let next = |stalled: &[_]| next_task(&webhook(), &cursor(), stalled, 6, second(10), None);
        assert_eq!(next(&stalled), Some((second(40), Stalled)));
        assert_eq!(next(&stalled[1..]), Some((START, Feed)));
    }

    #[test]
    fn a_disabled_webhook_gets_only_what_clients_ask_for() {
        let disabled = webhook().disabled(DisabledReason::Request);
        assert_eq!(next_task(&disabled, &cursor(), &[stalled_until(3)], 6, second(10), None), None);
        let asked = cursor().add_ping(second(9)).unwrap();
        assert_eq!(next_task(&disabled, &asked, &[], 6, second(10), None), Some((START, Requests)));
    }

    #[test]
    fn what_is_not_used_any_more_is_deleted() {
        let rotated = webhook().rotated(webhook().secret.unwrap(), chrono::TimeDelta::seconds(30), second(0));
        let next = |latest| next_task(&rotated, &cursor(), &[], latest, second(10), None);
        assert_eq!(next(5), Some((second(30), CleanUp)));
        assert_eq!(next(6), Some((START, Feed)));
        let void = DeliveryCursor { has_void_resources: true, ..cursor() };
        let next = next_task(&webhook(), &void, &[], 5, second(10), None);
        assert_eq!(next, Some((START, CleanUp)));
    }
}
