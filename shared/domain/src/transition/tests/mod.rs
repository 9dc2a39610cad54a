//! Every rule in every situation, against what the contract promises.

use super::*;
use crate::company::Company;
use crate::history::ChangeAuthor;
use crate::language::Language;
use crate::privacy::consent::ConsentStatement;
use crate::privacy::erasure_request::ErasureRequest;
use crate::privacy::legal::{LegalDraft, LegalKind, LegalWording};
use crate::project::{ProjectStatus, ReminderDays};
use crate::samples;
use crate::secret::PasswordHash;
use crate::text::Email;
use CandidateStatus::{Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped};

const NO_AND_YES: [bool; 2] = [false, true];

/// The time in these tests: not a whole second, like the times of requests.
fn now() -> DateTime<Utc> {
    "2026-11-08T10:00:00.250Z".parse().unwrap()
}

fn fresh_key() -> AccessKey {
    samples::access_key("fresh")
}

fn code(refused: RefusedOrThrottled) -> &'static str {
    match refused {
        RefusedOrThrottled::Refused(refusal) => refusal.code,
        RefusedOrThrottled::TooMany(_) => "throttled",
    }
}

/// The kinds of deadlines that the rules distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deadline {
    None,
    Passed,
    ExactlyNow,
    Ahead,
}

impl Deadline {
    const ALL: [Self; 4] = [Self::None, Self::Passed, Self::ExactlyNow, Self::Ahead];

    fn moment(self) -> Option<DateTime<Utc>> {
        match self {
            Self::None => None,
            Self::Passed => Some(now() - TimeDelta::milliseconds(1)),
            Self::ExactlyNow => Some(now()),
            Self::Ahead => Some(now() + TimeDelta::milliseconds(1)),
        }
    }

    fn is_over(self) -> bool {
        matches!(self, Self::Passed | Self::ExactlyNow)
    }
}

/// The properties of a candidate that the rules read.
#[derive(Debug, Clone, Copy)]
struct Situation {
    status: CandidateStatus,
    has_email: bool,
    receive_mails: bool,
    deadline: Deadline,
    has_password: bool,
    has_key: bool,
    has_accepted: bool,
}

impl Situation {
    fn all() -> impl Iterator<Item = Self> {
        let statuses = CandidateStatus::ALL.into_iter();
        let with_mails = statuses.flat_map(|status| NO_AND_YES.map(|receive_mails| (status, receive_mails)));
        with_mails.flat_map(|(status, receive_mails)| {
            NO_AND_YES.into_iter().flat_map(move |has_email| {
                Deadline::ALL.into_iter().flat_map(move |deadline| {
                    NO_AND_YES.into_iter().flat_map(move |has_password| {
                        NO_AND_YES.into_iter().flat_map(move |has_key| {
                            NO_AND_YES.map(|has_accepted| Self {
                                status,
                                has_email,
                                receive_mails,
                                deadline,
                                has_password,
                                has_key,
                                has_accepted,
                            })
                        })
                    })
                })
            })
        })
    }

    fn takes_mails(self) -> bool {
        self.has_email && self.receive_mails
    }

    /// A candidate in this situation with as many fields set as possible, so that a rule that forgets one fails.
    fn candidate(self) -> Candidate {
        let mut candidate = samples::candidate();
        candidate.profile.email = self.has_email.then(|| Email::parse("ada@mail.example").unwrap());
        candidate.profile.receive_mails = self.receive_mails;
        candidate.profile.deadline = self.deadline.moment();
        if self.has_accepted {
            candidate = accepting(candidate);
        }
        let earlier = |days| Some(now() - TimeDelta::days(days));
        Candidate {
            status: self.status,
            invited_at: earlier(9),
            confirmed_at: earlier(8),
            started_at: earlier(7),
            interviewed_at: earlier(6),
            reminded_at: earlier(5),
            access_key: self.has_key.then(|| samples::access_key("known")),
            is_key_mailed: self.has_key && self.takes_mails(),
            password_hash: self.has_password.then(|| PasswordHash::new("$argon2id$".to_owned())),
            session_epoch: 3,
            ..candidate
        }
    }
}

