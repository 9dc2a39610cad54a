use proptest::prelude::*;

use super::*;
use crate::id::Id;
use crate::privacy::hold::{CandidateHold, HoldReason};
use crate::samples;

fn day(days: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(days)
}

/// A candidate created on this day.
fn candidate(created: i64) -> Candidate {
    Candidate { id: Id::first_of(day(created)), ..samples::candidate() }
}

fn rule(days: u32, from: RetentionStart) -> RetentionRule {
    RetentionRule { days: Some(days), from }
}

fn in_force(days: u32) -> ScheduledRule {
    ScheduledRule { rule: rule(days, RetentionStart::LastActivity), starts_at: Some(day(0)) }
}

#[test]
fn a_candidate_is_due_on_the_day_and_not_before() {
    let project = samples::project();
    let one = candidate(100);
    let hold = CandidateHold { reason: HoldReason::parse("A lawsuit").unwrap(), until: Some(day(300)) };
    let judge = |one: &Candidate, at| in_force(180).judge(one, &project, 14, at);
    assert_eq!(judge(&one, day(265)), RetentionVerdict::Keep);
    assert_eq!(judge(&one, day(266)), RetentionVerdict::Soon);
    assert_eq!(judge(&one, day(280) - TimeDelta::milliseconds(1)), RetentionVerdict::Soon);
    assert_eq!(judge(&one, day(280)), RetentionVerdict::Due);
    let held = Candidate { hold: Some(hold), ..one };
    assert_eq!(judge(&held, day(265)), RetentionVerdict::Keep);
    assert_eq!(judge(&held, day(270)), RetentionVerdict::Held);
    assert_eq!(judge(&held, day(299)), RetentionVerdict::Held);
    assert_eq!(judge(&held, day(300)), RetentionVerdict::Due);
}

#[test]
fn everything_that_happens_to_a_candidate_is_activity() {
    use CandidateStatus::{Confirmed, Expired, Interviewing, Invited};
    let one = candidate(100);
    assert_eq!(one.last_activity(), day(100));
    let with = |change: fn(&mut Candidate)| {
        let mut one = candidate(100);
        change(&mut one);
        one.last_activity()
    };
    assert_eq!(with(|one| one.invited_at = Some(day(101))), day(101));
    assert_eq!(with(|one| one.confirmed_at = Some(day(101))), day(101));
    assert_eq!(with(|one| one.started_at = Some(day(101))), day(101));
    assert_eq!(with(|one| one.interviewed_at = Some(day(101))), day(101));
    assert_eq!(with(|one| one.reminded_at = Some(day(101))), day(101));
    assert_eq!(with(|one| one.aborted_at = Some(day(101))), day(101));
    assert_eq!(with(|one| one.skipped_at = Some(day(101))), day(101));
    assert_eq!(with(|one| one.expired_at = Some(day(101))), day(101));
    for status in CandidateStatus::ALL {
        let mut one = Candidate { status, ..candidate(100) };
        one.profile.deadline = Some(day(120));
        // A candidate whom an earlier release has expired: only the deadline says when.
        let counts = matches!(status, Invited | Confirmed | Interviewing | Expired);
        assert_eq!(one.last_activity(), if counts { day(120) } else { day(100) }, "{status:?}");
        one.expired_at = Some(day(110));
        let counts = matches!(status, Invited | Confirmed | Interviewing);
        assert_eq!(one.last_activity(), if counts { day(120) } else { day(110) }, "{status:?}");
    }
}

#[test]
fn candidates_of_open_projects_wait_for_the_close() {
    let rule = rule(30, RetentionStart::ProjectClosed);
    let mut project = samples::project();
    let one = candidate(100);
    assert_eq!(rule.due_at(&one, &project), None);
    project = project.move_to(ProjectStatus::Closed, day(200)).unwrap().0;
    assert_eq!(rule.due_at(&one, &project), Some(day(230)));
    assert_eq!(
        rule.due_at(&Candidate { skipped_at: Some(day(210)), ..one.clone() }, &project),
        Some(day(240))
    );
    project = project.move_to(ProjectStatus::Running, day(201)).unwrap().0;
    assert_eq!(rule.due_at(&one, &project), None, "it was opened again");
    project = project.move_to(ProjectStatus::Closed, day(220)).unwrap().0;
    assert_eq!(rule.due_at(&one, &project), Some(day(250)));
}

