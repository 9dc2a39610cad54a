//! The contract as a small program: what each step does to a project and its candidates.

use platform_events::EventOutcome;
use proptest::prelude::*;
use proptest::sample::select;
use proptest_state_machine::ReferenceStateMachine;
use shared::domain::candidate::CandidateStatus::{
    Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped,
};

use super::one::{NOBODY, One};
use super::step::{Answer, Deadline, Event, Means, Report, Step, refused};

pub(super) const DRAFT: &str = "10-incomplete";

pub(super) const RUNNING: &str = "40-running";

pub(super) const CLOSED: &str = "60-closed";

/// A running project with some of three people as evaluators.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) team_evaluation: usize,
    pub(super) allow_hash_login: bool,
    /// Whether the project gives a day to whoever has no deadline.
    pub(super) has_period: bool,
    pub(super) project: &'static str,
    /// Which of the people evaluate in it; all of them may report evaluations.
    evaluators: [bool; 3],
    /// How many mails there are to be sent.
    pub(super) mails: usize,
    /// How many steps were taken.
    pub(super) steps: usize,
    /// The answer to the last step.
    pub(super) answer: Answer,
    candidates: Vec<Option<One>>,
    /// Minutes since the beginning.
    now: i64,
    last_event: Option<Event>,
}

impl ReferenceStateMachine for Model {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        (0..=2_usize, any::<bool>(), any::<bool>())
            .prop_map(|(team_evaluation, allow_hash_login, has_period)| Self {
                team_evaluation,
                allow_hash_login,
                has_period,
                project: RUNNING,
                evaluators: [true, true, false],
                mails: 0,
                steps: 0,
                answer: Answer::Done,
                candidates: Vec::new(),
                now: 0,
                last_event: None,
            })
            .boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Step> {
        let create =
            prop_oneof![4 => Just(true), 1 => Just(false)].prop_map(|has_email| Step::Create { has_email });
        let numbers: Vec<usize> = model.there().map(|(number, _)| number).collect();
        if numbers.is_empty() {
            return create.boxed();
        }
        let mut onwards: Vec<Step> =
            model.there().filter_map(|(number, one)| one.onwards(number, model.now)).collect();
        if model.project != RUNNING {
            onwards.push(Step::Project { to: RUNNING });
        }
        let onwards = if onwards.is_empty() { create.clone().boxed() } else { select(onwards).boxed() };
        let one = select(numbers);
        let means = prop_oneof![Just(Means::Key), Just(Means::Token)];
        let deadline = prop_oneof![Just(Deadline::None), select(vec![-5, 0, 15, 120]).prop_map(Deadline::In)];
        let report = prop_oneof![
            2 => Just(Report::Completed),
            2 => Just(Report::Aborted),
            3 => (0..3_usize, any::<bool>()).prop_map(|(by, completed)| Report::Evaluated { by, completed }),
        ];
        let status = prop_oneof![1 => Just(DRAFT), 5 => Just(RUNNING), 2 => Just(CLOSED)];
        prop_oneof![
            // Chance alone would hardly get anybody anywhere.
            45 => onwards,
            if model.candidates.len() < 6 { 8 } else { 1 } => create,
            1 => (one.clone(), any::<bool>()).prop_map(|(one, has_email)| Step::Email { one, has_email }),
            6 => (one.clone(), deadline).prop_map(|(one, deadline)| Step::Deadline { one, deadline }),
            4 => one.clone().prop_map(|one| Step::Advance { one }),
            6 => (one.clone(), means.clone()).prop_map(|(one, by)| Step::AdvanceItself { one, by }),
            2 => (one.clone(), means).prop_map(|(one, by)| Step::Password { one, by }),
            2 => one.clone().prop_map(|one| Step::Skip { one }),
            3 => one.clone().prop_map(|one| Step::Remind { one }),
            1 => one.clone().prop_map(|one| Step::Delete { one }),
            5 => select(vec![1, 10, 20]).prop_map(|minutes| Step::Wait { minutes }),
            5 => Just(Step::Sweep),
            8 => (one.clone(), report, select(vec![0, 0, 0, 7]))
                .prop_map(|(one, report, minutes_ago)| Step::Report { one, report, minutes_ago }),
            2 => Just(Step::ReportAgain),
            6 => (one.clone(), 0..3_usize, any::<bool>())
                .prop_map(|(one, by, completed)| Step::Save { one, by, completed }),
            2 => (one.clone(), 0..3_usize).prop_map(|(one, by)| Step::Veto { one, by }),
            5 => status.prop_map(|to| Step::Project { to }),
            4 => any::<[bool; 3]>().prop_map(|who| Step::Evaluators { who }),
        ]
        .boxed()
    }

    fn preconditions(model: &Self, step: &Step) -> bool {
        let one = step.one().map(|one| model.candidates.get(one).and_then(Option::as_ref));
        let Some(one) = one.unwrap_or(Some(&NOBODY)) else { return false };
        match step {
            Step::AdvanceItself { by: Means::Key, .. } | Step::Password { by: Means::Key, .. } => one.had_key,
            Step::AdvanceItself { by: Means::Token, .. } | Step::Password { by: Means::Token, .. } => {
                one.has_token
            }
            Step::ReportAgain => model.last_event.is_some(),
            Step::Save { by, .. } | Step::Veto { by, .. } => model.evaluators[*by],
            _ => true,
        }
    }

