//! Access patterns of answers. All answers of a candidate are one item, which is missing until the first take, text or
//! draft. For each question, the written answer and its draft are an item of their own.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::TryStreamExt as _;

use crate::domain::answers::{Answers, WrittenAnswer, WrittenAnswers};
use crate::domain::candidate::{Candidate, CandidateStatus};
use crate::domain::effect::Effect;
use crate::domain::history::ResourceChange;
use crate::domain::id::{CandidateId, CompanyId, ProjectId, QuestionId};
use crate::domain::project::Project;
use crate::domain::questionnaire::Questionnaire;
use crate::domain::transition::CandidateChange;
use crate::error::{Error, Result};
use crate::store::due::DueQueue;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, DueEntry, StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::retry::RetryPolicy;
use crate::store::table::write::transaction::Transaction;

/// How far ahead of `now` to look for due answers: longer than any conversion may wait.
const AHEAD: TimeDelta = TimeDelta::days(1);

impl StoredEntity for Answers {
    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        Self::change_between(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::answers(&self.company, self.project, self.candidate)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let shard = DueQueue::Answers.shard_of(self.candidate);
        self.due_at().map(|at| DueEntry { shard, at, company: &self.company })
    }
}

impl StoredEntity for WrittenAnswer {
    fn key(&self) -> ItemKey {
        keys::written_answer(&self.company, self.project, self.candidate, self.question)
    }
}

