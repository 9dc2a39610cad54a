//! Creates the candidates of an import, in one transaction each.

use std::collections::HashMap;

use shared::domain::Refusal;
use shared::domain::candidate::Candidate;
use shared::domain::history::ChangeAuthor;
use shared::domain::id::CandidateId;
use shared::domain::privacy::consent::ConsentProblem;
use shared::domain::transition::{Actor, AdvanceTerms, CandidateChange, PROJECT_NOT_RUNNING};
use shared::http::RequestAttempt;
use shared::{Error, Result};

use super::holders::{ExternalIdHolders, add_links};
use super::result::ImportEntryResult;
use super::{ImportAccess, ImportedCandidate, ReadEntry};
use crate::entries::lanes::{EntryOutcome, LaneEntry, do_in_lanes};

/// Creates the candidates of all valid entries. Returns the results in the order of the entries.
pub(super) async fn apply_entries(
    access: &ImportAccess,
    entries: Vec<ReadEntry>,
    attempt: &RequestAttempt,
) -> Result<Vec<ImportEntryResult>> {
    let count = entries.len();
    let repeats: Vec<Option<usize>> = entries.iter().map(|entry| entry.repeats).collect();
    // Read keys before candidates, so that the candidates include all that an earlier attempt at this request has
    // created.
    let holders = ExternalIdHolders::read(access, &entries).await?;
    // Only a resumed request can have created candidates already.
    let valid = entries.iter().enumerate().filter(|(_, entry)| attempt.is_resumed && entry.candidate.is_ok());
    let created = valid.map(|(index, _)| attempt.ids.id(index));
    let created: HashMap<CandidateId, _> =
        attempt.store.candidates(access.company_id(), access.target.project.id, created).await?;
    let context = ImportContext::new(access);
    // Finish entries without a write at once: they must not wait for up to a thousand paced entries.
    let (mut settled, mut open) = (Vec::new(), Vec::new());
    for (index, ReadEntry { candidate: imported, .. }) in entries.into_iter().enumerate() {
        let id = attempt.ids.id(index);
        match (imported, created.get(&id)) {
            (Err(error), _) => settled.push((index, ImportEntryResult::failed(error))),
            (Ok(_), Some(candidate)) => settled.push((index, context.result_of(candidate).await?)),
            (Ok(imported), None) => match context.new_candidate(id, imported, &holders) {
                Ok(candidate) => open.push(LaneEntry { index, candidate: id, work: candidate }),
                Err(error) => settled.push((index, ImportEntryResult::failed(error))),
            },
        }
    }
    let create = |entry: LaneEntry<Candidate>| context.create(attempt, entry.work);
    let done = do_in_lanes(access, open, create).await.into_iter().map(|(index, outcome)| {
        let result = match outcome {
            EntryOutcome::Done(result) => result,
            EntryOutcome::Failed(error) => ImportEntryResult::failed(error),
            EntryOutcome::Pending => ImportEntryResult::Pending,
        };
        (index, result)
    });
    settled.extend(done);
    settled.sort_by_key(|(index, _)| *index);
    assert_eq!(settled.len(), count, "every entry has a result");
    let results = settled.into_iter().map(|(_, result)| result).collect();
    with_holders(access, results, &repeats).await
}

/// Completes the results of entries whose `external_id` is taken, also by an earlier entry: adds the candidate who has
/// it, and their link.
pub(super) async fn with_holders(
    access: &ImportAccess,
    results: Vec<ImportEntryResult>,
    repeats: &[Option<usize>],
) -> Result<Vec<ImportEntryResult>> {
    let mut results = with_first_holders(results, repeats);
    add_links(access, &mut results).await?;
    Ok(results)
}

fn with_first_holders(
    mut results: Vec<ImportEntryResult>,
    repeats: &[Option<usize>],
) -> Vec<ImportEntryResult> {
    for (index, first) in repeats.iter().enumerate().filter_map(|(index, first)| Some((index, (*first)?))) {
        let holder = results[first].candidate();
        if let ImportEntryResult::Failed(Error::Fields(errors)) = &mut results[index] {
            let errors = std::mem::take(errors);
            results[index] = ImportEntryResult::KeyTaken { errors, holder, link: None };
        }
    }
    results
}

pub(super) struct ImportContext<'a> {
    access: &'a ImportAccess,
    terms: AdvanceTerms,
}

