use super::*;
use crate::history::ResourceRef;
use crate::id::Id;
use crate::mail::rate::RefusedOrThrottled;
use crate::outgoing::AllowedTargets;
use crate::samples;
use crate::work::WorkState;

pub(super) fn second(number: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(number, 0).unwrap()
}

pub(crate) fn webhook() -> Webhook {
    let url = OutgoingUrl::parse("https://hooks.example/in", AllowedTargets::Public).unwrap();
    let secret = Sealed::new("sealed".to_owned());
    Webhook::new(Id::from_bytes([9; 16]), samples::company().id, url, secret, None, second(0))
}

pub(super) fn cursor() -> DeliveryCursor {
    DeliveryCursor::new(webhook().id, webhook().company, 5, second(0))
}

/// The sample cursor after the sender has released it.
fn at_rest() -> DeliveryCursor {
    DeliveryCursor { work: WorkState::IDLE, wakes_sender: false, ..cursor() }
}

#[test]
fn a_webhook_gets_the_events_of_its_types_and_projects() {
    let ping = HistoryEntry::ping(webhook().company, webhook().id, second(0));
    let of_project = |resource| {
        let mut entry = ping.clone();
        entry.change.resource = resource;
        entry.change.types = vec!["candidate.created".to_owned(), "candidate.invited".to_owned()];
        entry
    };
    let project = Id::from_bytes([3; 16]);
    let invited = of_project(ResourceRef::Candidate { project, candidate: Id::from_bytes([4; 16]) });
    let with = |types: &[&str], projects: &[ProjectId]| Webhook {
        types: types.iter().map(|name| TypeFilter::parse(name).unwrap()).collect(),
        projects: projects.iter().copied().collect(),
        ..webhook()
    };
    assert!(with(&[], &[]).wants(&invited) && with(&[], &[]).wants(&ping));
    assert!(with(&["candidate.invited"], &[]).wants(&invited));
    assert!(with(&["label.*", "candidate.*"], &[project]).wants(&invited));
    assert!(!with(&["candidate.expired"], &[]).wants(&invited));
    assert!(!with(&[], &[Id::from_bytes([5; 16])]).wants(&invited));
    assert!(!with(&[], &[project]).wants(&ping), "it belongs to no project");
}

#[test]
fn a_former_secret_signs_for_as_long_as_its_grace() {
    let day = TimeDelta::days(1);
    let now = second(100);
    let new = Sealed::new("another".to_owned());
    let rotated = webhook().rotated(new.clone(), day, now);
    let at = |now| rotated.secrets(now).collect::<Vec<_>>();
    assert_eq!(at(now), [&new, &webhook().secret.unwrap()]);
    assert_eq!(at(now + day), [&new]);
    let at_once = webhook().rotated(new.clone(), TimeDelta::zero(), now);
    assert_eq!(at_once.former_secret, None);
}

#[test]
fn the_first_reason_to_disable_it_stays() {
    let gone = webhook().disabled(DisabledReason::Gone);
    assert!(!gone.is_enabled());
    assert_eq!(gone.clone().disabled(DisabledReason::Request), gone);
    assert!(gone.enabled().unwrap().is_enabled());
}

#[test]
fn a_webhook_without_a_secret_is_disabled_until_it_has_one() {
    let without = Webhook { secret: None, ..webhook() };
    assert_eq!(without.why_disabled(), Some(DisabledReason::NoSecret));
    assert_eq!(without.clone().enabled(), Err(NO_SECRET));
    let secret = webhook().secret.unwrap();
    let with = without.clone().rotated(secret, TimeDelta::days(1), second(0));
    assert!(with.is_enabled() && with.former_secret.is_none());
    // A webhook that a client had disabled keeps that reason.
    let disabled = without.disabled(DisabledReason::Request);
    assert_eq!(disabled.why_disabled(), Some(DisabledReason::Request));
}

#[test]
fn a_former_secret_is_dropped_once_its_use_has_ended() {
    let rotated = webhook().rotated(webhook().secret.unwrap(), TimeDelta::days(1), second(0));
    assert!(rotated.clone().without_ended_secret(second(86_399)).former_secret.is_some());
    assert_eq!(rotated.without_ended_secret(second(86_400)).former_secret, None);
}

/// The sample cursor after failures, with a stalled resource, while a turn holds the lease.
fn in_trouble() -> DeliveryCursor {
    let suspects = ["a", "b"].map(str::to_owned).into();
    let health = EndpointHealth {
        last_accepted_at: Some(second(1)),
        failing_since: Some(second(2)),
        suspects,
        failures: 7,
        paused_until: Some(second(9)),
        warned_at: Some(second(3)),
        ..EndpointHealth::default()
    };
    let accepted = [7].into();
    DeliveryCursor { health, stalled_count: 3, accepted, work: WorkState::leased(second(8)), ..at_rest() }
}

