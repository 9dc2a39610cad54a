//! The dry run of an import: predicts each entry's result, with the same rules and in the same order.

use shared::Result;
use shared::domain::id::CandidateId;
use shared::domain::text::fold_case;
use shared::store::taken_username;

use super::apply::{ImportContext, with_holders};
use super::holders::ExternalIdHolders;
use super::result::ImportEntryResult;
use super::{ImportAccess, ImportedCandidate, ReadEntry};
use crate::entries::dry_run;

/// Predicts the results of all entries, in their order, and the number of mails to candidates.
pub(super) async fn judge_entries(
    access: &ImportAccess,
    entries: Vec<ReadEntry>,
) -> Result<(Vec<ImportEntryResult>, usize)> {
    // A real import notices taken user names and keys when a transaction fails; a dry run must read them.
    let profiles = entries.iter().filter_map(|entry| Some(&entry.candidate.as_ref().ok()?.profile));
    let usernames = profiles.filter_map(|profile| profile.username.as_ref());
    let (usernames, holders) = tokio::try_join!(
        access.store.usernames_of_others(access.company_id(), usernames),
        ExternalIdHolders::read(access, &entries),
    )?;
    let context = ImportContext::new(access);
    let new_id = || -> CandidateId { access.store.next_id(access.now) };
    let judge = async |imported: Result<ImportedCandidate>| {
        let candidate = context.new_candidate(new_id(), imported?, &holders)?;
        let username = candidate.profile.username.as_ref();
        if username.is_some_and(|name| usernames.contains(&fold_case(name.as_str()))) {
            return Err(taken_username());
        }
        context.advance(&candidate).await
    };
    let repeats: Vec<Option<usize>> = entries.iter().map(|entry| entry.repeats).collect();
    let mut mails = 0;
    let mut results = Vec::with_capacity(entries.len());
    for entry in entries {
        results.push(match judge(entry.candidate).await {
            Ok(Ok(change)) => {
                mails += usize::from(dry_run::is_mailed(&change));
                ImportEntryResult::Invited { candidate: None, link: None }
            }
            Ok(Err(refusal)) => ImportEntryResult::New { candidate: None, refusal: Some(refusal) },
            Err(error) => ImportEntryResult::failed(error),
        });
    }
    Ok((with_holders(access, results, &repeats).await?, mails))
}
