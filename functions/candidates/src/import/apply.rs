//! Creating the candidates of an import, each in one transaction.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use futures_util::future::join_all;
use shared::domain::Refusal;
use shared::domain::candidate::Candidate;
use shared::domain::history::{ChangeAuthor, ResourceRef};
use shared::domain::id::CandidateId;
use shared::domain::privacy::consent::ConsentProblem;
use shared::domain::transition::project_counts::{SHARDS, shard_of};
use shared::domain::transition::{Actor, AdvanceTerms, CandidateChange, PROJECT_NOT_RUNNING};
use shared::http::IdempotentRun;
use shared::http::body::import::TIME_LIMIT;
use shared::http::wire::Uri;
use shared::store::VersionedItem;
use shared::{Error, Result};
use tokio::time::{MissedTickBehavior, interval};

use super::entry::taken_external_id;
use super::{ImportAccess, ImportedCandidate, ReadEntry};

/// How many entries are begun per second.
// Each writes four units to the partition of its project, which takes 1,000 per second, and about 30 to the table, which
// takes 4,000 when it is new. The rest is left to other requests.
const PER_SECOND: u32 = 100;

pub(super) enum ImportEntryResult {
    /// The candidate was created and invited, with the link to the interview while it is open.
    Invited(CandidateId, Option<Uri>),
    /// The candidate was created but not invited, for this reason; `None` if an invitation has become possible since.
    New(CandidateId, Option<Refusal>),
    /// The entry has no candidate. If another candidate has its `external_id`, that is the holder.
    Failed { error: Error, holder: Option<CandidateId> },
    /// There was no time.
    Pending,
}

impl ImportEntryResult {
    fn failed(error: Error) -> Self {
        match error {
            Error::ExternalIdTaken { holder, .. } => {
                let holder = match holder {
                    Some(ResourceRef::Candidate { candidate, .. }) => Some(candidate),
                    _ => None,
                };
                Self::Failed { error: Error::Fields(taken_external_id()), holder }
            }
            error => Self::Failed { error, holder: None },
        }
    }

    /// The candidate of the entry, or the one that has its `external_id`.
    pub(super) fn candidate(&self) -> Option<CandidateId> {
        match self {
            Self::Invited(id, _) | Self::New(id, _) => Some(*id),
            Self::Failed { holder, .. } => *holder,
            Self::Pending => None,
        }
    }

    /// Whether the same entry may succeed at another time.
    pub(super) fn may_succeed_later(&self) -> bool {
        match self {
            Self::Invited(..) | Self::New(..) => false,
            Self::Pending => true,
            Self::Failed { error, .. } => error.status().is_server_error(),
        }
    }
}

/// An entry with its place in the list, and the identifier of its candidate.
struct ImportEntry {
    index: usize,
    id: CandidateId,
    imported: Result<ImportedCandidate>,
}

/// Creates the candidates of all valid entries. Returns the results in the order of the entries.
pub(super) async fn apply_entries(
    access: &ImportAccess,
    entries: Vec<ReadEntry>,
    run: &IdempotentRun,
) -> Result<Vec<ImportEntryResult>> {
    let mut lanes: [Vec<ImportEntry>; SHARDS as usize] = Default::default();
    let mut repeated = Vec::new();
    for (index, ReadEntry { candidate, repeats }) in entries.into_iter().enumerate() {
        let id = run.ids.id(index);
        lanes[usize::from(shard_of(id))].push(ImportEntry { index, id, imported: candidate });
        repeated.extend(repeats.map(|first| (index, first)));
    }
    // Only an earlier run of the same request can have created any.
    let valid = lanes.iter().flatten().filter(|entry| run.is_resumed && entry.imported.is_ok());
    let created = valid.map(|entry| entry.id);
    let created = run.store.candidates(access.company_id(), access.target.project.id, created).await?;
    let terms = AdvanceTerms::of(&access.target.project, &access.target.company);
    let context = ImportContext { access, run, terms, created };
    let results = join_all(lanes.map(|lane| context.create_in_turn(lane))).await;
    let mut results: Vec<_> =
        results.into_iter().flatten().collect::<BTreeMap<_, _>>().into_values().collect();
    for (index, first) in repeated {
        let has_key = results[first].candidate();
        if let ImportEntryResult::Failed { holder, .. } = &mut results[index] {
            *holder = has_key;
        }
    }
    Ok(results)
}

