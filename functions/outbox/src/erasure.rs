//! Erases what a deletion has left: evaluations, data in the history, files. Then the candidate's last event reports
//! the erasure.
//!
//! Attempts are idempotent, and each attempt does all steps, because a restore may bring anything back. An attempt
//! erases a limited number of entries and files, because the other effects of its batch wait for it; the next attempt
//! continues.

use chrono::{DateTime, Utc};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use shared::auth::SystemAccess;
use shared::domain::account::Account;
use shared::domain::effect::{Effect, EffectTask};
use shared::domain::history::erasure::{
    ErasedItem, ErasureCause, ErasureCounts, ErasureDetails, ErasureReason, ErasureRecord,
};
use shared::domain::history::{ResourceChange, ResourceRef};
use shared::domain::id::CompanyId;
use shared::media::{AnswerObjects, ListedObject, export_prefix, files_prefix, video_keys};
use shared::store::{EvaluationKey, StrippedHistory, VersionedItem};
use shared::{Error, Result};

use crate::outcome::EffectResult;

/// The maximum number of history entries that an attempt strips, and of files that it deletes.
const MAX_PER_TRY: usize = 2_000;
/// The number of files that are deleted concurrently.
const AT_ONCE: usize = 16;

/// The outcome of an attempt.
enum TryEnd {
    /// Nothing is left.
    Complete,
    /// The attempt has reached its limit, and more is left.
    HasMore,
    /// More data arrived in the meantime, for example by an upload.
    MoreCame,
}

/// The personal data that is still stored, without the history.
#[derive(Default)]
struct PersonalDataLeft {
    evaluations: Vec<EvaluationKey>,
    files: Vec<ListedObject>,
}

impl PersonalDataLeft {
    async fn find(system: &SystemAccess, company: &CompanyId, erased: ErasedItem) -> Result<Self> {
        let (evaluations, owner, parts) = match erased {
            ErasedItem::Candidate { project, candidate } => {
                let evaluations = system.store.evaluation_keys(company, project, candidate).await?;
                let answers = AnswerObjects { company: company.clone(), project, candidate };
                let parts = vec![answers.all_parts(), answers.all_markers()];
                (evaluations, Account::Candidate { project, candidate }, parts)
            }
            ErasedItem::Customer { customer } => (Vec::new(), Account::Customer { customer }, Vec::new()),
            // The keys of a video's files follow from its identifier, and a company has no files of its own.
            ErasedItem::Video { .. } | ErasedItem::Company => return Ok(Self::default()),
        };
        // List files by prefix, to include files that no item refers to.
        let objects = system.objects()?;
        let mut files = objects.list(&files_prefix(company, owner)).await?;
        for prefix in parts {
            files.extend(objects.list(&prefix).await?);
        }
        Ok(Self { evaluations, files })
    }

    fn counts(&self) -> ErasureCounts {
        ErasureCounts {
            evaluations: self.evaluations.len(),
            files: self.files.len(),
            bytes: self.files.iter().map(|file| file.bytes).sum(),
            ..ErasureCounts::default()
        }
    }

    fn is_empty(&self) -> bool {
        self.evaluations.is_empty() && self.files.is_empty()
    }
}

/// Runs the task [`EffectTask::Erased`] of an effect, and records the counts in the effect.
pub(crate) async fn erase(
    system: &SystemAccess,
    effect: &mut VersionedItem<Effect>,
) -> Result<(EffectResult, String)> {
    let EffectTask::Erased { erased, reason, deleted_before, settles_at, .. } = effect.task else {
        return Err(Error::internal("an effect of another task"));
    };
    let cause = ErasureCause { reason, deleted_before, settles_at };
    if let ErasedItem::Candidate { project, candidate } = erased
        && system.store.candidate(&effect.company, project, candidate).await?.is_some()
    {
        // The deletion was a mistake, and the operator has restored the candidate.
        return Ok((EffectResult::Outdated, "the candidate exists".to_owned()));
    }
    match erase_once(system, effect, erased, cause).await {
        // Everything is erased, but more may still arrive.
        Ok(TryEnd::Complete) if settles_at.is_some_and(|at| system.now < at) => {
            Ok((EffectResult::Settling, "files may still arrive".to_owned()))
        }
        Ok(TryEnd::Complete) => Ok((EffectResult::Deleted, String::new())),
        Ok(TryEnd::HasMore) => Ok((EffectResult::Continued, "more is left to erase".to_owned())),
        Ok(TryEnd::MoreCame) => Ok((EffectResult::Failed, "more was written in the meantime".to_owned())),
        // The storage is at fault, so the attempt does not count towards giving up.
        Err(error @ Error::Busy(_)) => Ok((EffectResult::Postponed, error.to_string())),
        Err(error) => Err(error),
    }
}

