use super::*;
use crate::clock::Entropy;
use crate::domain::history::Resource;
use crate::domain::id::Id;
use crate::domain::rate::Unsent;
use crate::domain::samples;

struct Sevens;

impl Entropy for Sevens {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

fn second(number: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(number, 0).unwrap()
}

pub(in crate::domain) fn webhook() -> Webhook {
    let url = WebhookUrl::parse("https://hooks.example/in", Targets::Public).unwrap();
    let secret = SigningSecret::generate(&Sevens);
    Webhook::new(Id::from_bytes([9; 16]), samples::company().id, url, secret, second(0))
}

fn position() -> Position {
    Position::new(webhook().id, webhook().company, 5, second(0))
}

/// The sample as the sender leaves it.
fn asleep() -> Position {
    Position { run_at: None, wakes: false, ..position() }
}

#[test]
fn a_webhook_gets_the_events_of_its_types_and_projects() {
    let ping = Entry::ping(webhook().company, webhook().id, second(0));
    let of_project = |resource| {
        let mut entry = ping.clone();
        entry.change.resource = resource;
        entry.change.types = vec!["candidate.created".to_owned(), "candidate.invited".to_owned()];
        entry
    };
    let project = Id::from_bytes([3; 16]);
    let invited = of_project(Resource::Candidate { project, candidate: Id::from_bytes([4; 16]) });
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
    let (day, now) = (TimeDelta::days(1), second(100));
    let new = SigningSecret::try_from(webhook().secret.reveal().replace('B', "C")).unwrap();
    let rotated = webhook().rotated(new.clone(), day, now);
    let at = |now| rotated.secrets(now).collect::<Vec<_>>();
    assert_eq!(at(now), [&new, &webhook().secret]);
    assert_eq!(at(now + day), [&new]);
    let at_once = webhook().rotated(new.clone(), TimeDelta::zero(), now);
    assert_eq!(at_once.former_secret, None);
}

#[test]
fn the_first_reason_to_disable_it_stays() {
    let gone = webhook().disabled(DisabledReason::Gone);
    assert!(!gone.is_enabled());
    assert_eq!(gone.clone().disabled(DisabledReason::Request), gone);
    assert!(gone.enabled().is_enabled());
}

#[test]
fn to_set_the_position_forgets_failures_and_voids_lanes() {
    let failing = Position {
        failures: 7,
        failing_since: Some(second(1)),
        next_try_at: Some(second(9)),
        warned_at: Some(second(2)),
        lanes: 3,
        leased_until: Some(second(8)),
        ..asleep()
    };
    let set = failing.set(2, second(3));
    let expected = Position {
        after: 2,
        epoch: 1,
        restarts: 1,
        wakes: true,
        run_at: Some(second(3)),
        leased_until: Some(second(8)),
        ..asleep()
    };
    assert_eq!(set, expected);
    assert_eq!((set.behind(10), set.behind(1)), (8, 0));
}

#[test]
fn pings_and_repetitions_wait_up_to_ten_and_one_ping_in_ten_seconds() {
    let pinged = asleep().pinged(second(10)).unwrap();
    assert_eq!((pinged.run_at, pinged.wakes), (Some(second(10)), true));
    assert_eq!(pinged.clone().pinged(second(19)), Err(Unsent::TooMany(TimeDelta::seconds(1))));
    let event = |number: u8| Order::Event { event: format!("evt_a_{number}_1") };
    let full = (2..=9).try_fold(pinged.pinged(second(20)).unwrap(), |position, number| {
        position.ordered(event(number), second(20))
    });
    let full = full.unwrap();
    assert_eq!(full.orders.len(), MAX_ORDERS);
    assert_eq!(full.clone().ordered(event(2), second(21)).unwrap().orders, full.orders);
    assert_eq!(full.clone().ordered(event(1), second(21)), Err(TOO_MANY_ORDERS));
    assert_eq!(full.pinged(second(40)), Err(Unsent::Refused(TOO_MANY_ORDERS)));
}
