//! A candidate's photo and CV: redirects from the URLs in the candidate's view, and direct uploads of large files.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, FileAccess, FileRedirect, UploadTarget};
use shared::domain::candidate::Candidate;
use shared::domain::media::file::FileKind;
use shared::domain::policy::{ChangeCandidate, ReadCandidate};
use shared::http::exchange::respond::{CommittedResponse, Created};
use shared::http::view::UploadView;
use shared::http::{BodyFields, read_announcement};
use shared::media::file_name;

/// GET …/candidates/{candidateId}/photo/{token}/
pub(crate) async fn photo(access: FileAccess<Candidate, ReadCandidate>) -> Result<FileRedirect> {
    access.redirect(access.target.candidate.photo, None).await
}

/// GET …/candidates/{candidateId}/cv/{token}/
pub(crate) async fn cv(access: FileAccess<Candidate, ReadCandidate>) -> Result<FileRedirect> {
    let candidate = &access.target.candidate;
    let profile = &candidate.profile;
    let name = format!("{} {} CV", profile.first_name, profile.last_name);
    let name = candidate.cv.map(|cv| file_name(&name, cv));
    access.redirect(candidate.cv, name.as_deref()).await
}

/// POST …/candidates/{candidateId}/uploads/
pub(crate) async fn announce(
    access: Admitted<Candidate, ChangeCandidate>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<UploadView>>> {
    let before = &access.target.candidate;
    let after = access.target.to_change(access.now)?;
    let (kind, announced) = read_announcement(body, &[FileKind::Photo, FileKind::Cv])?;
    let owner = before.account();
    let (upload, signed) = access.files()?.announce(owner, kind, announced).await?;
    let view = UploadView::new(&upload, access.references()).with_request(&upload, signed);
    let created = Created(view);
    access.commit(access.store.announce_candidate_file(&upload, before, &after, access.now), created).await
}

/// GET …/candidates/{candidateId}/uploads/{uploadId}/
pub(crate) async fn upload(
    access: Admitted<UploadTarget<Candidate>, ChangeCandidate>,
) -> Result<CommittedResponse<Json<UploadView>>> {
    access.show(UploadView::new(&access.target.upload, access.references()))
}
