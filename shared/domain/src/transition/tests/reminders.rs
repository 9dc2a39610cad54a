//! Automatic reminders, compared with a short reference.

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::*;
use crate::mail::suppression::SuppressionReason;
use crate::project::ReminderDay;

const HOUR: i64 = 3600;

#[derive(Debug, Clone)]
enum Event {
    /// This number of minutes passes, and the sweep runs.
    Sweep(i64),
    /// The project's reminder days change.
    Days(Vec<u64>),
    /// The deadline is set to this number of hours ahead.
    Deadline(i64),
    Advance(Actor),
    Remind,
    Mails(bool),
    Bounce,
    Running(bool),
    Erasure(bool),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => prop_oneof![Just(1), 1..90_i64, 60..2000_i64, 1400..1500_i64].prop_map(Event::Sweep),
        2 => btree_set(1..=14_u64, 0..=3).prop_map(|days| Event::Days(days.into_iter().collect())),
        3 => (1..400_i64).prop_map(Event::Deadline),
        4 => prop_oneof![Just(Actor::Manager), Just(Actor::Candidate)].prop_map(Event::Advance),
        1 => Just(Event::Remind),
        1 => any::<bool>().prop_map(Event::Mails),
        1 => prop_oneof![5 => Just(Event::Sweep(0)), 1 => Just(Event::Bounce)],
        1 => any::<bool>().prop_map(Event::Running),
        1 => prop_oneof![3 => Just(Event::Erasure(false)), 1 => Just(Event::Erasure(true))],
    ]
}

fn days(days: &[u64]) -> ReminderDays {
    ReminderDays::new(days.iter().map(|day| ReminderDay::new(*day).unwrap()).collect()).unwrap()
}

/// The times of a candidate's life, in seconds.
#[derive(Default)]
struct Story {
    /// When reminders were set, for which deadline, with which days.
    set: Vec<(i64, i64, Vec<u64>)>,
    /// When mails were sent; for reminders, their planned times.
    mails: Vec<i64>,
    reminded: Vec<i64>,
}

impl Story {
    /// The planned times of the reminders that a sweep at `now`, after one at `before`, must send, if mails reach the candidate.
    fn to_remind(&self, before: i64, now: i64) -> Vec<i64> {
        let Some((set, deadline, days)) = self.set.last() else { return Vec::new() };
        let moments = days.iter().map(|day| deadline - *day as i64 * 24 * HOUR);
        let due = moments.filter(|at| at > set && *at > before && *at <= now && now - at < 24 * HOUR);
        due.filter(|at| self.mails.iter().all(|mail| *mail <= at - 24 * HOUR) && now < *deadline).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]
    #[test]
    fn whatever_happens_the_moments_reminded_of_are_those_of_the_reference(events in vec(event(), 1..60)) {
        let start: DateTime<Utc> = "2026-11-08T10:00:00Z".parse().unwrap();
        let mut one = samples::candidate();
        one.profile.email = Some(Email::parse("ada@mail.example").unwrap());
        let (mut clock, mut swept) = (0, 0);
        let (mut is_running, mut of_project) = (true, vec![1, 2, 3]);
        let mut story = Story::default();
        for event in events {
            let now = start + TimeDelta::seconds(clock);
            let reminder_days = days(&of_project);
            let terms = AdvanceTerms {
                is_running,
                default_days: Some(5),
                allow_hash_login: true,
                reminder_days: reminder_days.clone(),
                required_texts: Vec::new(),
                interview: None,
            };
            let before = one.clone();
            let mut mail = None;
            let take = |change: CandidateChange| { mail = change.mail; change.candidate };
            match event {
                Event::Days(days) => of_project = days,
                Event::Running(running) => is_running = running,
                Event::Mails(on) => one.profile.receive_mails = on,
                Event::Erasure(wants) => one.erasure_request = wants.then(|| ErasureRequest::new(30, now)),
                Event::Bounce => {
                    let bounced = one.clone().after_delivery_report("ada@mail.example", SuppressionReason::Bounced);
                    one = bounced.unwrap_or(one);
                }
                Event::Deadline(hours) => {
                    one.profile.deadline = Some(now + TimeDelta::hours(hours));
                    // Refused after too many mails.
                    one = one.after_change(&before, &reminder_days, now, Some(fresh_key())).map_or(before.clone(), take);
                }
                Event::Advance(by) => one = one.advance(by, &terms, now, fresh_key()).map_or(before.clone(), take),
                Event::Remind => one = one.remind(now).map_or(before.clone(), take),
                Event::Sweep(minutes) => {
                    clock += minutes * 60;
                    let now = start + TimeDelta::seconds(clock);
                    let is_waiting = matches!(one.status, Invited | Confirmed);
                    let is_reached = one.interview_mail_address().is_some();
                    let expected = story.to_remind(swept, clock);
                    let expected = expected.into_iter().filter(|_| is_waiting && is_reached && is_running);
                    let expected: Vec<i64> = expected.collect();
                    // The function expires a candidate whose time is over before it reminds anyone.
                    if let Some(expired) = one.clone().expire(now) {
                        one = expired;
                    }
                    let mut reminded = Vec::new();
                    while let Some(change) = one.clone().after_due_reminder(is_running, now) {
                        reminded.extend(change.mail.and(change.candidate.mailed_at).map(|at| (at - start).num_seconds()));
                        one = change.candidate;
                    }
                    prop_assert_eq!(&reminded, &expected);
                    prop_assert!(one.next_reminder_at().is_none_or(|next| next > now));
                    story.mails.extend(&reminded);
                    story.reminded.extend(reminded);
                    swept = clock;
                }
            }
            if mail.is_some() {
                story.mails.push(clock);
            }
            let is_waiting = |one: &Candidate| matches!(one.status, Invited | Confirmed);
            let is_new_deadline = one.profile.deadline != before.profile.deadline;
            if is_waiting(&one) && (is_new_deadline || !is_waiting(&before)) {
                let deadline = one.profile.deadline.map(|deadline| (deadline - start).num_seconds());
                story.set.push((clock, deadline.unwrap_or_default(), of_project.clone()));
            }
        }
        // No two reminders have the same planned time.
        let moments = story.reminded.len();
        story.reminded.dedup();
        prop_assert_eq!(story.reminded.len(), moments);
    }
}

#[test]
fn reminders_a_day_apart_all_go_however_late_the_sweeps_are() {
    let start: DateTime<Utc> = "2026-11-08T10:00:00Z".parse().unwrap();
    for late in [0, 1, 23 * 60, 24 * 60 - 1] {
        let mut one =
            Situation::all().find(|one| one.status == Invited && one.takes_mails()).unwrap().candidate();
        one.profile.deadline = Some(start + TimeDelta::days(5));
        one.arm_reminders(&days(&[1, 2, 3]), start);
        let mut reminded = 0;
        for day in [2, 3, 4] {
            let now = start + TimeDelta::days(day) + TimeDelta::minutes(late);
            assert_eq!(one.next_reminder_at(), Some(start + TimeDelta::days(day)));
            let change = one.after_due_reminder(true, now).unwrap();
            reminded += usize::from(change.mail.is_some());
            assert_eq!(change.candidate.reminded_at, Some(now));
            one = change.candidate;
        }
        assert_eq!((reminded, one.next_reminder_at()), (3, None), "{late} minutes late");
    }
}
