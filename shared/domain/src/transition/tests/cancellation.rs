//! Cancellations: the candidates who may be cancelled, and those who get a mail about it.

use super::*;
use crate::account::Creator;
use crate::candidate::{Cancellation, CancellationReason, EndedByTime};
use crate::samples::customer;

fn cancellation() -> Cancellation {
    let reason = CancellationReason::parse("The position is filled.").unwrap();
    Cancellation { reason, at: now(), by: Some(Creator::Customer(customer(1))) }
}

#[test]
fn everybody_is_withdrawn_who_has_not_completed_the_interview() {
    for one in Situation::all() {
        for notify in NO_AND_YES {
            let case = format!("{one:?}, notify: {notify}");
            let before = one.candidate();
            let change = match (one.status, before.clone().cancel(cancellation(), notify)) {
                (Interviewed, outcome) => {
                    assert_eq!(outcome.map_err(|refusal| refusal.code), Err("already_interviewed"), "{case}");
                    continue;
                }
                (Skipped, outcome) => {
                    assert_eq!(outcome, Ok(None), "{case}");
                    continue;
                }
                (_, outcome) => outcome.unwrap().unwrap(),
            };
            let is_told = notify && one.takes_mails() && before.invited_at.is_some();
            let mail = is_told.then_some(CandidateMail::Cancelled);
            let expected = Candidate {
                status: Skipped,
                skipped_at: Some(now()),
                cancellation: Some(cancellation()),
                access_key: None,
                is_key_mailed: false,
                former_keys: samples::former_keys(&before, false),
                session_epoch: before.session_epoch + 1,
                mailed_at: mail.map(|_| now()).or(before.mailed_at),
                ..before.clone()
            };
            assert_eq!((change.candidate, change.mail), (expected, mail), "{case}");
            assert!(!change.needs_running_project, "{case}");
        }
    }
}

#[test]
fn nothing_is_mailed_to_who_was_never_invited_or_wants_to_be_erased() {
    let one = Situation {
        status: New,
        has_email: true,
        receive_mails: true,
        deadline: Deadline::Ahead,
        has_password: false,
        has_key: false,
        has_accepted: false,
    };
    let mail = |before: Candidate| before.cancel(cancellation(), true).unwrap().unwrap().mail;
    let never = Candidate { invited_at: None, ..one.candidate() };
    assert_eq!(mail(never), None);
    let invited = Candidate { invited_at: Some(now()), ..one.candidate() };
    assert_eq!(mail(invited.clone()), Some(CandidateMail::Cancelled));
    let request = ErasureRequest::new(30, now());
    assert_eq!(mail(Candidate { erasure_request: Some(request), ..invited }), None);
}

#[test]
fn an_interview_that_its_time_has_ended_is_cancelled_too() {
    let ended_by_time = Some(EndedByTime { ended_at: now(), answered: 1, questions: 2 });
    let before = Candidate { status: Aborted, ended_by_time, ..samples::candidate() };
    let change = before.cancel(cancellation(), false).unwrap().unwrap();
    assert_eq!((change.candidate.status, change.candidate.ended_by_time), (Skipped, None));
    assert!(!CandidateMail::Cancelled.is_outdated(&change.candidate, now()));
}