impl<'a> ImportContext<'a> {
    pub(super) fn new(access: &'a ImportAccess) -> Self {
        Self { access, terms: AdvanceTerms::of(&access.target.project, &access.target.company) }
    }

    /// Creates a candidate, and invites them if possible.
    async fn create(&self, attempt: &RequestAttempt, candidate: Candidate) -> Result<ImportEntryResult> {
        let id = candidate.id;
        self.try_to_create(attempt, candidate).await.inspect_err(|error| {
            if error.status().is_server_error() {
                tracing::warn!(target: "import", candidate = %id, %error, "an entry was not done");
            }
        })
    }

    async fn try_to_create(
        &self,
        attempt: &RequestAttempt,
        candidate: Candidate,
    ) -> Result<ImportEntryResult> {
        let id = candidate.id;
        let refusal = match self.advance(&candidate).await? {
            Ok(change) => {
                // Make the result before the write: otherwise a written entry might be reported as failed.
                let result = self.result_of(&change.candidate).await?;
                match self.commit(attempt, &change).await {
                    Ok(()) => return Ok(result),
                    // The project was read at the beginning of the request and may have stopped since.
                    Err(Error::Refused(PROJECT_NOT_RUNNING)) => PROJECT_NOT_RUNNING,
                    Err(error) => return self.result_if_created(attempt, id, error).await,
                }
            }
            Err(refusal) => refusal,
        };
        match self.commit(attempt, &CandidateChange::from(candidate)).await {
            Ok(()) => Ok(ImportEntryResult::New { candidate: Some(id), refusal: Some(refusal) }),
            Err(error) => self.result_if_created(attempt, id, error).await,
        }
    }

    /// The new candidate of an entry, with the imported consents. Fails with [`Error::ExternalIdTaken`] if one of
    /// `holders` has the entry's key.
    pub(super) fn new_candidate(
        &self,
        id: CandidateId,
        imported: ImportedCandidate,
        holders: &ExternalIdHolders,
    ) -> Result<Candidate> {
        let company = self.access.company_id().clone();
        let project = self.access.target.project.id;
        let ImportedCandidate { profile, consents } = imported;
        let mut candidate = Candidate::new(id, company, project, profile, self.access.caller.customer());
        let register = &self.access.target.company.legal;
        let now = self.access.now;
        let by = ChangeAuthor::from(self.access.caller.principal());
        for (index, consent) in consents.into_iter().enumerate() {
            let recorded = candidate.with_consent(consent, register, by, now);
            candidate = recorded.map_err(|ConsentProblem { field, message }| {
                Error::field(&format!("consents[{index}].{field}"), message)
            })?;
        }
        holders.refuse_taken(&candidate.profile)?;
        Ok(candidate)
    }

    async fn commit(&self, attempt: &RequestAttempt, change: &CandidateChange) -> Result<()> {
        attempt.commit(attempt.store.create_candidate(change, self.access.now)).await
    }

    /// The result if a concurrent retry of this request has created the candidate; otherwise `error`.
    async fn result_if_created(
        &self,
        attempt: &RequestAttempt,
        id: CandidateId,
        error: Error,
    ) -> Result<ImportEntryResult> {
        let Error::Changed = error else { return Err(error) };
        let found = attempt.store.candidates(self.access.company_id(), self.access.target.project.id, [id]);
        match found.await?.get(&id) {
            Some(candidate) => self.result_of(candidate).await,
            None => Err(error),
        }
    }

    async fn result_of(&self, candidate: &Candidate) -> Result<ImportEntryResult> {
        let id = Some(candidate.id);
        Ok(match candidate.invited_at {
            Some(_) => {
                let keys = self.access.store.open_access_keys([candidate]).await?;
                let project = &self.access.target.project;
                let link = self.access.references().interview_url(candidate, project, &keys);
                ImportEntryResult::Invited { candidate: id, link }
            }
            None => ImportEntryResult::New { candidate: id, refusal: self.advance(candidate).await?.err() },
        })
    }

    /// The change that invites a candidate, or the reason why they cannot be invited.
    pub(super) async fn advance(&self, candidate: &Candidate) -> Result<Result<CandidateChange, Refusal>> {
        let key = self.access.new_access_key(candidate.project, candidate.id).await?;
        Ok(candidate.clone().advance(Actor::Manager, &self.terms, self.access.now, key))
    }
}