#[test]
fn first_and_stricter_rules_wait_and_milder_ones_do_not() {
    let now = day(1000);
    let grace = Some(now + GRACE);
    let activity = RetentionStart::LastActivity;
    let closed = RetentionStart::ProjectClosed;
    let first = ScheduledRule::KEEP.replaced_by(rule(180, activity), now);
    assert_eq!((first.starts_at, first.is_in_force(now)), (grace, false));
    assert!(first.is_in_force(now + GRACE));
    // While a rule waits for its start, a milder rule gets the same start.
    assert_eq!(first.replaced_by(rule(200, activity), day(1003)).starts_at, grace);
    assert_eq!(first.replaced_by(rule(170, activity), day(1003)).starts_at, Some(day(1010)));
    let running = in_force(180);
    assert_eq!(running.replaced_by(rule(180, activity), now), running);
    assert_eq!(running.replaced_by(rule(181, activity), now).starts_at, running.starts_at);
    assert_eq!(running.replaced_by(rule(180, closed), now).starts_at, running.starts_at);
    assert_eq!(running.replaced_by(rule(179, activity), now).starts_at, grace);
    assert_eq!(running.replaced_by(rule(179, closed), now).starts_at, grace);
    let by_close = running.replaced_by(rule(180, closed), now);
    assert_eq!(by_close.replaced_by(rule(400, activity), now).starts_at, grace);
    assert_eq!(running.replaced_by(RetentionRule::KEEP, now), ScheduledRule::KEEP);
}

#[test]
fn a_project_has_its_own_rule_or_comes_under_the_companys_after_the_grace() {
    let now = day(1000);
    let policy = RetentionPolicy { scheduled: in_force(180), ..RetentionPolicy::keep(samples::company().id) };
    let mut project = samples::project();
    assert_eq!(policy.applied_to(&project), policy.scheduled);
    let own = rule(400, RetentionStart::LastActivity);
    project = project.with_retention(&policy, Some(own), now);
    assert_eq!(policy.applied_to(&project), ScheduledRule { rule: own, ..policy.scheduled });
    project = project.with_retention(&policy, None, now);
    assert_eq!(
        policy.applied_to(&project),
        ScheduledRule { starts_at: Some(now + GRACE), ..policy.scheduled },
        "the company's is stricter"
    );
    project = project.with_retention(&policy, Some(RetentionRule::KEEP), now);
    assert_eq!(policy.applied_to(&project), ScheduledRule::KEEP);
}

prop_compose! {
    fn any_rule()(days in prop::option::of(7_u32..=40), closed in any::<bool>()) -> RetentionRule {
        let from = if closed { RetentionStart::ProjectClosed } else { RetentionStart::LastActivity };
        RetentionRule { days, from }
    }
}

proptest! {
    /// However often the rule changes, no candidate is erased whom a rule of the last week would have kept.
    #[test]
    fn no_change_erases_by_surprise(
        rules in prop::collection::vec((any_rule(), 0_i64..5), 1..40),
        created in 0_i64..60,
        closed in prop::option::of(0_i64..60),
    ) {
        let one = candidate(created);
        let mut project = samples::project();
        if let Some(closed) = closed {
            project = project.move_to(ProjectStatus::Closed, day(closed)).unwrap().0;
        }
        let mut scheduled = ScheduledRule::KEEP;
        let mut now = day(0);
        let mut past = vec![(day(0), RetentionRule::KEEP)];
        for (rule, days) in rules {
            scheduled = scheduled.replaced_by(rule, now);
            past.push((now, rule));
            for _ in 0..days {
                now += TimeDelta::days(1);
                if scheduled.judge(&one, &project, 0, now) == RetentionVerdict::Due {
                    // Each rule of the last seven days, and the one in force before them, makes the candidate due.
                    let last = past.iter().rposition(|(since, _)| *since <= now - GRACE).unwrap();
                    for (_, rule) in &past[last..] {
                        prop_assert!(rule.due_at(&one, &project).is_some_and(|due| due <= now));
                    }
                }
            }
        }
    }
}
