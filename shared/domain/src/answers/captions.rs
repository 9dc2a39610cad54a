//! Captions of recorded answers, which companies upload. They belong to a take and are deleted with it.

use serde::{Deserialize, Serialize};

use super::{Answers, NOT_RECORDED, QuestionAnswer};
use crate::Refusal;
use crate::id::{CandidateId, CompanyId, ProjectId, QuestionId, TakeRef};
use crate::language::Language;
use crate::media::captions::CaptionText;
use crate::questionnaire::{Question, QuestionKind};

/// The candidate has not recorded an answer to the question.
pub const NO_TAKE: Refusal =
    Refusal { code: "no_take", detail: "The candidate has not recorded an answer to this question yet." };
/// The captions are for a take that is no longer the answer.
pub const TAKE_REPLACED: Refusal = Refusal {
    code: "take_replaced",
    detail: "Another take is the answer now. Caption that one, and send its number as `take`.",
};

/// The captions of a take in one language, as stored.
// An item of its own: captions are by far the largest part, and as a part of [`Answers`] each write of these would store them again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerCaptions {
    pub company: CompanyId,
    pub project: ProjectId,
    pub candidate: CandidateId,
    pub question: QuestionId,
    /// The number of the take.
    pub take: u32,
    pub language: Language,
    pub text: CaptionText,
}

impl AnswerCaptions {
    /// New captions for a take of `answers`.
    pub fn of(answers: &Answers, take: TakeRef, language: Language, text: CaptionText) -> Self {
        let Answers { company, project, candidate, .. } = answers;
        let TakeRef { question, number } = take;
        let (project, candidate) = (*project, *candidate);
        Self { company: company.clone(), project, candidate, question, take: number, language, text }
    }
}

impl Answers {
    /// The take of a question that gets captions: the one that is the answer. Fails with [`NOT_RECORDED`] or [`NO_TAKE`].
    pub fn captioned_take(&self, question: &Question) -> Result<TakeRef, Refusal> {
        let answer = self.answer_to(question.id);
        if question.kind == QuestionKind::Text || answer.is_some_and(|answer| answer.is_written) {
            return Err(NOT_RECORDED);
        }
        let take = answer.and_then(QuestionAnswer::answer_take).ok_or(NO_TAKE)?;
        Ok(take.reference(question.id))
    }

    /// Records the digest of new captions of a take.
    pub fn with_captions(mut self, take: TakeRef, language: Language, digest: String) -> Self {
        if let Some(answer) = self.questions.get_mut(&take.question) {
            answer.change_captions(take.number, |captions| {
                captions.insert(language, digest);
            });
        }
        self
    }

    /// Removes the record of a take's captions in a language.
    pub fn without_captions(mut self, take: TakeRef, language: Language) -> Self {
        if let Some(answer) = self.questions.get_mut(&take.question) {
            answer.change_captions(take.number, |captions| {
                captions.remove(&language);
            });
        }
        self
    }

    /// The captions of all kept takes: take, language, digest.
    pub fn captions(&self) -> impl Iterator<Item = (TakeRef, Language, &str)> {
        self.takes().flat_map(|(of, take)| {
            take.captions.iter().map(move |(language, digest)| (of, *language, digest.as_str()))
        })
    }

    /// The take whose captions have changed since `before`; `None` also for a take that was dropped with its captions.
    pub(super) fn newly_captioned(&self, before: &Self) -> Option<TakeRef> {
        let changed =
            self.takes().find(|(of, take)| before.take(*of).is_some_and(|was| was.captions != take.captions));
        changed.map(|(of, _)| of)
    }
}
