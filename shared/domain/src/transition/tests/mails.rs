//! Which changes cause mails, and which candidates get none.

use super::*;

#[test]
fn no_mail_goes_to_a_suppressed_address() {
    for one in Situation::all().filter(|one| one.takes_mails() && one.deadline == Deadline::Ahead) {
        let reason = crate::mail::suppression::SuppressionReason::Bounced;
        let before = one.candidate().after_delivery_report("ada@mail.example", reason).unwrap();
        let around =
            Around { is_running: true, allow_hash_login: false, has_period: false, has_required_text: false };
        let advanced = before.clone().advance(Actor::Manager, &around.terms(), now(), fresh_key());
        if matches!(promised(one, Actor::Manager, around), Ok(Invited)) {
            assert_eq!(advanced.map_err(|refusal| refusal.code), Err("undeliverable"), "{one:?}");
        }
        if matches!(one.status, Invited | Confirmed) {
            assert_eq!(before.clone().remind(now()).map_err(code), Err("undeliverable"), "{one:?}");
        }
        // The candidate moves back from another address.
        let mut elsewhere = before.clone();
        elsewhere.profile.email = Some(Email::parse("elsewhere@mail.example").unwrap());
        let moved_back = before.after_change(&elsewhere, &ReminderDays::default(), now(), Some(fresh_key()));
        assert_eq!(moved_back.is_err(), one.status == Invited, "{one:?}");
    }
}

#[test]
fn no_mail_goes_to_candidates_who_have_requested_erasure() {
    let requested = |candidate: Candidate| {
        let request = ErasureRequest::new(30, now() - TimeDelta::days(1));
        Candidate { erasure_request: Some(request), ..candidate }
    };
    for one in Situation::all() {
        let before = requested(one.candidate());
        assert_eq!(before.mail_address(), None, "{one:?}");
        for (by, around) in Actor::ALL.into_iter().flat_map(|by| Around::all().map(move |a| (by, a))) {
            let advance = |one: Candidate| one.advance(by, &around.terms(), now(), fresh_key());
            let with = advance(before.clone());
            let without = advance(one.candidate());
            let case = format!("{one:?} advanced by {by:?}, {around:?}");
            if by == Actor::Manager && matches!(one.status, New | Expired | Aborted) {
                assert_eq!(with.map_err(|refusal| refusal.code), Err("erasure_requested"), "{case}");
            } else {
                assert_eq!(
                    with.map(|change| change.candidate),
                    without.map(|change| requested(change.candidate)),
                    "{case}"
                );
            }
        }
        let reminded = before.clone().remind(now()).map_err(code);
        let can_act = matches!(one.status, Invited | Confirmed);
        assert_eq!(reminded, Err(if can_act { "erasure_requested" } else { "no_reminder" }), "{one:?}");

        let mut moved = before.clone();
        moved.profile.email = Some(Email::parse("elsewhere@mail.example").unwrap());
        moved.profile.deadline = Some(now() + TimeDelta::days(3));
        let change = moved.after_change(&before, &ReminderDays::default(), now(), Some(fresh_key())).unwrap();
        assert_eq!(change.mail, None, "{one:?}");
        let told = [(&before, before.invited_at), (&change.candidate, change.candidate.invited_at)];
        let [was, is] = told.map(|(candidate, invited_at)| (&candidate.mail_rate, invited_at));
        assert_eq!(was, is, "{one:?}: no mail is counted, and it is no invitation");
    }
}

#[test]
fn another_address_revokes_the_keys_sent_to_the_old_one() {
    let elsewhere = || Email::parse("elsewhere@mail.example").unwrap();
    for one in Situation::all().filter(|one| one.takes_mails()) {
        let before = one.candidate();
        let mut moved = before.clone();
        moved.profile.email = Some(elsewhere());
        let change =
            moved.clone().after_change(&before, &ReminderDays::default(), now(), Some(fresh_key())).unwrap();
        let mut expected = moved;
        expected.session_epoch += 1;
        expected.access_key = one.has_key.then(fresh_key);
        expected.former_keys = samples::former_keys(&before, true);
        let mail = match one.status {
            Invited if one.deadline.is_over() => None,
            Invited => Some(CandidateMail::Invitation),
            Confirmed if one.has_key && !one.deadline.is_over() => Some(CandidateMail::Reminder),
            _ => None,
        };
        if one.status == Invited {
            expected.password_hash = None;
            expected.invited_at = Some(now());
        }
        if mail.is_some() {
            expected.mail_rate.count(now()).unwrap();
        }
        let expected = mailed(&before, expected, mail);
        assert_eq!((change.candidate, change.mail), (expected, mail), "{one:?}");

        let mut emptied = before.clone();
        emptied.profile.email = None;
        let emptied = emptied.after_change(&before, &ReminderDays::default(), now(), Some(fresh_key()));
        if one.status == Invited {
            assert_eq!(emptied.map_err(code), Err("email_missing"), "{one:?}");
        } else {
            let CandidateChange { candidate, mail, .. } = emptied.unwrap();
            assert_eq!((candidate.access_key, mail), (one.has_key.then(fresh_key), None), "{one:?}");
            assert_eq!(candidate.session_epoch, before.session_epoch + 1, "{one:?}");
        }
    }
}

