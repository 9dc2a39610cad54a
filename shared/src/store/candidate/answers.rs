//! Access patterns of answers: all answers of a candidate are one item, which is missing until the first take or text. The
//! texts have an item each.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::TryStreamExt as _;

use crate::domain::answers::{AnswerText, Answers, WrittenAnswer};
use crate::domain::candidate::{Candidate, CandidateStatus};
use crate::domain::effect::Effect;
use crate::domain::history::ResourceChange;
use crate::domain::id::{CandidateId, CompanyId, ProjectId, QuestionId};
use crate::domain::project::Project;
use crate::domain::questionnaire::Questionnaire;
use crate::domain::transition::CandidateChange;
use crate::error::Result;
use crate::store::due::DueQueue;
use crate::store::table::item::{self, DueEntry, StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::write::transaction::Transaction;
use crate::store::{RetryPolicy, Store};

/// Longer than any conversion may wait.
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
    /// Reads the answers of a candidate; `None` before the first take or text.
    pub async fn answers(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<Option<VersionedItem<Answers>>> {
        self.one(keys::answers(company, project, candidate)).await
    }

    /// Reads the written answers to these questions of `answers`, by question. Fails with [`Error::Unreadable`](crate::Error::Unreadable) if one cannot be
    /// read.
    // After the answers, never at once: a text may then be newer than what the tag of a response says, but not older, so that
    // no client keeps an old text under a new tag. One that was reset in between is missing.
    pub async fn answer_texts(
        &self,
        answers: &Answers,
        questions: impl IntoIterator<Item = QuestionId>,
    ) -> Result<BTreeMap<QuestionId, AnswerText>> {
        let Answers { company, project, candidate, .. } = answers;
        let key = |question| keys::written_answer(company, *project, *candidate, question);
        let questions: Vec<QuestionId> = questions.into_iter().collect();
        let mut batch = self.get(questions.iter().map(|question| key(*question))).await?;
        let mut texts = BTreeMap::new();
        for question in questions {
            if let Some(written) = batch.take::<WrittenAnswer>(&key(question))? {
                texts.insert(question, written.text.clone());
            }
        }
        Ok(texts)
    }

    /// Reads the questions of a candidate's project, and what the candidate has answered.
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

    /// Retries failed and doubtful conversions in a project, and returns their number. Fails with [`Error::Unreadable`](crate::Error::Unreadable) if
    /// answers cannot be read.
    pub async fn retry_conversions(
        &self,
        company: &CompanyId,
        project: ProjectId,
        now: DateTime<Utc>,
    ) -> Result<usize> {
        let all = keys::all_answers(company, project);
        let mut retried = 0;
        for found in self.all_wanted(all, |answers: &Answers| answers.to_retry(now).next().is_some()).await? {
            // The candidate may go on, or be deleted.
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

    /// Restarts the conversions that had begun or waited at the moment that the table was restored to, and
    /// returns their number. Fails with [`Error::Unreadable`](crate::Error::Unreadable) if answers cannot be read.
    // What was to start them then is done, and a restore keeps that.
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

    /// Deletes the answers of a candidate who is deleted. Idempotent.
    pub async fn delete_answers(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<()> {
        // All that there are: a restored table may hold texts that the answers do not name.
        let texts = self.all_items(&keys::written_answers(company, project, candidate)).await?;
        let mut transaction = self.transaction();
        // At most one for each question, so one transaction takes them all.
        for key in item::keys_of(&texts)? {
            transaction.delete_derived(key);
        }
        transaction.delete_derived(keys::answers(company, project, candidate));
        self.commit(transaction).await
    }

    /// Ends the interview of a candidate by this change, with the answers that they have given until then. Fails with
    /// [`Error::Changed`](crate::Error::Changed) after a concurrent write of either.
    pub fn end_interview(
        &self,
        candidate: &VersionedItem<Candidate>,
        change: &CandidateChange,
        answers: &VersionedItem<Answers>,
        closed: &Answers,
        now: DateTime<Utc>,
    ) -> Transaction {
        self.change_candidate(candidate, change, now).with_final_answers(answers, closed, now)
    }

    /// Replaces `before` by `after`, or creates it. Fails with [`Error::Changed`](crate::Error::Changed) also after a concurrent write of the
    /// candidate, who may have left the interview.
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

    /// Replaces `before` by `after`, which has the `written` answer. Fails like [`save_answers`](Self::save_answers).
    pub fn save_written_answer(
        &self,
        candidate: &VersionedItem<Candidate>,
        before: &VersionedItem<Answers>,
        after: &Answers,
        written: &WrittenAnswer,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.save_answers(candidate, before, after, now);
        // Its version is that of the answers, and the transaction depends on the answers' version.
        if let Some(item) = transaction.or_fault(item::write(written, before.version() + 1)) {
            transaction.put_derived(written.key(), item);
        }
        transaction
    }

    /// Moves a candidate by `change`. Fails with [`Error::Changed`](crate::Error::Changed) after a concurrent write of the project or its questions if the
    /// candidate begins, and of their answers if they complete the interview.
    pub fn advance_candidate(
        &self,
        before: &VersionedItem<Candidate>,
        change: &CandidateChange,
        project: &VersionedItem<Project>,
        answers: &VersionedItem<Answers>,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.change_candidate(before, change, now);
        match change.candidate.status {
            // Both decide whether this service conducts the interview, and a write of the questions is one of the project.
            CandidateStatus::Interviewing => transaction.require_unchanged(project),
            CandidateStatus::Interviewed => transaction.require_unchanged(answers),
            _ => {}
        }
        transaction
    }

    /// Replaces `before` by `after`, or creates it, whatever the candidate does meanwhile.
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

impl Transaction {
    /// Also saves the answers that a candidate has given until their interview ended. Fails with [`Error::Changed`](crate::Error::Changed) after a
    /// concurrent write of them.
    pub fn with_final_answers(
        mut self,
        before: &VersionedItem<Answers>,
        closed: &Answers,
        now: DateTime<Utc>,
    ) -> Self {
        if **before == *closed {
            self.require_unchanged(before);
        }
        self.answers(before, closed, now);
        self
    }

    /// Replaces `before` by `after`, or creates it, and records the effects.
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
        let is_reset =
            |question: &QuestionId| after.answer_to(*question).is_none_or(|answer| !answer.is_written);
        for question in before.written().filter(is_reset) {
            let Answers { company, project, candidate, .. } = after;
            self.delete_derived(keys::written_answer(company, *project, *candidate, question));
        }
        for effect in Effect::of_answers(before, after, before.version() + 1, now) {
            self.effect(Some(effect));
        }
    }
}