impl Store {
    /// Reads the answers of a candidate; `None` before the first take, text or draft.
    pub async fn answers(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<Option<VersionedItem<Answers>>> {
        self.one(keys::answers(company, project, candidate)).await
    }

    /// Reads the answers of these candidates of a project. Candidates without answers are missing.
    pub async fn answers_of(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidates: impl IntoIterator<Item = CandidateId>,
    ) -> Result<HashMap<CandidateId, Answers>> {
        let key = |candidate| keys::answers(company, project, candidate);
        let candidates: Vec<CandidateId> = candidates.into_iter().collect();
        let mut batch = self.get(candidates.iter().map(|candidate| key(*candidate))).await?;
        let mut all = HashMap::new();
        for candidate in candidates {
            if let Some(answers) = batch.take::<Answers>(&key(candidate))? {
                all.insert(candidate, Answers::clone(&answers));
            }
        }
        Ok(all)
    }

    /// Reads the candidate's written answers and drafts for these questions of `answers`, by question. Fails with
    /// [`Error::Unreadable`] if one cannot be read.
    // Read texts after the answers, never together with them: a text may then be newer than the `ETag` of the response,
    // but never older, so that no client keeps an old text under a new tag. A text that was reset in between is
    // missing.
    pub async fn written_answers(
        &self,
        answers: &Answers,
        questions: impl IntoIterator<Item = QuestionId>,
    ) -> Result<BTreeMap<QuestionId, VersionedItem<WrittenAnswer>>> {
        let Answers { company, project, candidate, .. } = answers;
        let key = |question| keys::written_answer(company, *project, *candidate, question);
        let questions: Vec<QuestionId> = questions.into_iter().collect();
        let mut batch = self.get(questions.iter().map(|question| key(*question))).await?;
        let mut texts = BTreeMap::new();
        for question in questions {
            if let Some(written) = batch.take::<WrittenAnswer>(&key(question))? {
                texts.insert(question, written);
            }
        }
        Ok(texts)
    }

    /// Reads the part of a candidate's answers that `reader` may see at `now`. Until the time of the interview is over,
    /// only the candidate sees drafts; afterwards, drafts of unanswered questions count as answers. Fails like
    /// [`written_answers`](Self::written_answers).
    pub async fn shown_answers(
        &self,
        candidate: &Candidate,
        answers: &Answers,
        reader: AnswerReader,
        now: DateTime<Utc>,
    ) -> Result<ShownAnswers> {
        let AnswerReader { is_this_candidate, only } = reader;
        let has_ended = candidate.has_final_drafts(now);
        let is_read = |question: &QuestionId| {
            let sees_text = is_this_candidate
                || has_ended
                || answers.answer_to(*question).is_some_and(|answer| answer.is_written);
            sees_text && only.is_none_or(|only| only == *question)
        };
        let read = self.written_answers(answers, answers.stored_texts().filter(is_read)).await?;
        let mut written: WrittenAnswers =
            read.into_iter().map(|(question, answer)| (question, WrittenAnswer::clone(&answer))).collect();
        let mut answers = answers.clone();
        if has_ended {
            (answers, written) = answers.end_drafts(written.values());
        } else if !is_this_candidate {
            written.values_mut().for_each(|answer| answer.draft = None);
        }
        Ok(ShownAnswers { answers, written })
    }

    /// Ends the drafts of `answers`, as [`Answers::end_drafts`] does: those of unanswered questions become answers, the others are dropped.
    pub async fn end_drafts(&self, answers: Answers) -> Result<FinalAnswers> {
        let written = self.written_answers(&answers, answers.drafts()).await?;
        let (answers, left) = answers.end_drafts(written.values().map(|answer| &**answer));
        Ok(FinalAnswers { answers, written: written.into_values().collect(), left })
    }

    /// Drops the drafts of `answers`, as [`Answers::drop_drafts`] does.
    pub async fn drop_drafts(&self, answers: Answers) -> Result<FinalAnswers> {
        let written = self.written_answers(&answers, answers.drafts()).await?;
        let (answers, left) = answers.drop_drafts(written.values().map(|one| &**one));
        Ok(FinalAnswers { answers, written: written.into_values().collect(), left })
    }

    /// Reads the questions of a candidate's project and the candidate's answers.
    pub async fn interview_of(
        &self,
        candidate: &Candidate,
    ) -> Result<(VersionedItem<Questionnaire>, VersionedItem<Answers>)> {
        let Candidate { company, project, id, .. } = candidate;
        let questionnaire = keys::questionnaire(company, *project);
        let answers = keys::answers(company, *project, *id);
        let mut batch = self.get([questionnaire.clone(), answers.clone()]).await?;
        let questionnaire = batch.take(&questionnaire)?;
        let answers = batch.take(&answers)?;
        Ok((
            questionnaire
                .unwrap_or_else(|| VersionedItem::not_stored(Questionnaire::new(company.clone(), *project))),
            answers.unwrap_or_else(|| VersionedItem::not_stored(Answers::of(candidate))),
        ))
    }

    /// Retries failed and doubtful conversions in a project, and returns their number. Fails with [`Error::Unreadable`]
    /// if any answers cannot be read.
    pub async fn retry_conversions(
        &self,
        company: &CompanyId,
        project: ProjectId,
        now: DateTime<Utc>,
    ) -> Result<usize> {
        let all = keys::all_answers(company, project);
        let mut retried = 0;
        for found in self.all_wanted(all, |answers: &Answers| answers.to_retry(now).next().is_some()).await? {
            // The candidate may continue the interview, or be deleted, in the meantime.
            let retry = async || {
                let Some(before) = self.answers(company, project, found.candidate).await? else {
                    return Ok(0);
                };
                let after = Answers::clone(&before).retry_conversions(now);
                self.commit(self.update_answers(&before, &after, now)).await?;
                Ok(before.to_retry(now).count())
            };
            retried += self.retry_on_conflict(RetryPolicy::CHANGE, retry).await?;
        }
        Ok(retried)
    }

    /// Restarts the conversions that were running or waiting at the moment to which the table was restored, and returns
    /// their number. Fails with [`Error::Unreadable`] if any answers cannot be read.
    // The effects that start these conversions have already run, and a restore does not run them again.
    pub async fn restart_conversions(&self, now: DateTime<Utc>) -> Result<usize> {
        let mut restarted = 0;
        let mut due = self.due_answers(now + AHEAD);
        while let Some(page) = due.try_next().await? {
            for found in page {
                let restart = async || {
                    let Answers { company, project, candidate, .. } = &*found;
                    let Some(before) = self.answers(company, *project, *candidate).await? else {
                        return Ok(0);
                    };
                    let (after, count) = Answers::clone(&before).restart_conversions(now);
                    self.commit(self.update_answers(&before, &after, now)).await?;
                    Ok(count)
                };
                restarted += self.retry_on_conflict(RetryPolicy::CHANGE, restart).await?;
            }
        }
        Ok(restarted)
    }

    /// Deletes all answers of a deleted candidate. Idempotent.
    pub async fn delete_answers(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<()> {
        // Delete every text in the table: after a restore, there may be texts that the answers do not name.
        let texts = self.all_items(&keys::written_answers(company, project, candidate)).await?;
        let mut transaction = self.transaction();
        // One transaction is enough for all texts: each question has at most one.
        for key in item::keys_of(&texts)? {
            transaction.delete_derived(key);
        }
        transaction.delete_derived(keys::answers(company, project, candidate));
        self.commit(transaction).await?;
        self.delete_collection(&keys::answer_captions(company, project, candidate)).await.map(drop)
    }

    /// Ends the interview of a candidate by `change`, with the answers that they have given so far. Fails with
    /// [`Error::Changed`] after a concurrent write of the candidate, the answers or a draft.
    pub fn end_interview(
        &self,
        candidate: &VersionedItem<Candidate>,
        change: &CandidateChange,
        answers: &VersionedItem<Answers>,
        ended: &FinalAnswers,
        now: DateTime<Utc>,
    ) -> Transaction {
        self.change_candidate(candidate, change, now).with_final_answers(answers, ended, now)
    }

    /// Replaces `before` by `after`, or creates it. Fails with [`Error::Changed`] also after a concurrent write of the
    /// candidate, because it may have ended the interview.
    pub fn save_answers(
        &self,
        candidate: &VersionedItem<Candidate>,
        before: &VersionedItem<Answers>,
        after: &Answers,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.update_answers(before, after, now);
        if **before != *after {
            transaction.require_unchanged(candidate);
        }
        transaction
    }

    /// Replaces `before` by `after`, and saves `written`: an answer, or the first draft of one. Fails like
    /// [`save_answers`](Self::save_answers), and with [`Error::Changed`] after a concurrent write of `former`.
    pub fn save_written_answer(
        &self,
        candidate: &VersionedItem<Candidate>,
        before: &VersionedItem<Answers>,
        after: &Answers,
        (former, written): (&VersionedItem<WrittenAnswer>, &WrittenAnswer),
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.save_answers(candidate, before, after, now);
        transaction.save(former, written);
        transaction
    }

    /// Replaces `before` by `after`, in which `question` was reset, and deletes its written answer and draft. Fails
    /// like [`save_answers`](Self::save_answers).
    pub fn reset_answer(
        &self,
        candidate: &VersionedItem<Candidate>,
        before: &VersionedItem<Answers>,
        after: &Answers,
        question: QuestionId,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.save_answers(candidate, before, after, now);
        if before.stored_texts().any(|stored| stored == question) {
            let Answers { company, project, candidate, .. } = after;
            transaction.delete_derived(keys::written_answer(company, *project, *candidate, question));
        }
        transaction
    }

    /// Replaces a draft. Fails with [`Error::Changed`] after a concurrent write of the draft, also if that ended the interview.
    // A single write costs half as much as a transaction, and is safe: every write that ends drafts also writes their items.
    pub async fn replace_draft(
        &self,
        before: &VersionedItem<WrittenAnswer>,
        after: &WrittenAnswer,
    ) -> Result<()> {
        let Err(error) = self.replace(before, after.clone()).await else { return Ok(()) };
        let Error::Changed = error else { return Err(error) };
        // The first attempt may have succeeded although its response was lost.
        let stored: Option<VersionedItem<WrittenAnswer>> = self.one(before.key()).await?;
        if stored.is_some_and(|stored| *stored == *after) { Ok(()) } else { Err(Error::Changed) }
    }

    /// Moves a candidate by `change`, which must not end an interview: use [`end_interview`](Self::end_interview) for
    /// that. If the candidate begins, fails with [`Error::Changed`] after a concurrent write of the project or its
    /// questions.
    pub fn advance_candidate(
        &self,
        before: &VersionedItem<Candidate>,
        change: &CandidateChange,
        project: &VersionedItem<Project>,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.change_candidate(before, change, now);
        // Project and questions decide whether this service conducts the interview. Each write of the questions also writes the project.
        if change.candidate.status == CandidateStatus::Interviewing {
            transaction.require_unchanged(project);
        }
        transaction
    }

    /// Replaces `before` by `after`, or creates it, regardless of concurrent writes of the candidate.
    pub fn update_answers(
        &self,
        before: &VersionedItem<Answers>,
        after: &Answers,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.answers(before, after, now);
        transaction
    }
}

/// A caller who reads answers.
#[derive(Debug, Clone, Copy)]
pub struct AnswerReader {
    /// Whether the caller is the candidate.
    pub is_this_candidate: bool,
    /// The only question whose answer the caller reads; `None` for all.
    pub only: Option<QuestionId>,
}

/// The answers of a candidate as a caller sees them.
pub struct ShownAnswers {
    pub answers: Answers,
    /// The written answers and drafts of the questions that the caller reads.
    pub written: WrittenAnswers,
}

/// The answers at the end of an interview.
pub struct FinalAnswers {
    /// The answers, including those that were drafts.
    pub answers: Answers,
    /// The items of texts that had a draft.
    written: Vec<VersionedItem<WrittenAnswer>>,
    /// The new content of those items, by question; the others are deleted.
    left: WrittenAnswers,
}

impl Transaction {
    /// Also saves the answers at the end of an interview. Fails with [`Error::Changed`] after a concurrent write of the
    /// answers or of a draft.
    pub fn with_final_answers(
        mut self,
        before: &VersionedItem<Answers>,
        ended: &FinalAnswers,
        now: DateTime<Utc>,
    ) -> Self {
        if **before == ended.answers {
            self.require_unchanged(before);
        }
        self.answers(before, &ended.answers, now);
        for written in &ended.written {
            match ended.left.get(&written.question) {
                Some(left) => self.replace(written, left),
                None => self.delete(written),
            }
        }
        self
    }

    /// Replaces `before` by `after`, or creates it, and records the resulting effects.
    pub(in crate::store) fn answers(
        &mut self,
        before: &VersionedItem<Answers>,
        after: &Answers,
        now: DateTime<Utc>,
    ) {
        if **before == *after {
            return;
        }
        self.save(before, after);
        for effect in Effect::of_answers(before, after, before.version() + 1, now) {
            self.effect(Some(effect));
        }
    }
}