/// What all entries have in common.
struct ImportContext<'a> {
    access: &'a ImportAccess,
    run: &'a IdempotentRun,
    terms: AdvanceTerms,
    /// The candidates that an earlier run of the same request has created.
    created: HashMap<CandidateId, VersionedItem<Candidate>>,
}

impl ImportContext<'_> {
    /// Creates the candidates of one shard of the counts. Returns the results by index.
    async fn create_in_turn(&self, entries: Vec<ImportEntry>) -> Vec<(usize, ImportEntryResult)> {
        // One after the other, so that no two transactions under way count in the same shard and conflict.
        let mut pace = interval(Duration::from_secs(1) * u32::from(SHARDS) / PER_SECOND);
        // A late entry must not be made up for by a burst.
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut results = Vec::with_capacity(entries.len());
        for ImportEntry { index, id, imported } in entries {
            let result = match imported {
                Err(error) => ImportEntryResult::failed(error),
                Ok(_) if self.access.age() >= TIME_LIMIT => ImportEntryResult::Pending,
                Ok(imported) => {
                    pace.tick().await;
                    self.create(id, imported).await.unwrap_or_else(ImportEntryResult::failed)
                }
            };
            if let ImportEntryResult::Failed { error, .. } = &result
                && error.status().is_server_error()
            {
                tracing::warn!(target: "import", candidate = %id, %error, "an entry was not done");
            }
            results.push((index, result));
        }
        results
    }

    /// Creates a candidate, invited if possible. One that exists stays as it is.
    async fn create(&self, id: CandidateId, imported: ImportedCandidate) -> Result<ImportEntryResult> {
        if let Some(candidate) = self.created.get(&id) {
            return Ok(self.result_of(candidate));
        }
        let candidate = self.candidate(id, imported)?;
        let refusal = match self.advance(&candidate) {
            Ok(change) => match self.commit(&change).await {
                Ok(()) => return Ok(self.result_of(&change.candidate)),
                // The project was read when the request began, and may have stopped since.
                Err(Error::Refused(PROJECT_NOT_RUNNING)) => PROJECT_NOT_RUNNING,
                Err(error) => return self.result_if_created(id, error).await,
            },
            Err(refusal) => refusal,
        };
        match self.commit(&CandidateChange::from(candidate)).await {
            Ok(()) => Ok(ImportEntryResult::New(id, Some(refusal))),
            Err(error) => self.result_if_created(id, error).await,
        }
    }

    /// The candidate of an entry, with the consents that it brings.
    fn candidate(&self, id: CandidateId, imported: ImportedCandidate) -> Result<Candidate> {
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
        Ok(candidate)
    }

    async fn commit(&self, change: &CandidateChange) -> Result<()> {
        self.run.commit(self.run.store.create_candidate(change, self.access.now)).await
    }

    /// The result if a concurrent retry of this request has created the candidate; otherwise fails with `error`.
    async fn result_if_created(&self, id: CandidateId, error: Error) -> Result<ImportEntryResult> {
        let Error::Changed = error else { return Err(error) };
        let found =
            self.run.store.candidates(self.access.company_id(), self.access.target.project.id, [id]).await?;
        found.get(&id).map(|candidate| self.result_of(candidate)).ok_or(error)
    }

    fn result_of(&self, candidate: &Candidate) -> ImportEntryResult {
        match candidate.invited_at {
            Some(_) => {
                let link = self.access.references().interview_url(candidate, &self.access.target.project);
                ImportEntryResult::Invited(candidate.id, link)
            }
            None => ImportEntryResult::New(candidate.id, self.advance(candidate).err()),
        }
    }

    fn advance(&self, candidate: &Candidate) -> Result<CandidateChange, Refusal> {
        let key = self.access.new_access_key(candidate.project, candidate.id);
        candidate.clone().advance(Actor::Manager, &self.terms, self.access.now, key)
    }
}
