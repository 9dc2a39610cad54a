//! Invariants of a candidate over all changes, in any order.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::candidate::{
    Cancellation, CancellationReason, CandidateProfile, ConductedInterview, ReopeningReason,
};
use crate::evaluation::evaluator_index::EvaluatorIndex;
use crate::id::Id;
use crate::transition::report::PlatformReport;
use crate::transition::{ReopeningRequest, ReopeningTerms};

#[derive(Debug, Clone, Copy)]
enum Event {
    Advance(Actor),
    Skip,
    Cancel,
    Remind,
    Expire,
    Deadline(Option<i64>),
    Password,
    Accept,
    Withdraw,
    Completed,
    Reopen,
    Aborted,
    Evaluated(bool),
    Wait,
}

fn reported(before: Candidate, report: PlatformReport, at: DateTime<Utc>) -> Option<Candidate> {
    let change = before.after_report(report, &mut EvaluatorIndex::default(), at).unwrap();
    change.map(|change| change.candidate)
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => Just(Event::Advance(Actor::Manager)),
        4 => Just(Event::Advance(Actor::Candidate)),
        1 => Just(Event::Remind),
        1 => Just(Event::Expire),
        2 => prop_oneof![Just(None), Just(Some(-1)), Just(Some(2)), Just(Some(9))].prop_map(Event::Deadline),
        2 => Just(Event::Password),
        2 => Just(Event::Accept),
        1 => Just(Event::Withdraw),
        1 => Just(Event::Completed),
        2 => Just(Event::Reopen),
        1 => Just(Event::Aborted),
        1 => any::<bool>().prop_map(Event::Evaluated),
        2 => Just(Event::Wait),
        1 => prop_oneof![8 => Just(Event::Wait), 1 => Just(Event::Skip), 1 => Just(Event::Cancel)],
    ]
}

fn after(
    candidate: &Candidate,
    event: Event,
    terms: &AdvanceTerms,
    at: DateTime<Utc>,
    key: &str,
) -> Option<Candidate> {
    let own = candidate.clone();
    let change = |change: Result<CandidateChange, Refusal>| change.ok().map(|change| change.candidate);
    match event {
        Event::Advance(by) => change(own.advance(by, terms, at, samples::access_key(key))),
        Event::Skip => change(own.skip(at)),
        Event::Cancel => {
            let reason = CancellationReason::parse("The position is filled.").unwrap();
            let cancellation = Cancellation { reason, at, by: None };
            own.cancel(cancellation, true).ok().flatten().map(|change| change.candidate)
        }
        Event::Remind => own.remind(at).ok().map(|change| change.candidate),
        Event::Expire => own.expire(at),
        Event::Deadline(days) => {
            let mut changed = own;
            changed.profile.deadline = days.map(|days| at + TimeDelta::days(days));
            changed
                .after_change(candidate, &ReminderDays::default(), at, None)
                .ok()
                .map(|change| change.candidate)
        }
        // Only candidates with a key or a password can choose another password.
        Event::Password if own.access_key.is_none() && own.password_hash.is_none() => None,
        Event::Password => own.may_log_in().then(|| own.with_password(PasswordHash::new(key.to_owned()))),
        Event::Accept => Some(accepting(own)),
        Event::Withdraw => Some(own.without_consent(LegalKind::Consent, at)),
        Event::Completed => reported(own, PlatformReport::Completed, at),
        Event::Reopen => {
            let reason = ReopeningReason::parse("No sound.").unwrap();
            let request = ReopeningRequest { reason, message: None, deadline: Some(at + TimeDelta::days(2)) };
            let terms = ReopeningTerms { is_running: true, has_evaluation: false };
            change(own.reopen(request, terms, at, samples::access_key(key)))
        }
        Event::Aborted => reported(own, PlatformReport::Aborted, at),
        Event::Evaluated(completed) => {
            reported(own, PlatformReport::Evaluated { customer: Id::from_bytes([4; 16]), completed }, at)
        }
        Event::Wait => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn keys_sessions_and_dates_fit_the_status(
        allow_hash_login: bool,
        has_required_text: bool,
        events in vec(event(), 1..40),
    ) {
        let around = Around { is_running: true, allow_hash_login, has_period: true, has_required_text };
        let conducted = ConductedInterview { max_minutes: None };
        let interview = Some(InterviewTerms { conducted, is_answered: true });
        let terms = AdvanceTerms { default_days: Some(3), interview, ..around.terms() };
        let start = Situation {
            status: New, has_email: true, receive_mails: true, deadline: Deadline::None, has_password: false, has_key: false,
            has_accepted: false,
        };
        let mut one = start.candidate();
        one.invited_at = None;
        one.confirmed_at = None;
        one.started_at = None;
        one.interviewed_at = None;
        let mut at = now();
        let mut given: Vec<AccessKey> = Vec::new();
        for (number, event) in events.into_iter().enumerate() {
            if matches!(event, Event::Wait) {
                at += TimeDelta::days(1);
            }
            let Some(next) = after(&one, event, &terms, at, &format!("key-{number}")) else { continue };

            let has_key = next.access_key.is_some();
            let needs_key = match next.status {
                New | Expired | Aborted | Skipped => false,
                // The key is kept, unless it was revoked before.
                Interviewed => has_key && next.password_hash.is_none(),
                Invited => true,
                Confirmed | Interviewing => next.password_hash.is_none(),
            };
            prop_assert_eq!(has_key, needs_key, "{:?}", &next);
            prop_assert_eq!(next.shown_key().is_some(), has_key && next.status != Interviewed);
            // A key that was revoked never becomes valid again.
            if let Some(key) = next.access_key.clone().filter(|key| Some(key) != one.access_key.as_ref()) {
                prop_assert!(!given.contains(&key));
                given.push(key);
            }
            if next.status == Invited && one.status != Invited {
                prop_assert_ne!(&next.access_key, &one.access_key);
            }

            // Candidates who have begun may complete, even if they have withdrawn a consent since.
            if matches!(event, Event::Advance(Actor::Candidate)) && next.status != Interviewed {
                prop_assert!(next.has_accepted(&terms.required_texts), "{:?}", &next);
            }
            let has_ended = next.status != one.status && matches!(next.status, Expired | Aborted | Interviewed);
            let ends_sessions = has_ended || matches!(event, Event::Skip | Event::Cancel | Event::Password);
            prop_assert_eq!(next.session_epoch, one.session_epoch + u32::from(ends_sessions));
            match next.status {
                New | Skipped => {}
                Invited | Expired => prop_assert!(next.invited_at.is_some()),
                Confirmed => prop_assert!(next.confirmed_at.is_some()),
                Interviewing | Aborted => prop_assert!(next.started_at.is_some()),
                Interviewed => prop_assert!(next.interviewed_at.is_some()),
            }
            match (one.status, event) {
                (Interviewed, Event::Reopen) => {
                    prop_assert_eq!((next.status, next.interviewed_at), (Interviewing, None));
                    prop_assert!(one.access_key.is_none() || next.access_key == one.access_key);
                }
                (Skipped | Interviewed, _) => prop_assert_eq!(next.status, one.status, "both are the end"),
                (_, Event::Reopen) => unreachable!("only what is complete is reopened"),
                _ => {}
            }
            let deadline = next.profile.deadline;
            prop_assert_eq!((next.id, &next.company, next.project), (one.id, &one.company, one.project));
            prop_assert_eq!(&next.profile, &CandidateProfile { deadline, ..one.profile.clone() });
            prop_assert_eq!(next.created_by, one.created_by);
            one = next;
        }
    }
}
