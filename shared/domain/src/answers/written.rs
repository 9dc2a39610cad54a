//! Texts that candidates write: drafts, which are saved while they type, and answers, which they send.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{AnswerText, Answers, QuestionAnswer};
use crate::candidate::Candidate;
use crate::id::{CandidateId, CompanyId, ProjectId, QuestionId};

/// The minimum time between two writes of a question's draft.
const DRAFT_PACE: TimeDelta = TimeDelta::seconds(2);
/// A waiting request waits longer by its waiting time divided by this, so that the latest request writes first.
const ORDER_SHARE: i32 = 20;

/// A candidate's texts for a question, as stored: the answer that they have sent, and a draft.
// Not a part of [`Answers`]: texts are by far the largest part, and each write of one answer would store all of them again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenAnswer {
    pub company: CompanyId,
    pub project: ProjectId,
    pub candidate: CandidateId,
    pub question: QuestionId,
    /// The answer that the candidate has sent; `None` while there is only a draft.
    #[serde(default)]
    pub text: Option<AnswerText>,
    /// The text that the candidate has typed since they sent an answer; `None` before they type.
    #[serde(default)]
    pub draft: Option<Draft>,
}

/// A text that the candidate has not sent as an answer yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// The text; `None` once the candidate has deleted all of it.
    // An empty draft stays stored, so that the next write of a draft costs no more than any other.
    pub text: Option<AnswerText>,
    /// The wording of the question (the number of its text) shown while the candidate typed.
    #[serde(default)]
    pub wording: usize,
    /// When the request with the text arrived. If the text replaced one that seems to have arrived later, the later time, because
    /// clocks differ.
    pub received_at: DateTime<Utc>,
    /// When the text was stored.
    pub saved_at: DateTime<Utc>,
}

impl Draft {
    /// When a request that arrived at `received_at` may replace this draft: at the earliest two seconds after the draft was stored.
    // The latest of several waiting requests waits least and writes first. The others then find its text and need not write theirs.
    pub fn replaceable_at(&self, received_at: DateTime<Utc>) -> DateTime<Utc> {
        let at = self.saved_at + DRAFT_PACE;
        at + (at - received_at).max(TimeDelta::zero()) / ORDER_SHARE
    }
}

/// The revision of a draft for its `ETag`: a digest of the text; 0 without a draft.
// A digest instead of a counter: if another window deletes the draft and types the same text again, this window still knows it.
pub fn draft_revision(text: Option<&AnswerText>) -> u64 {
    let Some(text) = text else { return 0 };
    let digest = Sha256::digest(text.to_string());
    let [first, ..] = digest.as_chunks().0 else { return 0 };
    u64::from_be_bytes(*first)
}

impl WrittenAnswer {
    /// A stored item without an answer or a draft.
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

    /// The questions with a draft, possibly an empty one.
    pub fn drafts(&self) -> impl Iterator<Item = QuestionId> {
        self.questions.iter().filter(|(_, answer)| answer.has_draft).map(|(question, _)| *question)
    }

    /// Records that a question has a draft.
    pub fn begin_draft(mut self, question: QuestionId) -> Self {
        self.questions.entry(question).or_default().has_draft = true;
        self
    }

    /// Ends all drafts, which are among the `written` texts. Drafts of unanswered questions become answers, other drafts are
    /// dropped. Returns the answers and the remaining texts.
    // If the question has an answer, only sending the draft would replace it.
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

    /// Drops all drafts, which are among the `written` texts. Returns the answers and the remaining texts.
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
    /// Whether drafts count as answers at `now`, because the time of the interview is over. They are stored as answers when the
    /// interview ends.
    pub fn has_final_drafts(&self, now: DateTime<Utc>) -> bool {
        self.is_in_interview() && self.ends_at().is_some_and(|end| end <= now)
    }
}