/// A company that requires the consent which [`accepting`] gives.
fn requiring() -> Company {
    let texts = [(Language::En, LegalWording::parse("Yes.").unwrap())].into();
    let draft = LegalDraft { kind: LegalKind::Consent, texts, is_required: true };
    samples::company().publish(draft, now()).unwrap().0
}

fn accepting(candidate: Candidate) -> Candidate {
    let register = requiring().legal;
    let [text] = register.required()[..] else { panic!("one text is required") };
    let statement = ConsentStatement { text, language: Language::En, obtained_at: None };
    candidate.with_consent(statement, &register, ChangeAuthor::System, now()).unwrap()
}

/// The settings of project and company that the rules read.
#[derive(Debug, Clone, Copy)]
struct Around {
    is_running: bool,
    allow_hash_login: bool,
    has_period: bool,
    has_required_text: bool,
}

impl Around {
    fn all() -> impl Iterator<Item = Self> {
        NO_AND_YES.into_iter().flat_map(|is_running| {
            NO_AND_YES.into_iter().flat_map(move |allow_hash_login| {
                NO_AND_YES.into_iter().flat_map(move |has_period| {
                    NO_AND_YES.map(|has_required_text| Self {
                        is_running,
                        allow_hash_login,
                        has_period,
                        has_required_text,
                    })
                })
            })
        })
    }

    fn terms(self) -> AdvanceTerms {
        let Self { is_running, allow_hash_login, has_period, has_required_text } = self;
        let required_texts = if has_required_text { requiring().legal.required() } else { Vec::new() };
        AdvanceTerms {
            is_running,
            default_days: has_period.then_some(14),
            allow_hash_login,
            required_texts,
            reminder_days: ReminderDays::default(),
            interview: None,
        }
    }
}

/// The status that advancing leads to, or the code of the refusal, as the contract promises.
fn promised(one: Situation, by: Actor, around: Around) -> Result<CandidateStatus, &'static str> {
    let needs = |holds: bool, code| if holds { Ok(()) } else { Err(code) };
    let project = needs(around.is_running, "project_not_running");
    let email = needs(one.has_email || !one.receive_mails, "email_missing");
    let not_over = needs(!one.deadline.is_over(), "deadline_passed");
    let gets_deadline = one.status == New && around.has_period;
    let deadline = needs(one.deadline != Deadline::None || gets_deadline, "deadline_missing").and(not_over);
    // Without an address, the sample has no name to log in with.
    let needs_no_password = around.allow_hash_login || !one.has_email;
    let password = needs(one.has_password || needs_no_password, "password_missing");
    let texts = needs(one.has_accepted || !around.has_required_text, "consent_missing");
    match (one.status, by) {
        (New, Actor::Manager) => project.and(email).and(deadline).and(Ok(Invited)),
        (Aborted, Actor::Manager) => project.and(deadline).and(Ok(Confirmed)),
        (Expired, Actor::Manager) if one.has_password => project.and(deadline).and(Ok(Confirmed)),
        (Expired, Actor::Manager) => project.and(email).and(deadline).and(Ok(Invited)),
        (Invited, Actor::Candidate) => project.and(not_over).and(password).and(texts).and(Ok(Confirmed)),
        (Confirmed, Actor::Candidate) => project.and(deadline).and(texts).and(Ok(Interviewing)),
        (Interviewing, Actor::Candidate) => Err("not_implemented"),
        _ => Err("no_transition"),
    }
}

