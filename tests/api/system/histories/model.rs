//! The contract as a small program: what each step does to a project and its candidates.

use proptest::prelude::*;
use proptest::sample::select;
use proptest_state_machine::ReferenceStateMachine;
use shared::domain::candidate::CandidateStatus::{
    Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New,
};
use shared::event::RecordOutcome;

use super::candidate::{ModelCandidate, NEW_CANDIDATE};
use super::step::{
    DeadlineChange, HistoryStep, KeyOrToken, PlatformReport, ReportedEvent, StepAnswer, refused,
};

pub(super) const DRAFT: &str = "10-incomplete";

pub(super) const RUNNING: &str = "40-running";

pub(super) const CLOSED: &str = "60-closed";

/// A running project with some of three people as evaluators.
#[derive(Debug, Clone)]
pub(super) struct ProjectModel {
    pub(super) team_evaluation: usize,
    pub(super) allow_hash_login: bool,
    /// Whether candidates without a deadline get one in a day when they are invited.
    pub(super) has_period: bool,
    pub(super) project: &'static str,
    /// Which of the three are evaluators now; events may report evaluations by all of them.
    evaluators: [bool; 3],
    /// How many mails wait to be sent.
    pub(super) mails: usize,
    /// How many steps were run.
    pub(super) steps: usize,
    /// The answer to the last step.
    pub(super) answer: StepAnswer,
    candidates: Vec<Option<ModelCandidate>>,
    /// Minutes since the start.
    pub(super) now: i64,
    last_event: Option<ReportedEvent>,
}

impl ReferenceStateMachine for ProjectModel {
    type State = Self;
    type Transition = HistoryStep;

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
                answer: StepAnswer::Done,
                candidates: Vec::new(),
                now: 0,
                last_event: None,
            })
            .boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<HistoryStep> {
        let create = prop_oneof![4 => Just(true), 1 => Just(false)]
            .prop_map(|has_email| HistoryStep::Create { has_email });
        let numbers: Vec<usize> = model.candidates().map(|(number, _)| number).collect();
        if numbers.is_empty() {
            return create.boxed();
        }
        let mut next_steps: Vec<HistoryStep> = model
            .candidates()
            .filter_map(|(number, candidate)| candidate.next_step(number, model.now))
            .collect();
        // Reports of an earlier attempt come while the next one goes on. Purely random steps would hardly ever hit one.
        next_steps.extend(model.candidates().filter(|(_, one)| one.status == Interviewing).map(
            |(candidate, _)| HistoryStep::Report {
                candidate,
                report: PlatformReport::Aborted,
                minutes_ago: 7,
            },
        ));
        if model.project != RUNNING {
            next_steps.push(HistoryStep::Project { to: RUNNING });
        }
        let next_steps =
            if next_steps.is_empty() { create.clone().boxed() } else { select(next_steps).boxed() };
        let candidate = select(numbers);
        let by_means = prop_oneof![Just(KeyOrToken::Key), Just(KeyOrToken::Token)];
        let deadline = prop_oneof![
            Just(DeadlineChange::None),
            select(vec![-5, 0, 15, 120]).prop_map(DeadlineChange::In)
        ];
        let report = prop_oneof![
            2 => Just(PlatformReport::Completed),
            2 => Just(PlatformReport::Aborted),
            3 => (0..3_usize, any::<bool>()).prop_map(|(by, completed)| PlatformReport::Evaluated { by, completed }),
        ];
        let status = prop_oneof![1 => Just(DRAFT), 5 => Just(RUNNING), 2 => Just(CLOSED)];
        prop_oneof![
            // Purely random steps would hardly ever complete an interview.
            45 => next_steps,
            if model.candidates.len() < 6 { 8 } else { 1 } => create,
            1 => (candidate.clone(), any::<bool>()).prop_map(|(candidate, has_email)| HistoryStep::Email { candidate, has_email }),
            6 => (candidate.clone(), deadline).prop_map(|(candidate, deadline)| HistoryStep::Deadline { candidate, deadline }),
            4 => candidate.clone().prop_map(|candidate| HistoryStep::Advance { candidate }),
            6 => (candidate.clone(), by_means.clone()).prop_map(|(candidate, by)| HistoryStep::AdvanceItself { candidate, by }),
            2 => (candidate.clone(), by_means).prop_map(|(candidate, by)| HistoryStep::Password { candidate, by }),
            2 => candidate.clone().prop_map(|candidate| HistoryStep::Skip { candidate }),
            1 => (candidate.clone(), any::<bool>())
                .prop_map(|(candidate, notify)| HistoryStep::Cancel { candidate, notify }),
            3 => candidate.clone().prop_map(|candidate| HistoryStep::Remind { candidate }),
            2 => candidate.clone().prop_map(|candidate| HistoryStep::Delete { candidate }),
            2 => (candidate.clone(), select(vec![None, Some(5), Some(30)]))
                .prop_map(|(candidate, minutes)| HistoryStep::Hold { candidate, minutes }),
            1 => candidate.clone().prop_map(|candidate| HistoryStep::Release { candidate }),
            3 => candidate.clone().prop_map(|candidate| HistoryStep::RequestErasure { candidate }),
            1 => candidate.clone().prop_map(|candidate| HistoryStep::WithdrawErasure { candidate }),
            5 => select(vec![1, 10, 20]).prop_map(|minutes| HistoryStep::Wait { minutes }),
            5 => Just(HistoryStep::Sweep),
            8 => (candidate.clone(), report, select(vec![0, 0, 0, 7]))
                .prop_map(|(candidate, report, minutes_ago)| HistoryStep::Report { candidate, report, minutes_ago }),
            2 => Just(HistoryStep::ReportAgain),
            6 => (candidate.clone(), 0..3_usize, any::<bool>())
                .prop_map(|(candidate, by, completed)| HistoryStep::Save { candidate, by, completed }),
            2 => (candidate.clone(), 0..3_usize).prop_map(|(candidate, by)| HistoryStep::Veto { candidate, by }),
            5 => status.prop_map(|to| HistoryStep::Project { to }),
            4 => any::<[bool; 3]>().prop_map(|who| HistoryStep::Evaluators { who }),
        ]
        .boxed()
    }

    fn preconditions(model: &Self, step: &HistoryStep) -> bool {
        let candidate =
            step.candidate().map(|candidate| model.candidates.get(candidate).and_then(Option::as_ref));
        let Some(candidate) = candidate.unwrap_or(Some(&NEW_CANDIDATE)) else { return false };
        match step {
            HistoryStep::AdvanceItself { by: KeyOrToken::Key, .. }
            | HistoryStep::Password { by: KeyOrToken::Key, .. } => candidate.had_key,
            HistoryStep::AdvanceItself { by: KeyOrToken::Token, .. }
            | HistoryStep::Password { by: KeyOrToken::Token, .. } => candidate.has_token,
            HistoryStep::ReportAgain => model.last_event.is_some(),
            HistoryStep::Save { by, .. } | HistoryStep::Veto { by, .. } => model.evaluators[*by],
            _ => true,
        }
    }

    fn apply(mut model: Self, step: &HistoryStep) -> Self {
        model.steps += 1;
        model.answer = model.run(step).unwrap_or_else(|answer| answer);
        model
    }
}

