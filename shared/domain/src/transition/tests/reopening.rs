//! Candidates who continue an interview that they have completed.

use super::*;
use crate::candidate::{
    ConductedInterview, EndedByTime, InterviewAdjustments, KeyEnd, Reopening, ReopeningReason,
};
use crate::evaluation::EvaluationReport;
use crate::samples::{customer, evaluator_index};
use crate::secret::SecretHash;
use crate::transition::{ReopeningRequest, ReopeningTerms};

const LIMITED: ConductedInterview = ConductedInterview { max_minutes: Some(45) };
const TERMS: ReopeningTerms = ReopeningTerms { is_running: true, has_evaluation: false };

fn request(deadline: Deadline) -> ReopeningRequest {
    ReopeningRequest {
        reason: ReopeningReason::parse("No sound.").unwrap(),
        message: None,
        deadline: deadline.moment(),
    }
}

fn interviewed(one: Situation) -> Candidate {
    Candidate { interview: Some(ConductedInterview { max_minutes: None }), ..one.candidate() }
}

const COMPLETE: Situation = Situation {
    status: Interviewed,
    has_email: true,
    receive_mails: true,
    deadline: Deadline::Ahead,
    has_password: false,
    has_key: true,
    has_accepted: false,
};

#[test]
fn an_interview_goes_on_as_it_was_but_for_its_time_and_the_takes() {
    for one in Situation::all() {
        for new_deadline in Deadline::ALL {
            let before = Candidate { interview: Some(LIMITED), ..interviewed(one) };
            let outcome = before.clone().reopen(request(new_deadline), TERMS, now(), fresh_key());
            let deadline = if new_deadline == Deadline::None { one.deadline } else { new_deadline };
            let expected = match one.status {
                Interviewed if deadline == Deadline::None => Err("deadline_missing"),
                Interviewed if deadline.is_over() => Err("deadline_passed"),
                Interviewed => Ok(Interviewing),
                _ => Err("not_interviewed"),
            };
            let case = format!("{one:?} with {new_deadline:?}");
            let change = match (outcome, expected) {
                (Ok(change), Ok(_)) => change,
                (outcome, expected) => {
                    let code = outcome.map(|change| change.candidate.status).map_err(|refusal| refusal.code);
                    assert_eq!(code, expected, "{case}");
                    continue;
                }
            };
            let reason = ReopeningReason::parse("No sound.").unwrap();
            let mut expected = Candidate {
                status: Interviewing,
                started_at: Some(now()),
                interviewed_at: None,
                interview: Some(ConductedInterview { max_minutes: None }),
                reopening: Some(Reopening {
                    reason,
                    message: None,
                    reopened_at: now(),
                    count: 1,
                    was_complete: true,
                }),
                ..before.clone()
            };
            expected.profile.deadline = deadline.moment();
            expected.access_key = match (&before.password_hash, &before.access_key) {
                (Some(_), _) => None,
                (None, Some(known)) => Some(known.clone()),
                (None, None) => Some(fresh_key()),
            };
            if one.has_password {
                expected.former_keys = samples::former_keys(&before, false);
            }
            let mail = one.takes_mails().then_some(CandidateMail::Reopened);
            let expected = mailed(&before, expected, mail);
            assert_eq!((change.candidate, change.mail), (expected, mail), "{case}");
            assert!(change.needs_running_project, "{case}");
        }
    }
}

#[test]
fn only_the_deadline_ends_an_interview_that_goes_on() {
    let before = Candidate { interview: Some(LIMITED), ..interviewed(COMPLETE) };
    let again = before.reopen(request(Deadline::Ahead), TERMS, now(), fresh_key()).unwrap();
    assert_eq!(again.candidate.ends_at(), Deadline::Ahead.moment());
    assert!(again.candidate.is_in_completed_interview());
    let done = again.candidate.clone().completed(now()).candidate;
    assert!(done.reopened_interview().is_none());
    // Begun again, after the platform has reported an abort.
    let anew = Candidate { started_at: Some(now() + TimeDelta::hours(1)), ..again.candidate };
    assert!(anew.reopened_interview().is_none());
}