/// The candidate that `before` must become by advancing to `to`.
fn advanced(before: &Candidate, to: CandidateStatus) -> Candidate {
    let mut after = Candidate { status: to, ..before.clone() };
    match to {
        Invited => {
            after.invited_at = Some(now());
            after.access_key = Some(fresh_key());
            after.former_keys = samples::former_keys(before, false);
        }
        Confirmed => {
            after.confirmed_at = Some(now());
            // A password replaces the key. Without one, the candidate keeps their key or gets a new one.
            after.access_key = match (&before.password_hash, &before.access_key) {
                (Some(_), _) => None,
                (None, Some(known)) => Some(known.clone()),
                (None, None) => Some(fresh_key()),
            };
            if before.password_hash.is_some() {
                after.former_keys = samples::former_keys(before, false);
            }
        }
        Interviewing => after.started_at = Some(now()),
        other => unreachable!("nobody advances to {other:?}"),
    }
    after
}

/// The candidate `after` a change of `before`, once `mail` was sent.
fn mailed(before: &Candidate, mut after: Candidate, mail: Option<CandidateMail>) -> Candidate {
    let was_mailed = before.is_key_mailed && before.access_key == after.access_key;
    after.is_key_mailed = was_mailed || (after.access_key.is_some() && mail.is_some());
    after.mailed_at = mail.map(|_| now()).or(before.mailed_at);
    after
}

#[test]
fn advancing_leads_where_the_contract_says_and_changes_nothing_else() {
    let mut walked = 0;
    for one in Situation::all() {
        for (by, around) in Actor::ALL.into_iter().flat_map(|by| Around::all().map(move |a| (by, a))) {
            walked += 1;
            let before = one.candidate();
            let outcome = before.clone().advance(by, &around.terms(), now(), fresh_key());
            let case = format!("{one:?} advanced by {by:?}, {around:?}");
            match (outcome, promised(one, by, around)) {
                (Err(refusal), Err(code)) => assert_eq!(refusal.code, code, "{case}"),
                (Ok(change), Ok(to)) => {
                    let mut expected = advanced(&before, to);
                    if one.status == New && one.deadline == Deadline::None {
                        // Whole seconds: otherwise, a client that sends back a candidate would change the deadline.
                        expected.profile.deadline = Some("2026-11-22T10:00:00Z".parse().unwrap());
                    }
                    assert!(change.needs_running_project, "{case}");
                    let mail = match (one.status, to) {
                        _ if !one.takes_mails() => None,
                        (_, Invited) => Some(CandidateMail::Invitation),
                        (Expired | Aborted, Confirmed) => Some(CandidateMail::DeadlineChanged),
                        _ => None,
                    };
                    let expected = mailed(&before, expected, mail);
                    assert_eq!((change.candidate, change.mail), (expected, mail), "{case}");
                }
                (outcome, promised) => panic!("{case}: {outcome:?}, promised {promised:?}"),
            }
        }
    }
    assert_eq!(walked, 8 * 2 * 2 * 4 * 2 * 2 * 2 * 2 * 16);
}

#[test]
fn skipping_ends_all_that_has_not_begun_or_was_broken_off() {
    for one in Situation::all() {
        let before = one.candidate();
        let outcome = before.clone().skip(now());
        if matches!(one.status, Interviewing | Interviewed | Skipped) {
            assert_eq!(outcome.map_err(|refusal| refusal.code), Err("no_transition"), "{one:?}");
            continue;
        }
        let change = outcome.unwrap();
        let session_epoch = before.session_epoch + 1;
        let former_keys = samples::former_keys(&before, false);
        let status = Skipped;
        let skipped_at = Some(now());
        let expected = Candidate {
            status,
            skipped_at,
            access_key: None,
            is_key_mailed: false,
            former_keys,
            session_epoch,
            ..before
        };
        assert_eq!((change.candidate, change.mail), (expected, None), "{one:?}");
        assert!(!change.needs_running_project, "{one:?}");
    }
}