impl ProjectModel {
    /// The candidates that are not deleted, with their numbers.
    pub(super) fn candidates(&self) -> impl Iterator<Item = (usize, &ModelCandidate)> + Clone {
        self.candidates
            .iter()
            .enumerate()
            .filter_map(|(number, candidate)| Some((number, candidate.as_ref()?)))
    }

    fn interviewed(&self) -> impl Iterator<Item = &ModelCandidate> {
        self.candidates().map(|(_, candidate)| candidate).filter(|candidate| candidate.status == Interviewed)
    }

    fn needed(&self) -> usize {
        let evaluators = self.evaluators.iter().filter(|evaluates| **evaluates).count();
        if self.team_evaluation == 0 { evaluators.max(1) } else { self.team_evaluation }
    }

    /// How many evaluators of today have completed their evaluation of a candidate.
    fn completed(&self, candidate: &ModelCandidate) -> usize {
        (0..3).filter(|by| self.evaluators[*by] && candidate.is_evaluated_by(*by)).count()
    }

    /// Whether an evaluator of today has vetoed a candidate.
    fn is_vetoed(&self, candidate: &ModelCandidate) -> bool {
        (0..3).any(|by| self.evaluators[by] && candidate.vetos[by])
    }

    fn is_evaluated(&self, candidate: &ModelCandidate) -> bool {
        self.is_vetoed(candidate) || self.completed(candidate) >= self.needed()
    }