async fn erase_once(
    system: &SystemAccess,
    effect: &mut VersionedItem<Effect>,
    erased: ErasedItem,
    cause: ErasureCause,
) -> Result<TryEnd> {
    let store = &system.store;
    let objects = system.objects()?;
    let company = effect.company.clone();
    // Withdraw exports first: otherwise they could still be downloaded with the data that is erased next.
    withdraw_exports(system, &company, erased, effect.created_at).await?;
    let remains = PersonalDataLeft::find(system, &company, erased).await?;
    // Record the counts before erasing anything, so that an interrupted attempt loses none.
    let counts = note(system, effect, |counts, found| (counts, found.max(remains.counts()))).await?;
    store.delete_evaluations(&remains.evaluations).await?;
    if let ErasedItem::Candidate { project, candidate } = erased {
        store.delete_answers(&company, project, candidate).await?;
        store.delete_guest_links(&company, project, candidate).await?;
    }
    // Record the erasure with the time of this attempt: whatever a restored table or bucket may bring back existed when
    // the attempt began.
    objects.note_erasure(&ErasureRecord { company: company.clone(), erased, at: system.now }).await?;
    let keys: Vec<String> = remains.files.iter().take(MAX_PER_TRY).map(|file| file.key.clone()).collect();
    let bucket = &objects;
    let deletions = keys.into_iter().map(|key| async move { bucket.delete(&key).await });
    stream::iter(deletions).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    if remains.files.len() > MAX_PER_TRY {
        return Ok(TryEnd::HasMore);
    }
    if let ErasedItem::Video { video } = erased {
        // Delete all possible keys: an attempt to convert the video may have written some of them.
        for key in video_keys(&company, video) {
            objects.delete(&key).await?;
        }
    }
    // Strip the history after deleting files: an entry that this release cannot read ends the attempt, and must not
    // protect files.
    let history = store.strip_history(&company, erased.into(), MAX_PER_TRY, system.now).await?;
    let StrippedHistory { mut entries, mut stripped, mut has_more, .. } = history;
    if let ErasedItem::Candidate { project, candidate } = erased
        && !has_more
    {
        // Writes of the answers are recorded in the interview's own history.
        let interview = ResourceRef::Interview { project, candidate };
        let answered = store.strip_history(&company, interview, MAX_PER_TRY - stripped, system.now).await?;
        entries += answered.entries;
        stripped += answered.stripped;
        has_more = answered.has_more;
    }
    if has_more {
        return Ok(TryEnd::HasMore);
    }
    // Withdraw exports again: an export that began in the meantime may have read entries before they were stripped. The
    // last attempt after the settling time skips this if it has stripped nothing.
    let is_last_look = cause.settles_at.is_some_and(|at| system.now >= at);
    if !is_last_look || stripped > 0 {
        withdraw_exports(system, &company, erased, system.now).await?;
    }
    // Check again: an upload in progress must not outlive its owner.
    let more = PersonalDataLeft::find(system, &company, erased).await?;
    if !more.is_empty() {
        note(system, effect, |counts, found| (counts, found.plus(more.counts()))).await?;
        return Ok(TryEnd::MoreCame);
    }
    if cause.settles_at.is_some_and(|at| system.now < at) {
        // A later attempt erases what arrives until then.
        note(system, effect, |counts, found| (counts.plus(found), ErasureCounts::default())).await?;
        return Ok(TryEnd::Complete);
    }
    if let ErasedItem::Candidate { project, .. } = erased
        && !(cause.reason == ErasureReason::Restored && store.is_company_erased(&company).await?)
    {
        // Publish the ratings before the event that reports the erasure, so that readers of the event find the numbers.
        store.show_erased_ratings(&company, project).await?;
        let details = ErasureDetails {
            reason: cause.reason,
            erased: ErasureCounts { history_entries: entries, ..counts },
        };
        // Use the earliest known deletion: the history knows one before this effect, the ledger one that the history
        // has lost.
        let known = history.deleted_at.into_iter().chain(cause.deleted_before).min();
        let deleted_at = known.map_or(effect.created_at, |known| known.min(effect.created_at));
        // Stored in the event, because the operator may change the settings before a receipt is fetched.
        let copies = system.config().copies_kept;
        let change = ResourceChange::of_erasure(&company, erased.into(), details, deleted_at, copies);
        store.end_history(&history, change).await?;
    }
    Ok(TryEnd::Complete)
}

/// Withdraws the company's exports that may contain an item that was deleted at `gone_at`, and deletes their files.
async fn withdraw_exports(
    system: &SystemAccess,
    company: &CompanyId,
    erased: ErasedItem,
    gone_at: DateTime<Utc>,
) -> Result<()> {
    for export in system.store.withdraw_exports(company, erased, gone_at, system.now).await? {
        system.objects()?.delete_all(&export_prefix(company, export)).await?;
    }
    Ok(())
}

/// Changes the counts in the effect: those of complete attempts, and those found since then. Returns their sum.
async fn note(
    system: &SystemAccess,
    effect: &mut VersionedItem<Effect>,
    change: impl FnOnce(ErasureCounts, ErasureCounts) -> (ErasureCounts, ErasureCounts),
) -> Result<ErasureCounts> {
    let mut after = Effect::clone(effect);
    let EffectTask::Erased { counts, found, .. } = &mut after.task else {
        return Err(Error::internal("an effect of another task"));
    };
    (*counts, *found) = change(*counts, *found);
    let all = counts.plus(*found);
    if after != **effect {
        *effect = system.store.update_effect(effect, after).await?;
    }
    Ok(all)
}