#[test]
fn to_set_the_position_forgets_failures_and_voids_stalled_resources() {
    let moved = in_trouble().move_to(2, second(4)).unwrap();
    let health = EndpointHealth { last_accepted_at: Some(second(1)), ..EndpointHealth::default() };
    let expected = DeliveryCursor {
        after: 2,
        position_epoch: 1,
        moved_at: Some(second(4)),
        retry_epoch: 1,
        wakes_sender: true,
        work: WorkState { due_at: Some(second(4)), leased_until: Some(second(8)) },
        health,
        has_void_resources: true,
        ..at_rest()
    };
    assert_eq!(moved, expected);
    assert_eq!((moved.behind(10), moved.behind(1)), (8, 0));
    assert_eq!(moved.clone().move_to(0, second(63)), Err(RefusedOrThrottled::TooMany(TimeDelta::seconds(1))));
    assert!(moved.move_to(0, second(64)).is_ok());
    assert!(!at_rest().move_to(2, second(4)).unwrap().has_void_resources);
}

#[test]
fn pings_and_repeated_events_wait_up_to_ten_and_one_ping_in_ten_seconds() {
    let pinged = at_rest().add_ping(second(10)).unwrap();
    assert_eq!((pinged.work, pinged.wakes_sender), (WorkState::due(second(10)), true));
    assert_eq!(pinged.clone().add_ping(second(19)), Err(RefusedOrThrottled::TooMany(TimeDelta::seconds(1))));
    let event = |number: u8| DeliveryRequest::Event { event: format!("evt_a_{number}_1") };
    let full = (2..=9).try_fold(pinged.add_ping(second(20)).unwrap(), |cursor, number| {
        cursor.add_request(event(number), second(20))
    });
    let full = full.unwrap();
    assert_eq!(full.requests.len(), MAX_QUEUED);
    assert_eq!(full.clone().add_request(event(2), second(21)).unwrap().requests, full.requests);
    assert_eq!(full.clone().add_request(event(1), second(21)), Err(QUEUE_FULL));
    assert_eq!(full.add_ping(second(40)), Err(RefusedOrThrottled::Refused(QUEUE_FULL)));
}

#[test]
fn a_run_has_the_endpoint_until_its_lease_ends() {
    let leased = cursor().lease(second(30));
    assert_eq!((leased.work, leased.wakes_sender), (WorkState::leased(second(30)), false));
    assert_eq!(leased.release(Some(second(3)), second(20)).work, WorkState::due(second(20)));
    let overdue = cursor().release(Some(second(9)), second(20));
    assert_eq!(overdue.work, WorkState::due(second(9)), "due since then");
    assert_eq!(cursor().release(None, second(20)).work, WorkState::IDLE);
    assert_eq!(at_rest().wake_by(second(7)).work, WorkState::due(second(7)));
    assert_eq!(cursor().wake_by(second(7)).work, WorkState::due(second(0)));
}

#[test]
fn a_step_keeps_what_the_api_has_asked_for_meanwhile() {
    let event = DeliveryRequest::Event { event: "e".to_owned() };
    let before = cursor().add_ping(second(0)).unwrap().lease(second(30));
    let after = DeliveryCursor { after: 9, requests: Vec::new(), ..before.clone() };
    let meanwhile = before.clone().add_request(event.clone(), second(1)).unwrap();
    let both = after.clone().merge_api_changes(&before, meanwhile);
    assert_eq!((both.after, both.requests), (9, vec![event]));
    let moved = after.merge_api_changes(&before, before.clone().move_to(2, second(1)).unwrap());
    assert_eq!((moved.after, moved.position_epoch, moved.requests), (2, 1, Vec::new()));
}

#[test]
fn a_step_overwrites_nothing_that_the_api_has_reset_meanwhile() {
    let before = DeliveryCursor { stalled_count: 0, ..in_trouble() };
    let after = DeliveryCursor { after: 9, stalled_count: 1, ..before.clone() };
    assert_eq!(after.clone().merge_api_changes(&before, before.clone()), after);
    for reset in [before.clone().resume(second(6)), before.clone().move_to(5, second(6)).unwrap()] {
        let kept = after.clone().merge_api_changes(&before, reset.clone());
        assert_eq!((&kept.health, kept.retry_epoch, kept.work.due_at), (&reset.health, 1, Some(second(6))));
        let is_moved = reset.position_epoch == 1;
        assert_eq!((kept.after, kept.stalled_count), if is_moved { (5, 0) } else { (9, 1) });
    }
}