    pub(super) fn evaluation_status(&self, candidate: &ModelCandidate) -> &'static str {
        match self.completed(candidate) {
            _ if self.is_vetoed(candidate) => "completed",
            0 => "pending",
            count if count < self.needed() => "partial",
            _ => "completed",
        }
    }

    /// How many interviewed candidates are fully evaluated.
    pub(super) fn evaluated(&self) -> usize {
        self.interviewed().filter(|candidate| self.is_evaluated(candidate)).count()
    }

    /// How many interviewed candidates have results.
    pub(super) fn results(&self) -> usize {
        self.interviewed().filter(|candidate| self.completed(candidate) > 0).count()
    }

    fn can_archive(&self) -> bool {
        let is_open =
            |candidate: &ModelCandidate| matches!(candidate.status, Invited | Confirmed | Interviewing);
        !self.candidates().any(|(_, candidate)| is_open(candidate))
            && self.evaluated() == self.interviewed().count()
    }

    /// Whether the owner and the first of the people can evaluate, see results and archive.
    pub(super) fn flags(&self) -> [[bool; 3]; 2] {
        let has_results = self.interviewed().any(|candidate| self.completed(candidate) > 0);
        let first_has_evaluated = self.interviewed().any(|candidate| candidate.is_evaluated_by(0));
        let has_interviewed = self.interviewed().count() > 0;
        let as_evaluator = [has_interviewed, first_has_evaluated, self.can_archive()];
        let as_manager = [false, has_results, self.can_archive()];
        [as_manager, if self.evaluators[0] { as_evaluator } else { as_manager }]
    }

    /// Runs a step. `Err` if the answer refuses it, so that nothing changes.
    fn run(&mut self, step: &HistoryStep) -> Result<StepAnswer, StepAnswer> {
        let now = self.now;
        match *step {
            HistoryStep::Create { has_email } => {
                self.candidates.push(Some(ModelCandidate { has_email, ..NEW_CANDIDATE.clone() }))
            }
            HistoryStep::Email { candidate, has_email } => {
                self.candidate_mut(candidate).set_email(has_email)?
            }
            HistoryStep::Deadline { candidate, deadline } => {
                let deadline = match deadline {
                    DeadlineChange::None => None,
                    DeadlineChange::In(minutes) => Some(now + minutes),
                };
                let candidate = self.candidate_mut(candidate);
                if candidate.status == Interviewing && candidate.deadline.is_some() && deadline.is_none() {
                    return refused("deadline_missing");
                }
                let is_news =
                    candidate.deadline != deadline && deadline.is_none_or(|deadline| deadline > now);
                let takes_mails = candidate.has_email && candidate.erasure_due_at.is_none();
                let is_told = is_news && takes_mails && matches!(candidate.status, Invited | Confirmed);
                if is_told {
                    candidate.count_mail(now)?;
                }
                candidate.deadline = deadline;
                self.mails += usize::from(is_told);
            }
            HistoryStep::Advance { candidate } => self.advance(candidate)?,
            HistoryStep::AdvanceItself { candidate, by } => {
                self.authenticate(candidate, by)?;
                let (is_running, allow_hash_login) = (self.project == RUNNING, self.allow_hash_login);
                self.candidate_mut(candidate).advance_itself(now, is_running, allow_hash_login)?;
            }
            HistoryStep::Password { candidate, by } => {
                self.authenticate(candidate, by)?;
                let candidate = self.candidate_mut(candidate);
                candidate.has_password = true;
                candidate.has_key &= candidate.status == Invited;
                (candidate.has_token, candidate.is_token_valid) = (candidate.has_email, candidate.has_email);
            }
            HistoryStep::Skip { candidate } => self.candidate_mut(candidate).skip()?,
            HistoryStep::Cancel { candidate, notify } => {
                let is_told = self.candidate_mut(candidate).cancel()?;
                self.mails += usize::from(notify && is_told);
            }
            HistoryStep::Remind { candidate } => {
                self.candidate_mut(candidate).remind(now)?;
                self.mails += 1;
            }
            HistoryStep::Delete { candidate } => {
                self.candidate_mut(candidate).require_no_hold(now)?;
                self.candidates[candidate] = None;
            }
            HistoryStep::Hold { candidate, minutes } => {
                self.candidate_mut(candidate).hold = Some(minutes.map(|minutes| now + minutes));
            }
            HistoryStep::Release { candidate } => self.candidate_mut(candidate).release(now)?,
            HistoryStep::RequestErasure { candidate } => {
                self.candidate_mut(candidate).erasure_due_at.get_or_insert(now + 30 * 24 * 60);
            }
            HistoryStep::WithdrawErasure { candidate } => {
                let request = self.candidate_mut(candidate).erasure_due_at.take();
                request.ok_or(StepAnswer::NotFound)?;
            }
            HistoryStep::Wait { minutes } => self.now += minutes,
            HistoryStep::Sweep => return Ok(self.sweep()),
            HistoryStep::Report { candidate, report, minutes_ago } => {
                let event = ReportedEvent { candidate, report, at: now - minutes_ago, is_applied: false };
                return Ok(StepAnswer::Event(self.report(event)));
            }
            HistoryStep::ReportAgain => {
                let event = self.last_event.unwrap();
                return Ok(StepAnswer::Event(if event.is_applied {
                    RecordOutcome::Duplicate
                } else {
                    self.report(event)
                }));
            }
            HistoryStep::Save { candidate, by, completed } => {
                self.candidate_mut(candidate).save(by, completed, now)?;
            }
            HistoryStep::Veto { candidate, by } => {
                self.candidate_mut(candidate).veto(by, now)?;
            }
            HistoryStep::Project { to } => self.move_project(to)?,
            HistoryStep::Evaluators { who } => self.evaluators = who,
        }
        Ok(StepAnswer::Done)
    }

    fn candidate_mut(&mut self, number: usize) -> &mut ModelCandidate {
        self.candidates[number].as_mut().unwrap()
    }

    /// Advances a candidate as its manager.
    fn advance(&mut self, number: usize) -> Result<(), StepAnswer> {
        let (now, is_running, has_period) = (self.now, self.project == RUNNING, self.has_period);
        let candidate = self.candidate_mut(number);
        if !matches!(candidate.status, New | Expired | Aborted) {
            return refused("no_transition");
        }
        if candidate.erasure_due_at.is_some() {
            return refused("erasure_requested");
        }
        let default = (candidate.status == New && has_period).then_some(now + 24 * 60);
        let deadline = candidate.deadline.or(default);
        if !is_running {
            return refused("project_not_running");
        }
        let is_to_be_invited =
            candidate.status == New || (candidate.status == Expired && !candidate.has_password);
        if is_to_be_invited && !candidate.has_email {
            return refused("email_missing");
        }
        match deadline {
            None => return refused("deadline_missing"),
            Some(deadline) if deadline <= now => return refused("deadline_passed"),
            Some(_) => candidate.deadline = deadline,
        }
        if is_to_be_invited {
            candidate.status = Invited;
            candidate.invited_at = Some(now);
            candidate.has_key = true;
        } else {
            candidate.status = Confirmed;
            candidate.confirmed_at = Some(now);
            candidate.has_key = !candidate.has_password;
        }
        candidate.had_key |= candidate.has_key;
        let is_told = usize::from(candidate.has_email);
        self.mails += is_told;
        Ok(())
    }

    /// `Err` if a candidate's key or token is not valid.
    fn authenticate(&mut self, number: usize, by: KeyOrToken) -> Result<(), StepAnswer> {
        let now = self.now;
        let candidate = self.candidate_mut(number);
        let is_authenticated = match by {
            KeyOrToken::Key => candidate.has_key && !candidate.is_overdue(now),
            KeyOrToken::Token => candidate.is_token_valid,
        };
        if is_authenticated { Ok(()) } else { Err(StepAnswer::Unauthenticated) }
    }

    fn sweep(&mut self) -> StepAnswer {
        let now = self.now;
        let (mut expired, mut aborted) = (0, 0);
        for candidate in self.candidates.iter_mut().flatten().filter(|candidate| candidate.is_overdue(now)) {
            candidate.status = match candidate.status {
                Invited | Confirmed => {
                    expired += 1;
                    Expired
                }
                Interviewing => {
                    aborted += 1;
                    Aborted
                }
                _ => continue,
            };
            candidate.end_access();
        }
        StepAnswer::Swept(expired, aborted)
    }

    fn report(&mut self, event: ReportedEvent) -> RecordOutcome {
        let ReportedEvent { candidate, report, at, .. } = event;
        let is_applied =
            self.candidates[candidate].as_mut().is_some_and(|candidate| candidate.apply_report(report, at));
        self.last_event = Some(ReportedEvent { is_applied, ..event });
        if is_applied { RecordOutcome::Applied } else { RecordOutcome::Ignored }
    }

    fn move_project(&mut self, to: &'static str) -> Result<(), StepAnswer> {
        match (self.project, to) {
            (from, to) if from == to => {}
            (CLOSED, DRAFT) => return refused("no_transition"),
            (_, CLOSED) if !self.can_archive() => return refused("cannot_archive"),
            (_, DRAFT) if self.candidates().any(|(_, candidate)| candidate.status != New) => {
                return refused("candidates_not_new");
            }
            _ => self.project = to,
        }
        Ok(())
    }
}
