//! Erases what a deletion has left: evaluations, what the history says, files. Then the candidate's last event tells of it.
//!
//! Each step can be repeated, and each try does all of them: after a restoration, anything may be there again. But a try writes
//! and deletes a limited number of entries and files, since the rest of its batch waits for it: the next one continues.

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

/// The most entries of a history that a try strips, and the most files that it deletes.
const MOST: usize = 2_000;
/// The files that are deleted at once.
const AT_ONCE: usize = 16;

/// The outcome of a try.
enum TryEnd {
    /// Nothing is left.
    Complete,
    /// The try has deleted its share, and more is left.
    HasMore,
    /// More was written in the meantime, for example by an upload.
    MoreCame,
}

/// The personal data that is still stored, except the history.
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
            // The keys of a video's files follow from its identifier. A company has none of its own.
            ErasedItem::Video { .. } | ErasedItem::Company => return Ok(Self::default()),
        };
        // Files are listed by prefix, so that those go too that no item names any more.
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

/// Does the task [`EffectTask::Erased`] of an effect, and notes in the effect what it finds.
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
        // The operator has brought them back, since the deletion was a mistake.
        return Ok((EffectResult::Outdated, "the candidate exists".to_owned()));
    }
    match erase_once(system, effect, erased, cause).await {
        // Everything is gone, but more may come.
        Ok(TryEnd::Complete) if settles_at.is_some_and(|at| system.now < at) => {
            Ok((EffectResult::Settling, "files may still arrive".to_owned()))
        }
        Ok(TryEnd::Complete) => Ok((EffectResult::Deleted, String::new())),
        Ok(TryEnd::HasMore) => Ok((EffectResult::Continued, "more is left to erase".to_owned())),
        Ok(TryEnd::MoreCame) => Ok((EffectResult::Failed, "more was written in the meantime".to_owned())),
        // The storage is to blame, so this is no try that counts towards giving up.
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
    // First: whatever downloads an export could otherwise get what is erased next.
    withdraw_exports(system, &company, erased, effect.created_at).await?;
    let remains = PersonalDataLeft::find(system, &company, erased).await?;
    // The counts are noted before the first item is erased, so that a try that breaks off loses none.
    let counts = note(system, effect, |counts, found| (counts, found.max(remains.counts()))).await?;
    store.delete_evaluations(&remains.evaluations).await?;
    if let ErasedItem::Candidate { project, candidate } = erased {
        store.delete_answers(&company, project, candidate).await?;
        store.delete_guest_links(&company, project, candidate).await?;
    }
    // Under the moment of this try: what a restored table or bucket brings back was there when it began.
    objects.note_erasure(&ErasureRecord { company: company.clone(), erased, at: system.now }).await?;
    let keys: Vec<String> = remains.files.iter().take(MOST).map(|file| file.key.clone()).collect();
    let bucket = &objects;
    let deletions = keys.into_iter().map(|key| async move { bucket.delete(&key).await });
    stream::iter(deletions).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    if remains.files.len() > MOST {
        return Ok(TryEnd::HasMore);
    }
    if let ErasedItem::Video { video } = erased {
        // All of them: an attempt at a conversion may have written some.
        for key in video_keys(&company, video) {
            objects.delete(&key).await?;
        }
    }
    // The history comes after the files: an entry that this release cannot read ends the try, and must keep nothing else.
    let history = store.strip_history(&company, erased.into(), MOST, system.now).await?;
    let StrippedHistory { mut entries, mut stripped, mut has_more, .. } = history;
    if let ErasedItem::Candidate { project, candidate } = erased
        && !has_more
    {
        // Each write of the answers has an entry of its own history.
        let interview = ResourceRef::Interview { project, candidate };
        let answered = store.strip_history(&company, interview, MOST - stripped, system.now).await?;
        entries += answered.entries;
        stripped += answered.stripped;
        has_more = answered.has_more;
    }
    if has_more {
        return Ok(TryEnd::HasMore);
    }
    // Exports are withdrawn once more, since one that has begun in the meantime may have read entries before they were stripped.
    // The last look, at files that may still have come, usually strips none.
    let is_last_look = cause.settles_at.is_some_and(|at| system.now >= at);
    if !is_last_look || stripped > 0 {
        withdraw_exports(system, &company, erased, system.now).await?;
    }
    // An upload that was under way must not outlive its owner.
    let more = PersonalDataLeft::find(system, &company, erased).await?;
    if !more.is_empty() {
        note(system, effect, |counts, found| (counts, found.plus(more.counts()))).await?;
        return Ok(TryEnd::MoreCame);
    }
    if cause.settles_at.is_some_and(|at| system.now < at) {
        // A later try finds what has come since.
        note(system, effect, |counts, found| (counts.plus(found), ErasureCounts::default())).await?;
        return Ok(TryEnd::Complete);
    }
    if let ErasedItem::Candidate { project, .. } = erased
        && !(cause.reason == ErasureReason::Restored && store.is_company_erased(&company).await?)
    {
        // The ratings come before the event that tells of the erasure, so that its readers find the numbers.
        store.show_erased_ratings(&company, project).await?;
        let details = ErasureDetails {
            reason: cause.reason,
            erased: ErasureCounts { history_entries: entries, ..counts },
        };
        // The history tells of a deletion that came before this effect, and the record of one that the history has lost.
        let known = history.deleted_at.into_iter().chain(cause.deleted_before).min();
        let deleted_at = known.map_or(effect.created_at, |known| known.min(effect.created_at));
        // Stored, since the operator may change the settings before a receipt is fetched.
        let copies = system.config().copies_kept;
        let change = ResourceChange::of_erasure(&company, erased.into(), details, deleted_at, copies);
        store.end_history(&history, change).await?;
    }
    Ok(TryEnd::Complete)
}

/// Withdraws the exports of the company that may hold data of an item that was gone at `gone_at`, and deletes their files.
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

/// Changes what the effect notes of complete tries, and what of the tries since then. Returns both together.
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
