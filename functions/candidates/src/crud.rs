//! Creates, reads, changes and deletes candidates.

use axum::Json;
use shared::auth::access::Admitted;
use shared::domain::candidate::{Candidate, MANAGER_CONFIRMS};
use shared::domain::history::erasure::ErasureReason;
use shared::domain::policy::{CallerRelation, ChangeCandidate, ChangeProject, ReadCandidate};
use shared::domain::project::Project;
use shared::domain::transition::CandidateChange;
use shared::http::WithFiles;
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent};
use shared::http::view::CandidateView;
use shared::{Error, Result};

use crate::changes::{CandidateFiles, read_adjustments, read_changes, read_new, read_own};
use crate::view::view;

const NO_LOGIN_NAME: &str =
    "There is no email address or user name to log in with. The key opens the interview.";

/// POST …/candidates/
pub(crate) async fn create(
    access: Admitted<Project, ChangeProject>,
    WithFiles(mut body): WithFiles,
) -> Result<CommittedResponse<Created<CandidateView>>> {
    // No check of the project's status: managers add candidates to a draft before it runs. Only later steps depend on
    // it.
    let files = CandidateFiles::read(&mut body, |_| None);
    let profile = read_new(body, access.now)?;
    let id = access.store.next_id(access.now);
    let by = access.caller.customer();
    let mut candidate =
        Candidate::new(id, access.company_id().clone(), access.target.project.id, profile, by);
    files.apply_to(&mut candidate, &access).await?;
    let change = CandidateChange::from(candidate);
    let candidate = &change.candidate;
    let viewer =
        access.candidate_viewer(&access.target.relation, &access.target.project, [candidate]).await?;
    let created = Created(CandidateView::new(candidate, &viewer));
    let writes = access.store.create_candidate(&change, access.now);
    // If the identifier is taken, the error may name its holder: managers see all candidates of the project.
    access.commit(writes, created).await.map_err(|error| access.name_holder(error))
}

/// GET …/candidates/{candidateId}/
pub(crate) async fn read(
    access: Admitted<Candidate, ReadCandidate>,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    access.show(view(&access, &access.target.candidate).await?)
}

/// PATCH …/candidates/{candidateId}/
pub(crate) async fn update(
    access: Admitted<Candidate, ChangeCandidate>,
    WithFiles(mut body): WithFiles,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let before = &access.target.candidate;
    let to_change = access.target.to_change(access.now)?;
    let mut after = to_change.clone();
    let references = access.references();
    let files = CandidateFiles::read(&mut body, |kind| {
        Some(references.files(access.company_id(), before.account(), kind))
    });
    match access.target.relation {
        CallerRelation::ThisCandidate => {
            let (password, changes) = read_own(body)?;
            changes.apply_to(&mut after.profile);
            if let Some(password) = password {
                if !before.has_login_name() {
                    return Err(Error::field("password", NO_LOGIN_NAME));
                }
                after = after.with_password(access.hash_for(before, password).await?);
            }
        }
        _ => {
            let adjustments = read_adjustments(&mut body)?;
            let (changes, confirms_email) = read_changes(body, access.now)?;
            // Clients may send back the address that they have read, so only an address that differs from the shown one
            // is a change.
            after.profile.email = before.shown_email().cloned();
            changes.apply_to(&mut after.profile);
            let email = std::mem::replace(&mut after.profile.email, before.profile.email.clone());
            if email.as_ref() != before.shown_email() || confirms_email && email != before.profile.email {
                let is_answered_for = confirms_email && access.caller.staff_in_person().is_some();
                if (confirms_email || before.loses_address(email.as_ref())) && !is_answered_for {
                    return Err(Error::Forbidden(MANAGER_CONFIRMS));
                }
                after = after.with_email(email, confirms_email, access.now)?;
            }
            after.adjustments = adjustments.unwrap_or(after.adjustments);
            if after.misses_mails(before) {
                return Err(Error::field("email", "Required if `receive_mails` is true."));
            }
        }
    }
    files.apply_to(&mut after, &access).await?;
    if after == to_change {
        return access.show(view(&access, before).await?);
    }
    let reminder_days = &access.target.project.settings.reminder_days;
    let key = if after.moves_from(before) {
        Some(access.new_access_key(access.target.project.id, before.id).await?)
    } else {
        None
    };
    let change = after.after_change(before, reminder_days, access.now, key)?;
    let shown = Json(view(&access, &change.candidate).await?);
    let writes = access.store.change_candidate(before, &change, access.now);
    access.commit(writes, shown).await.map_err(|error| access.name_holder(error))
}

/// DELETE …/candidates/{candidateId}/
pub(crate) async fn delete(
    access: Admitted<Candidate, ChangeProject>,
) -> Result<CommittedResponse<NoContent>> {
    let candidate = &access.target.candidate;
    let reason = match candidate.erasure_request {
        Some(_) => ErasureReason::Requested,
        None => ErasureReason::Deleted,
    };
    access.commit(access.store.delete_candidate(candidate, reason, access.now)?, NoContent).await
}
