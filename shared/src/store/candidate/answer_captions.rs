//! Access patterns of the captions of answers: one item per take and language.

use chrono::{DateTime, Utc};

use crate::domain::answers::{AnswerCaptions, Answers};
use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, ProjectId, TakeRef};
use crate::domain::language::Language;
use crate::error::Result;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::read::query::Query;
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for AnswerCaptions {
    fn key(&self) -> ItemKey {
        let take = TakeRef { question: self.question, number: self.take };
        keys::captions_of_answer(&self.company, self.project, self.candidate, take, self.language)
    }
}

impl Store {
    /// Reads the captions of a take in a language.
    pub async fn answer_captions(
        &self,
        answers: &Answers,
        take: TakeRef,
        language: Language,
    ) -> Result<Option<VersionedItem<AnswerCaptions>>> {
        let Answers { company, project, candidate, .. } = answers;
        self.one(keys::captions_of_answer(company, *project, *candidate, take, language)).await
    }

    /// Stores captions of a take; `after` has their digest. Does nothing if `before` equals `after`. Fails with
    /// [`Error::Changed`](crate::Error::Changed) after a concurrent write of the answers or the candidate.
    pub fn put_answer_captions(
        &self,
        candidate: &VersionedItem<Candidate>,
        before: &VersionedItem<Answers>,
        after: &Answers,
        captions: &AnswerCaptions,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.save_answers(candidate, before, after, now);
        // Write captions only together with the answers: without their digest there, they would outlive their take.
        if **before != *after
            && let Some(item) = transaction.or_fault(item::write(captions, 1))
        {
            transaction.put_derived(captions.key(), item);
        }
        transaction
    }

    /// Deletes the captions of a take in a language; `after` no longer has their digest. Fails like
    /// [`put_answer_captions`](Self::put_answer_captions).
    pub fn delete_answer_captions(
        &self,
        candidate: &VersionedItem<Candidate>,
        before: &VersionedItem<Answers>,
        after: &Answers,
        (take, language): (TakeRef, Language),
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.save_answers(candidate, before, after, now);
        let Answers { company, project, candidate, .. } = after;
        transaction.delete_derived(keys::captions_of_answer(company, *project, *candidate, take, language));
        transaction
    }

    /// Deletes all captions of a take that is no longer kept. Idempotent.
    // No concurrent write can bring captions back: it requires that the answers still have the take.
    pub async fn delete_captions_of_take(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
        take: TakeRef,
    ) -> Result<()> {
        let all = keys::answer_captions(company, project, candidate);
        let query = Query::of(&all).starting_with(keys::captions_of_take(take));
        for key in item::keys_of(&self.query_rows(query, usize::MAX).await?)? {
            self.delete_alone(&key).await?;
        }
        Ok(())
    }
}