#[test]
fn only_candidates_who_can_still_act_are_reminded() {
    for one in Situation::all() {
        let before = one.candidate();
        let outcome = before.clone().remind(now());
        let expected = match one {
            Situation { status: Invited | Confirmed, deadline, .. } if deadline.is_over() => {
                Err("deadline_passed")
            }
            Situation { status: Invited | Confirmed, receive_mails: false, .. } => Err("mails_off"),
            Situation { status: Invited | Confirmed, has_email: false, .. } => Err("email_missing"),
            Situation { status: Invited | Confirmed, .. } => {
                let mut expected = Candidate { reminded_at: Some(now()), mailed_at: Some(now()), ..before };
                expected.mail_rate.count(now()).unwrap();
                Ok((expected, Some(CandidateMail::Reminder)))
            }
            _ => Err("no_reminder"),
        };
        let outcome = outcome.map(|change| (change.candidate, change.mail)).map_err(code);
        assert_eq!(outcome, expected, "{one:?}");
    }
}

#[test]
fn a_passed_deadline_expires_or_aborts_the_candidate() {
    for one in Situation::all() {
        let before = one.candidate();
        let to = match one.status {
            _ if !one.deadline.is_over() => None,
            Invited | Confirmed => Some(Expired),
            Interviewing => Some(Aborted),
            _ => None,
        };
        let aborted_at = to.filter(|to| *to == Aborted).map(|_| now());
        let expired_at = to.filter(|to| *to == Expired).map(|_| now());
        let session_epoch = before.session_epoch + 1;
        let expected = to.map(|status| Candidate {
            status,
            aborted_at,
            expired_at,
            access_key: None,
            is_key_mailed: false,
            former_keys: samples::former_keys(&before, false),
            session_epoch,
            ..before.clone()
        });
        assert_eq!(before.clone().expire(now()), expected, "{one:?}");
        // The schedule finds exactly the candidates whose status the deadline changes.
        let is_looked_for = before.expires_at().is_some_and(|at| at <= now());
        assert_eq!(is_looked_for, expected.is_some(), "{one:?}");
        if let Some(expired) = expected {
            assert_eq!(expired.expire(now()), None, "{one:?}: once is enough");
        }
    }
}

#[test]
fn a_password_ends_sessions_and_the_key_that_stood_for_it() {
    for one in Situation::all() {
        let before = one.candidate();
        let hash = PasswordHash::new("$another$".to_owned());
        let mut expected = before.clone();
        expected.password_hash = Some(hash.clone());
        expected.session_epoch += 1;
        // An invited candidate still needs the key to confirm.
        if one.status != Invited {
            expected.former_keys = samples::former_keys(&before, false);
            expected.access_key = None;
            expected.is_key_mailed = false;
        }
        assert_eq!(before.with_password(hash), expected, "{one:?}");
    }
}

#[test]
fn a_key_opens_nothing_after_the_deadline_a_skip_or_the_interview() {
    for one in Situation::all() {
        let candidate = one.candidate();
        assert_eq!(candidate.may_log_in(), one.status != Skipped, "{one:?}");
        let expected = !matches!(one.status, Skipped | Interviewed) && !one.deadline.is_over();
        assert_eq!(candidate.may_use_key(now()), expected, "{one:?}");
    }
}

#[test]
fn a_projects_period_counts_before_its_companys() {
    let mut company = samples::company();
    let mut project = samples::project();
    assert_eq!(AdvanceTerms::of(&project, &company).default_days, None);
    company.default_interview_period = Some(7);
    assert_eq!(AdvanceTerms::of(&project, &company).default_days, Some(7));
    project.settings.default_interview_period = Some(14);
    assert_eq!(AdvanceTerms::of(&project, &company).default_days, Some(14));
    for status in ProjectStatus::ALL {
        project.status = status;
        assert_eq!(AdvanceTerms::of(&project, &company).is_running, status == ProjectStatus::Running);
    }
}

mod cancellation;
mod histories;
mod mails;
mod reminders;
mod reopening;