#[test]
fn a_new_deadline_is_mailed_to_invited_and_confirmed_candidates() {
    let others = [None, Some(now() - TimeDelta::days(1)), Some(now() + TimeDelta::days(1))];
    for one in Situation::all() {
        let after = one.candidate();
        for before in others.into_iter().chain([after.profile.deadline]) {
            let mut was = after.clone();
            was.profile.deadline = before;
            let change = after.clone().after_change(&was, &ReminderDays::default(), now(), Some(fresh_key()));
            if one.status == Interviewing && after.profile.deadline.is_none() && before.is_some() {
                assert_eq!(change.map_err(code), Err("deadline_missing"), "{one:?}");
                continue;
            }
            let change = change.unwrap();
            let is_told = matches!(one.status, Invited | Confirmed)
                && one.takes_mails()
                && !one.deadline.is_over()
                && before != after.profile.deadline;
            let mail = is_told.then_some(CandidateMail::DeadlineChanged);
            let case = format!("{one:?}, before {before:?}");
            let mut expected = mailed(&was, after.clone(), mail);
            if mail.is_some() {
                expected.mail_rate.count(now()).unwrap();
            }
            assert_eq!((&change.candidate, change.mail), (&expected, mail), "{case}");
            assert!(!change.needs_running_project, "{case}");
        }
    }
}

#[test]
fn nothing_is_mailed_where_the_client_talks_to_the_candidate_and_the_key_it_gave_them_stays_good() {
    let elsewhere = || Email::parse("elsewhere@mail.example").unwrap();
    for one in Situation::all().filter(|one| !one.receive_mails && one.has_key) {
        let before = one.candidate();
        for email in [None, Some(elsewhere())].into_iter().filter(|email| *email != before.profile.email) {
            let mut moved = before.clone();
            moved.profile.email = email;
            moved.profile.deadline = Some(now() + TimeDelta::days(3));
            let change = moved
                .clone()
                .after_change(&before, &ReminderDays::default(), now(), Some(fresh_key()))
                .unwrap();
            // Passwords can be reset by mail, so the reader of a wrong address may have opened sessions.
            moved.session_epoch += u32::from(one.has_email);
            assert_eq!((change.candidate, change.mail), (moved, None), "{one:?}");
        }
    }
}

#[test]
fn a_key_that_was_mailed_ends_with_the_address_also_if_mails_are_off_since() {
    for one in Situation::all().filter(|one| one.takes_mails() && one.has_key) {
        let before = one.candidate();
        let mut moved = before.clone();
        moved.profile.receive_mails = false;
        moved.profile.email = None;
        let after = moved
            .after_change(&before, &ReminderDays::default(), now(), Some(fresh_key()))
            .unwrap()
            .candidate;
        assert_eq!(after.access_key, Some(fresh_key()), "{one:?}");
        assert_eq!(after.former_keys, samples::former_keys(&before, true), "{one:?}");
        assert!(!after.is_key_mailed, "{one:?}");
        if one.status == Invited {
            assert_eq!(after.password_hash, None, "{one:?}");
        }
    }
}

#[test]
fn mails_are_turned_on_only_with_an_address_while_the_candidate_waits_for_them() {
    for one in Situation::all().filter(|one| !one.receive_mails) {
        let before = one.candidate();
        let mut after = before.clone();
        after.profile.receive_mails = true;
        let is_waiting = matches!(one.status, Invited | Confirmed);
        assert_eq!(after.misses_mails(&before), is_waiting && !one.has_email, "{one:?}");
        assert!(!after.misses_mails(&after), "{one:?}: mails were on before");
        let change = after.after_change(&before, &ReminderDays::default(), now(), Some(fresh_key())).unwrap();
        assert_eq!(change.mail, None, "{one:?}");
    }
}
