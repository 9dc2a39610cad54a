//! Every report in every situation, and in every order.

use chrono::TimeDelta;
use proptest::prelude::*;

use super::*;
use crate::candidate::{Reopening, ReopeningReason};
use crate::samples::{self, customer, evaluator_index};
use CandidateStatus::{Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped};

/// The time in the reports: whole seconds, as in events.
fn at() -> DateTime<Utc> {
    "2026-11-08T10:00:00Z".parse().unwrap()
}

fn reported(before: Candidate, report: PlatformReport, at: DateTime<Utc>) -> Option<Candidate> {
    let change = before.after_report(report, &mut evaluator_index(), at).unwrap();
    change.map(|change| change.candidate)
}

fn candidate(status: CandidateStatus) -> Candidate {
    let access_key = Some(samples::access_key("known"));
    Candidate { status, access_key, session_epoch: 3, ..samples::candidate() }
}

#[test]
fn a_completed_interview_counts_for_all_who_may_have_started() {
    for status in CandidateStatus::ALL {
        let before = candidate(status);
        let counts = match status {
            Interviewing | Confirmed | Aborted | Expired => true,
            New | Invited | Interviewed | Skipped => false,
        };
        let expected = counts.then(|| Candidate {
            status: Interviewed,
            interviewed_at: Some(at()),
            session_epoch: before.session_epoch + 1,
            ..before.clone()
        });
        assert_eq!(reported(before, PlatformReport::Completed, at()), expected, "{status:?}");
    }
}

#[test]
fn an_interview_that_was_broken_off_counts_only_if_it_is_the_present_one() {
    let started = [
        (None, true),
        (Some(at() - TimeDelta::days(1)), true),
        (Some(at()), true),
        // Begun in the same second: the event has no fraction of it.
        (Some(at() + TimeDelta::milliseconds(999)), true),
        (Some(at() + TimeDelta::seconds(1)), false),
    ];
    for status in CandidateStatus::ALL {
        for (started_at, is_present) in started {
            let before = Candidate { started_at, ..candidate(status) };
            let counts = status == Interviewing && is_present;
            let expected = counts.then(|| Candidate {
                status: Aborted,
                aborted_at: Some(at()),
                access_key: None,
                former_keys: samples::former_keys(&before, false),
                session_epoch: before.session_epoch + 1,
                ..before.clone()
            });
            assert_eq!(
                reported(before, PlatformReport::Aborted, at()),
                expected,
                "{status:?} {started_at:?}"
            );
        }
    }
}

#[test]
fn an_interview_of_before_it_was_reopened_counts_no_more() {
    let reason = ReopeningReason::parse("No sound.").unwrap();
    let reopened_at = at() + TimeDelta::milliseconds(250);
    let reopening = Some(Reopening { reason, message: None, reopened_at, count: 1, was_complete: true });
    for report in [PlatformReport::Completed, PlatformReport::Aborted] {
        for status in CandidateStatus::ALL {
            // The candidate has begun again since, as after an abort, or began the day before.
            for started_at in [reopened_at, at() - TimeDelta::days(1)] {
                let reopened = Candidate {
                    reopening: reopening.clone(),
                    started_at: Some(started_at),
                    ..candidate(status)
                };
                let before = Candidate { reopening: None, ..reopened.clone() };
                for seconds in [-1, 0] {
                    let late = at() + TimeDelta::seconds(seconds);
                    assert_eq!(reported(reopened.clone(), report, late), None, "{report:?} {status:?}");
                }
                let next = at() + TimeDelta::seconds(1);
                assert_eq!(
                    reported(reopened, report, next).map(|after| after.status),
                    reported(before, report, next).map(|after| after.status),
                    "{report:?} {status:?}"
                );
            }
        }
    }
}

#[test]
fn an_evaluation_is_noted_wherever_the_candidate_stands_unless_a_later_one_is_known() {
    let known = [(None, true), (Some(-1), true), (Some(0), true), (Some(1), false)];
    for status in CandidateStatus::ALL {
        for completed in [false, true] {
            for (seconds_later, counts) in known {
                let mut before = candidate(status);
                let [one, two] = [1, 2].map(|byte| evaluator_index().assign_bit(customer(byte)).unwrap());
                let other = EvaluationReport { completed: true, at: at(), bit: two };
                before.evaluations.insert(customer(2), other);
                if let Some(seconds) = seconds_later {
                    let at = at() + TimeDelta::seconds(seconds);
                    before
                        .evaluations
                        .insert(customer(1), EvaluationReport { completed: !completed, at, bit: one });
                }
                let mut expected = before.clone();
                expected.evaluations.insert(customer(1), EvaluationReport { completed, at: at(), bit: one });
                expected.scores.entry(customer(1)).or_default().revision += 1;
                let report = PlatformReport::Evaluated { customer: customer(1), completed };
                let case = format!("{status:?} {completed} {seconds_later:?}");
                assert_eq!(reported(before, report, at()), counts.then_some(expected), "{case}");
            }
        }
    }
}

/// Evaluations by three evaluators, no two at the same time, in two orders of arrival.
fn evaluations() -> impl Strategy<Value = [Vec<(i64, CustomerId, bool)>; 2]> {
    let reports = prop::collection::vec((1..4_u8, any::<bool>()), 1..12);
    let reports = reports.prop_map(|reports| {
        let numbered = reports.into_iter().zip(0..);
        numbered.map(|((by, completed), second)| (second, customer(by), completed)).collect::<Vec<_>>()
    });
    reports
        .prop_flat_map(|reports| (Just(reports.clone()), Just(reports).prop_shuffle()))
        .prop_map(Into::into)
}

proptest! {
    #[test]
    fn evaluations_and_the_interview_may_arrive_in_any_order(
        orders in evaluations(),
        completed_after in 0..12_usize,
    ) {
        let outcomes = orders.map(|reports| {
            let mut candidate = candidate(Interviewing);
            let count = reports.len();
            for (number, (second, customer, completed)) in reports.into_iter().enumerate() {
                let mut take = |report, second| {
                    let at = at() + TimeDelta::seconds(second);
                    candidate = reported(candidate.clone(), report, at).unwrap_or_else(|| candidate.clone());
                };
                if number == completed_after.min(count - 1) {
                    take(PlatformReport::Completed, 0);
                }
                take(PlatformReport::Evaluated { customer, completed }, second);
            }
            // Revisions count the applied reports, which depend on the order.
            candidate.scores.clear();
            candidate
        });
        prop_assert_eq!(outcomes[0].status, Interviewed);
        prop_assert_eq!(&outcomes[0], &outcomes[1]);
    }
}
