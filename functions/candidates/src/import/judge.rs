//! The dry run of an import: what would become of each entry, by the same rules, in the order of the list.

use shared::Result;
use shared::domain::candidate::CandidateProfile;
use shared::domain::history::ResourceRef;
use shared::domain::id::CandidateId;
use shared::domain::text::fold_case;
use shared::error::Error;
use shared::store::taken_username;

use super::apply::{ImportContext, ImportEntryResult, with_first_holders};
use super::{ImportAccess, ImportedCandidate, ReadEntry};
use crate::entries::dry_run;

/// Judges all entries as things stand. Returns the results in the order of the entries, and the number of mails to candidates.
pub(super) async fn judge_entries(
    access: &ImportAccess,
    entries: Vec<ReadEntry>,
) -> Result<(Vec<ImportEntryResult>, usize)> {
    let company = access.company_id();
    let project = access.target.project.id;
    let profiles = || entries.iter().filter_map(|entry| Some(&entry.candidate.as_ref().ok()?.profile));
    // What only the transactions of the real run find out.
    let usernames = profiles().filter_map(|profile| profile.username.as_ref());
    let external_ids = profiles().filter_map(|profile| profile.external_id.as_ref());
    let (usernames, holders) = tokio::try_join!(
        access.store.usernames_of_others(company, usernames),
        access.store.candidates_with_external_ids(company, project, external_ids),
    )?;
    let taken = |profile: &CandidateProfile| {
        let is_taken =
            profile.username.as_ref().is_some_and(|name| usernames.contains(&fold_case(name.as_str())));
        if is_taken {
            return Err(taken_username());
        }
        match profile.external_id.as_ref().and_then(|key| holders.get(key)) {
            Some(candidate) => {
                let holder = Some(ResourceRef::Candidate { project, candidate: *candidate });
                Err(Error::ExternalIdTaken { holder, resource_uri: None })
            }
            None => Ok(()),
        }
    };
    let context = ImportContext::new(access);
    let new_id = || -> CandidateId { access.store.next_id(access.now) };
    let judge = |imported: ImportedCandidate| {
        let candidate = context.candidate(new_id(), imported)?;
        taken(&candidate.profile)?;
        Ok(context.advance(&candidate))
    };
    let repeats: Vec<Option<usize>> = entries.iter().map(|entry| entry.repeats).collect();
    let mut mails = 0;
    let mut results = Vec::with_capacity(entries.len());
    for entry in entries {
        results.push(match entry.candidate.and_then(judge) {
            Ok(Ok(change)) => {
                mails += usize::from(dry_run::is_mailed(&change));
                ImportEntryResult::Invited { candidate: None, link: None }
            }
            Ok(Err(refusal)) => ImportEntryResult::New { candidate: None, refusal: Some(refusal) },
            Err(error) => ImportEntryResult::failed(error),
        });
    }
    Ok((with_first_holders(results, &repeats), mails))
}