    fn apply(mut model: Self, step: &Step) -> Self {
        model.steps += 1;
        model.answer = model.take(step).unwrap_or_else(|answer| answer);
        model
    }
}

impl Model {
    /// The candidates that are there, with their numbers.
    pub(super) fn there(&self) -> impl Iterator<Item = (usize, &One)> + Clone {
        self.candidates.iter().enumerate().filter_map(|(number, one)| Some((number, one.as_ref()?)))
    }

    fn interviewed(&self) -> impl Iterator<Item = &One> {
        self.there().map(|(_, one)| one).filter(|one| one.status == Interviewed)
    }

    fn needed(&self) -> usize {
        let evaluators = self.evaluators.iter().filter(|evaluates| **evaluates).count();
        if self.team_evaluation == 0 { evaluators.max(1) } else { self.team_evaluation }
    }

    /// How many evaluators of today have completed their evaluation of a candidate.
    fn completed(&self, one: &One) -> usize {
        (0..3).filter(|by| self.evaluators[*by] && one.is_evaluated_by(*by)).count()
    }

    /// Whether an evaluator of today has vetoed a candidate.
    fn is_vetoed(&self, one: &One) -> bool {
        (0..3).any(|by| self.evaluators[by] && one.vetos[by])
    }

    fn is_evaluated(&self, one: &One) -> bool {
        self.is_vetoed(one) || self.completed(one) >= self.needed()
    }