#[test]
fn refusals_come_in_their_order() {
    let bit = evaluator_index().assign_bit(customer(1)).unwrap();
    let evaluated = EvaluationReport { completed: true, at: now(), bit };
    let mut one = Candidate { interview: None, ..interviewed(COMPLETE) };
    one.erasure_request = Some(ErasureRequest::new(3, now()));
    one.evaluations.insert(customer(1), evaluated);
    one.profile.deadline = None;
    let mut terms = ReopeningTerms { is_running: false, has_evaluation: true };
    let refused = |one: &Candidate, terms| {
        let outcome = one.clone().reopen(request(Deadline::None), terms, now(), fresh_key());
        outcome.map(|change| change.candidate.status).map_err(|refusal| refusal.code)
    };
    assert_eq!(refused(&one, terms), Err("not_interviewed"));
    one.interview = Some(LIMITED);
    assert_eq!(refused(&one, terms), Err("project_not_running"));
    terms.is_running = true;
    assert_eq!(refused(&one, terms), Err("erasure_requested"));
    one.erasure_request = None;
    assert_eq!(refused(&one, terms), Err("already_evaluated"));
    terms.has_evaluation = false;
    assert_eq!(refused(&one, terms), Err("already_evaluated"), "the platform has reported one");
    one.evaluations.insert(customer(1), EvaluationReport { completed: false, ..evaluated });
    assert_eq!(refused(&one, terms), Err("deadline_missing"), "it was taken back");
    one.profile.deadline = Deadline::Passed.moment();
    assert_eq!(refused(&one, terms), Err("deadline_passed"));
    one.profile.deadline = Deadline::Ahead.moment();
    assert_eq!(refused(&one, terms), Ok(Interviewing));
}

#[test]
fn each_reopening_gives_one_more_take() {
    let adjustments = Some(InterviewAdjustments { extra_takes: 2, ..InterviewAdjustments::default() });
    let mut one = Candidate { adjustments, ..interviewed(COMPLETE) };
    for count in 1..=3 {
        let change = one.reopen(request(Deadline::Ahead), TERMS, now(), fresh_key()).unwrap();
        assert_eq!(change.candidate.adjusted().extra_takes, 2 + count);
        assert_eq!(change.candidate.adjustments, adjustments);
        one = change.candidate.completed(now()).candidate;
        assert_eq!(one.adjusted().extra_takes, 2 + count, "what may be recorded is no news of its end");
    }
}

#[test]
fn a_key_rests_while_the_interview_is_complete() {
    let hash = SecretHash::of("known");
    let one = Candidate { status: Interviewing, ..interviewed(COMPLETE) };
    assert!(one.may_use_key(now()) && one.shown_key().is_some());
    let done = one.completed(now()).candidate;
    assert!(!done.may_use_key(now()) && done.shown_key().is_none());
    assert_eq!(done.key_end(&hash, now()), Some(KeyEnd::Completed));
    let again = done.reopen(request(Deadline::Ahead), TERMS, now(), fresh_key()).unwrap().candidate;
    assert!(again.may_use_key(now()) && again.shown_key().is_some_and(|key| key.hash == hash));
}

#[test]
fn a_mail_of_before_is_outdated() {
    let later = now() + TimeDelta::seconds(1);
    let done = interviewed(COMPLETE);
    let again = done.clone().reopen(request(Deadline::Ahead), TERMS, now(), fresh_key()).unwrap().candidate;
    let twice = Candidate {
        reopening: again.reopening.clone().map(|last| Reopening { reopened_at: later, ..last }),
        ..again.clone()
    };
    let complete_again = Candidate { status: Interviewed, ..twice.clone() };
    for (mail, candidate, is_outdated) in [
        (CandidateMail::Completed, &done, false),
        (CandidateMail::Completed, &again, true),
        (CandidateMail::Completed, &complete_again, true),
        (CandidateMail::Reopened, &again, false),
        (CandidateMail::Reopened, &twice, true),
        (CandidateMail::Reopened, &complete_again, true),
        (CandidateMail::DeadlineChanged, &again, true),
    ] {
        assert_eq!(mail.is_outdated(candidate, now()), is_outdated, "{mail:?} {candidate:?}");
    }
}

#[test]
fn an_interview_goes_on_that_its_time_has_ended_with_answers() {
    let ends_at = Deadline::Ahead.moment().unwrap();
    let closed_at = ends_at + TimeDelta::hours(1);
    let running = Candidate { status: Interviewing, started_at: Some(now()), ..interviewed(COMPLETE) };
    let ended = |answered| {
        let ended = EndedByTime { ended_at: ends_at, answered, questions: 2 };
        running.clone().expire(closed_at).unwrap().with_end_by_time(ended, closed_at)
    };
    assert_eq!((ended(0).mail, ended(0).candidate.ended_by_time), (None, None));
    assert_eq!(ended(1).mail, Some(CandidateMail::EndedByTime));
    let mut later = request(Deadline::None);
    later.deadline = Some(closed_at + TimeDelta::days(1));
    let reopened = |one: Candidate| one.reopen(later.clone(), TERMS, closed_at, fresh_key());
    let code = reopened(ended(0).candidate).map_err(|refusal| refusal.code);
    assert_eq!(code, Err("not_interviewed"));
    let again = reopened(ended(1).candidate).unwrap().candidate;
    assert_eq!((again.status, again.ended_by_time), (Interviewing, None));
    // The interview was never complete, so time ends it again.
    assert!(again.reopened_interview().is_some() && !again.is_in_completed_interview());
    let mail = CandidateMail::EndedByTime;
    assert!(!mail.is_outdated(&ended(1).candidate, closed_at) && mail.is_outdated(&again, closed_at));
}
