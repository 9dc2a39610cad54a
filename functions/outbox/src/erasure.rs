//! Erases what a deletion has left: evaluations, what the history says, files. Then the candidate's last event tells of it.
//!
//! Each step can be repeated, and each try does all of them: after a restoration, anything may be there again.

use shared::auth::SystemAccess;
use shared::domain::account::Account;
use shared::domain::effect::{Effect, EffectTask};
use shared::domain::erasure::{
    ErasedItem, ErasureCause, ErasureCounts, ErasureDetails, ErasureReason, ErasureRecord,
};
use shared::domain::history::{ResourceChange, ResourceRef};
use shared::domain::id::CompanyId;
use shared::media::{AnswerObjects, ListedObject, files_prefix, video_keys};
use shared::store::{EvaluationKey, VersionedItem};
use shared::{Error, Result};

use crate::outcome::EffectResult;

/// What there is to erase, except the history.
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
        // By prefix, so that files go too that no item names any more.
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
        Ok(true) if settles_at.is_some_and(|at| system.now < at) => {
            Ok((EffectResult::Settling, "files may still arrive".to_owned()))
        }
        Ok(true) => Ok((EffectResult::Deleted, String::new())),
        Ok(false) => Ok((EffectResult::Failed, "more was written in the meantime".to_owned())),
        // The storage is to blame, so this is no try that counts towards giving up.
        Err(error @ Error::Busy(_)) => Ok((EffectResult::Postponed, error.to_string())),
        Err(error) => Err(error),
    }
}

/// Returns false if more was written in the meantime, for example by an upload.
async fn erase_once(
    system: &SystemAccess,
    effect: &mut VersionedItem<Effect>,
    erased: ErasedItem,
    cause: ErasureCause,
) -> Result<bool> {
    let (store, objects, company) = (&system.store, system.objects()?, effect.company.clone());
    let remains = PersonalDataLeft::find(system, &company, erased).await?;
    // Before the first is erased, so that a try that breaks off loses no count.
    let counts = note(system, effect, |counts, found| (counts, found.max(remains.counts()))).await?;
    store.delete_evaluations(&remains.evaluations).await?;
    if let ErasedItem::Candidate { project, candidate } = erased {
        store.delete_answers(&company, project, candidate).await?;
    }
    // Under the moment of this try: what a restored table or bucket brings back was there when it began.
    objects.note_erasure(&ErasureRecord { company: company.clone(), erased, at: system.now }).await?;
    for file in &remains.files {
        objects.delete(&file.key).await?;
    }
    if let ErasedItem::Video { video } = erased {
        // All of them: an attempt at a conversion may have written some.
        for key in video_keys(&company, video) {
            objects.delete(&key).await?;
        }
    }
    // After the files: an entry that this release cannot read ends the try, and must keep nothing else.
    let history = store.strip_history(&company, erased.into()).await?;
    let mut stripped = history.iter().filter(|entry| !entry.is_erasure()).count();
    if let ErasedItem::Candidate { project, candidate } = erased {
        // Each write of the answers has an entry of its own history.
        stripped += store.strip_history(&company, ResourceRef::Interview { project, candidate }).await?.len();
    }
    // An upload that was under way must not outlive its owner.
    let more = PersonalDataLeft::find(system, &company, erased).await?;
    if !more.is_empty() {
        note(system, effect, |counts, found| (counts, found.plus(more.counts()))).await?;
        return Ok(false);
    }
    if cause.settles_at.is_some_and(|at| system.now < at) {
        // A later try finds what has come since.
        note(system, effect, |counts, found| (counts.plus(found), ErasureCounts::default())).await?;
        return Ok(true);
    }
    if let ErasedItem::Candidate { project, .. } = erased
        && !(cause.reason == ErasureReason::Restored && store.is_company_erased(&company).await?)
    {
        // Before the event that tells of the erasure, so that who reads it finds the numbers.
        store.show_erased_ratings(&company, project).await?;
        let details = ErasureDetails {
            reason: cause.reason,
            erased: ErasureCounts { history_entries: stripped, ..counts },
        };
        // The history tells of a deletion that came before this effect, and the record of one that the history has lost.
        let told = history.iter().filter(|entry| entry.is_deletion()).map(|entry| entry.origin.at);
        let known = told.chain(cause.deleted_before).min();
        let deleted_at = known.map_or(effect.created_at, |known| known.min(effect.created_at));
        // Stored, since the operator may change the settings before a receipt is fetched.
        let copies = system.config().copies_kept;
        let change = ResourceChange::of_erasure(&company, erased.into(), details, deleted_at, copies);
        store.end_history(&history, change).await?;
    }
    Ok(true)
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
