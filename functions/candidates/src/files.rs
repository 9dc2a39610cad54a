//! A candidate's photo and CV: fetched by the addresses that the candidate shows, put into the bucket when large.

use axum::Json;
use shared::Result;
use shared::auth::guard::{ByAddress, OnCandidate, OnUpload, Redirect};
use shared::auth::policy::{ChangeCandidate, ReadCandidate};
use shared::domain::file::FileKind;
use shared::http::respond::Created;
use shared::http::view::UploadView;
use shared::http::{Fields, read_announcement};
use shared::media::file_name;

/// GET …/candidates/{candidateId}/photo/{token}/
pub(crate) async fn photo(guard: ByAddress<OnCandidate<ReadCandidate>>) -> Result<Redirect> {
    guard.open(guard.candidate.photo, None).await
}

/// GET …/candidates/{candidateId}/cv/{token}/
pub(crate) async fn cv(guard: ByAddress<OnCandidate<ReadCandidate>>) -> Result<Redirect> {
    let profile = &guard.candidate.profile;
    let name = format!("{} {} CV", profile.first_name, profile.last_name);
    let name = guard.candidate.cv.map(|cv| file_name(&name, cv));
    guard.open(guard.candidate.cv, name.as_deref()).await
}

/// POST …/candidates/{candidateId}/uploads/
pub(crate) async fn announce(
    guard: OnCandidate<ChangeCandidate>,
    body: Fields,
) -> Result<Created<UploadView>> {
    let (kind, announced) = read_announcement(body, &[FileKind::Photo, FileKind::Cv])?;
    let owner = guard.candidate.owner();
    let (upload, signed) = guard.begin_upload(owner, kind, announced).await?;
    let view = UploadView::new(&upload, guard.references()).with_request(&upload, signed);
    Ok(Created(guard.references().upload(guard.company(), owner, upload.id), view))
}

/// GET …/candidates/{candidateId}/uploads/{uploadId}/
pub(crate) async fn upload(guard: OnUpload<OnCandidate<ChangeCandidate>>) -> Json<UploadView> {
    Json(UploadView::new(&guard.upload, guard.references()))
}