    pub(super) fn evaluation_status(&self, one: &One) -> &'static str {
        match self.completed(one) {
            _ if self.is_vetoed(one) => "completed",
            0 => "pending",
            count if count < self.needed() => "partial",
            _ => "completed",
        }
    }

    /// How many interviewed candidates are fully evaluated.
    pub(super) fn evaluated(&self) -> usize {
        self.interviewed().filter(|one| self.is_evaluated(one)).count()
    }

    /// How many interviewed candidates have results.
    pub(super) fn results(&self) -> usize {
        self.interviewed().filter(|one| self.completed(one) > 0).count()
    }

    fn can_archive(&self) -> bool {
        let is_open = |one: &One| matches!(one.status, Invited | Confirmed | Interviewing);
        !self.there().any(|(_, one)| is_open(one)) && self.evaluated() == self.interviewed().count()
    }

    /// Whether the owner and the first of the people can evaluate, see results and archive.
    pub(super) fn flags(&self) -> [[bool; 3]; 2] {
        let anybody = self.interviewed().any(|one| self.completed(one) > 0);
        let by_first = self.interviewed().any(|one| one.is_evaluated_by(0));
        let somebody = self.interviewed().count() > 0;
        let as_evaluator = [somebody, by_first, self.can_archive()];
        let as_manager = [false, anybody, self.can_archive()];
        [as_manager, if self.evaluators[0] { as_evaluator } else { as_manager }]
    }

    /// Takes a step; the answer is an error when nothing changes by it.
    fn take(&mut self, step: &Step) -> Result<Answer, Answer> {
        let now = self.now;
        match *step {
            Step::Create { has_email } => self.candidates.push(Some(One { has_email, ..NOBODY.clone() })),
            Step::Email { one, has_email } => self.one(one).set_email(has_email)?,
            Step::Deadline { one, deadline } => {
                let deadline = match deadline {
                    Deadline::None => None,
                    Deadline::In(minutes) => Some(now + minutes),
                };
                let one = self.one(one);
                let is_news = one.deadline != deadline && deadline.is_none_or(|deadline| deadline > now);
                one.deadline = deadline;
                let is_told = is_news && one.has_email && matches!(one.status, Invited | Confirmed);
                self.mails += usize::from(is_told);
            }
            Step::Advance { one } => self.advance(one)?,
            Step::AdvanceItself { one, by } => {
                self.let_in(one, by)?;
                self.advance_itself(one)?;
            }
            Step::Password { one, by } => {
                self.let_in(one, by)?;
                let one = self.one(one);
                one.has_password = true;
                one.has_key &= one.status == Invited;
                one.has_token = one.has_email;
            }
            Step::Skip { one } => {
                let one = self.one(one);
                if matches!(one.status, Interviewing | Interviewed | Skipped) {
                    return refused("no_transition");
                }
                one.status = Skipped;
                one.has_key = false;
            }
            Step::Remind { one } => {
                let one = self.one(one);
                if !matches!(one.status, Invited | Confirmed) {
                    return refused("no_reminder");
                }
                if one.is_overdue(now) {
                    return refused("deadline_passed");
                }
                if !one.has_email {
                    return refused("email_missing");
                }
                one.reminders.retain(|minute| now - minute < 60);
                if one.reminders.len() == 5 {
                    return Err(Answer::Throttled);
                }
                one.reminders.push(now);
                self.mails += 1;
            }
            Step::Delete { one } => self.candidates[one] = None,
            Step::Wait { minutes } => self.now += minutes,
            Step::Sweep => return Ok(self.sweep()),
            Step::Report { one, report, minutes_ago } => {
                let event = Event { one, report, at: now - minutes_ago, is_applied: false };
                return Ok(Answer::Event(self.report(event)));
            }
            Step::ReportAgain => {
                let event = self.last_event.unwrap();
                return Ok(Answer::Event(if event.is_applied {
                    EventOutcome::Known
                } else {
                    self.report(event)
                }));
            }
            Step::Save { one, by, completed } => {
                let now = self.now;
                self.one(one).save(by, completed, now)?;
            }
            Step::Veto { one, by } => {
                let now = self.now;
                self.one(one).veto(by, now)?;
            }
            Step::Project { to } => self.move_project(to)?,
            Step::Evaluators { who } => self.evaluators = who,
        }
        Ok(Answer::Done)
    }

    fn one(&mut self, number: usize) -> &mut One {
        self.candidates[number].as_mut().unwrap()
    }

    /// Advances a candidate as its manager.
    fn advance(&mut self, number: usize) -> Result<(), Answer> {
        let (now, is_running, has_period) = (self.now, self.project == RUNNING, self.has_period);
        let one = self.one(number);
        if !matches!(one.status, New | Expired | Aborted) {
            return refused("no_transition");
        }
        let default = (one.status == New && has_period).then_some(now + 24 * 60);
        let deadline = one.deadline.or(default);
        if !is_running {
            return refused("project_not_running");
        }
        let is_to_be_invited = one.status == New || (one.status == Expired && !one.has_password);
        if is_to_be_invited && !one.has_email {
            return refused("email_missing");
        }
        match deadline {
            None => return refused("deadline_missing"),
            Some(deadline) if deadline <= now => return refused("deadline_passed"),
            Some(_) => one.deadline = deadline,
        }
        if is_to_be_invited {
            one.status = Invited;
            one.invited_at = Some(now);
            one.has_key = true;
        } else {
            one.status = Confirmed;
            one.confirmed_at = Some(now);
            one.has_key = !one.has_password;
        }
        one.had_key |= one.has_key;
        let is_told = usize::from(one.has_email);
        self.mails += is_told;
        Ok(())
    }

    /// Advances a candidate as itself.
    fn advance_itself(&mut self, number: usize) -> Result<(), Answer> {
        let (now, is_running, allow_hash_login) = (self.now, self.project == RUNNING, self.allow_hash_login);
        let one = self.one(number);
        match one.status {
            Interviewing => refused("not_implemented"),
            Invited | Confirmed if !is_running => refused("project_not_running"),
            Confirmed if one.deadline.is_none() => refused("deadline_missing"),
            Invited | Confirmed if one.is_overdue(now) => refused("deadline_passed"),
            Invited if !one.has_password && !allow_hash_login => refused("password_missing"),
            Invited => {
                one.status = Confirmed;
                one.confirmed_at = Some(now);
                one.has_key = !one.has_password;
                Ok(())
            }
            Confirmed => {
                one.status = Interviewing;
                one.started_at = Some(now);
                Ok(())
            }
            New | Interviewed | Expired | Aborted | Skipped => refused("no_transition"),
        }
    }

    /// Whether a candidate may act as itself.
    fn let_in(&mut self, number: usize, by: Means) -> Result<(), Answer> {
        let now = self.now;
        let one = self.one(number);
        let is_let_in = match by {
            Means::Key => one.has_key && !one.is_overdue(now),
            Means::Token => one.status != Skipped,
        };
        if is_let_in { Ok(()) } else { Err(Answer::Unauthenticated) }
    }

    fn sweep(&mut self) -> Answer {
        let now = self.now;
        let (mut expired, mut aborted) = (0, 0);
        for one in self.candidates.iter_mut().flatten().filter(|one| one.is_overdue(now)) {
            (one.status, one.has_key) = match one.status {
                Invited | Confirmed => {
                    expired += 1;
                    (Expired, false)
                }
                Interviewing => {
                    aborted += 1;
                    (Aborted, false)
                }
                other => (other, one.has_key),
            };
        }
        Answer::Swept(expired, aborted)
    }

    fn report(&mut self, event: Event) -> EventOutcome {
        let Event { one, report, at, .. } = event;
        let is_applied = self.candidates[one].as_mut().is_some_and(|one| one.take_report(report, at));
        self.last_event = Some(Event { is_applied, ..event });
        if is_applied { EventOutcome::Applied } else { EventOutcome::Ignored }
    }

    fn move_project(&mut self, to: &'static str) -> Result<(), Answer> {
        match (self.project, to) {
            (from, to) if from == to => {}
            (CLOSED, DRAFT) => return refused("no_transition"),
            (_, CLOSED) if !self.can_archive() => return refused("cannot_archive"),
            (_, DRAFT) if self.there().any(|(_, one)| one.status != New) => {
                return refused("candidates_not_new");
            }
            _ => self.project = to,
        }
        Ok(())
    }
}
