//! Texts that candidates write: drafts, which are saved while they type, and the answers that they send.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{AnswerText, Answers, QuestionAnswer};
use crate::candidate::Candidate;
use crate::id::{CandidateId, CompanyId, ProjectId, QuestionId};

/// The time between two writes of the draft of one question.
const DRAFT_PACE: TimeDelta = TimeDelta::seconds(2);
/// A request waits longer by its own waiting time divided by this.
const ORDER_SHARE: i32 = 20;

/// The texts of a candidate about a question, as stored: the answer that they have sent, and a draft.
// The text is no part of the answers, which each write of one stores again: texts are by far the largest part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenAnswer {
    pub company: CompanyId,
    pub project: ProjectId,
    pub candidate: CandidateId,
    pub question: QuestionId,
    /// The answer that they have sent; `None` while there is only a draft.
    #[serde(default)]
    pub text: Option<AnswerText>,
    /// The text that they have typed since; `None` before they type.
    #[serde(default)]
    pub draft: Option<Draft>,
}

/// A text that the candidate has not sent as an answer yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// The text; `None` once the candidate has deleted all of it.
    // An empty draft keeps its place, so that the next one is as cheap as any other.
    pub text: Option<AnswerText>,
    /// The number of the question's text that was shown when it was typed.
    #[serde(default)]
    pub wording: usize,
    /// When the request came that brought the text, by the clock that was ahead if it has replaced one that seemed to come later.
    pub received_at: DateTime<Utc>,
    /// When the text was stored.
    pub saved_at: DateTime<Utc>,
}

impl Draft {
    /// When a request that came at `received_at` may replace this draft, which then has been stored for two seconds.
    // The last one of several waiting requests waits least and writes; the others find its text and need not write theirs.
    pub fn replaceable_at(&self, received_at: DateTime<Utc>) -> DateTime<Utc> {
        let at = self.saved_at + DRAFT_PACE;
        at + (at - received_at).max(TimeDelta::zero()) / ORDER_SHARE
    }
}

/// The revision of a draft in its tag: a digest of the text; 0 for no draft.
// A digest instead of a count: a draft that was deleted and typed again in another window is the one that this window knows.
pub fn draft_revision(text: Option<&AnswerText>) -> u64 {
    let Some(text) = text else { return 0 };
    let digest = Sha256::digest(text.to_string());
    let [first, ..] = digest.as_chunks().0 else { return 0 };
    u64::from_be_bytes(*first)
}

impl WrittenAnswer {
    /// No text about a question: neither an answer nor a draft.
    pub fn none(answers: &Answers, question: QuestionId) -> Self {
        let Answers { company, project, candidate, .. } = answers;
        let (project, candidate) = (*project, *candidate);
        Self { company: company.clone(), project, candidate, question, text: None, draft: None }
    }

    /// The text of the draft; `None` without one.
    pub fn draft_text(&self) -> Option<&AnswerText> {
        self.draft.as_ref()?.text.as_ref()
    }
}

/// The texts of a candidate, by question.
pub type WrittenAnswers = BTreeMap<QuestionId, WrittenAnswer>;

impl Answers {
    /// The questions with stored texts: a written answer, a draft, or both.
    pub fn stored_texts(&self) -> impl Iterator<Item = QuestionId> {
        let has_text = |answer: &QuestionAnswer| answer.is_written || answer.has_draft;
        self.questions.iter().filter(move |(_, answer)| has_text(answer)).map(|(question, _)| *question)
    }

    /// The questions with a draft, be it empty.
    pub fn drafts(&self) -> impl Iterator<Item = QuestionId> {
        self.questions.iter().filter(|(_, answer)| answer.has_draft).map(|(question, _)| *question)
    }

    /// Begins the draft of a question.
    pub fn begin_draft(mut self, question: QuestionId) -> Self {
        self.questions.entry(question).or_default().has_draft = true;
        self
    }

    /// Ends all drafts, which are among the `written` texts: drafts of unanswered questions become answers, the others are dropped.
    /// Returns the answers and the texts that are left.
    // A draft beside an answer replaces it only if the candidate sends it.
    pub fn end_drafts<'a>(
        mut self,
        written: impl IntoIterator<Item = &'a WrittenAnswer>,
    ) -> (Self, WrittenAnswers) {
        let mut left = WrittenAnswers::new();
        for one in written {
            let unanswered = self.questions.get_mut(&one.question).filter(|answer| !answer.is_answered());
            let sent = unanswered.and_then(|answer| {
                let draft = one.draft.as_ref()?;
                let text = draft.text.as_ref()?;
                answer.write(draft.wording);
                Some(text)
            });
            let text = one.text.as_ref().or(sent).cloned();
            if text.is_some() {
                left.insert(one.question, WrittenAnswer { text, draft: None, ..one.clone() });
            }
        }
        self.questions.values_mut().for_each(|answer| answer.has_draft = false);
        (self, left)
    }

    /// Drops all drafts, which are among the `written` texts. Returns the answers and the texts that are left.
    pub fn drop_drafts<'a>(
        mut self,
        written: impl IntoIterator<Item = &'a WrittenAnswer>,
    ) -> (Self, WrittenAnswers) {
        let sent = written.into_iter().filter(|one| one.text.is_some());
        let left = sent.map(|one| (one.question, WrittenAnswer { draft: None, ..one.clone() })).collect();
        self.questions.values_mut().for_each(|answer| answer.has_draft = false);
        (self, left)
    }
}

impl Candidate {
    /// Whether drafts count as answers at `now`, because the time of the interview is over. The end of the interview stores them as
    /// answers.
    pub fn has_final_drafts(&self, now: DateTime<Utc>) -> bool {
        self.is_in_interview() && self.ends_at().is_some_and(|end| end <= now)
    }
}
