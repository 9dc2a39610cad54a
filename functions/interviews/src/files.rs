//! Plays recorded answers: redirects the URL of a file to a signed S3 URL. The row "file URLs" in LIMITS.md gives the
//! lifetime of both.

use shared::Result;
use shared::auth::access::{FileRedirect, TakeFileAccess};
use shared::domain::media::file::FileType;
use shared::domain::policy::ReadCandidate;

/// GET …/answers/{questionId}/takes/{take}/video/{token}/
pub(crate) async fn video(access: TakeFileAccess<ReadCandidate>) -> Result<FileRedirect> {
    access.redirect(FileType::Mp4).await
}

/// GET …/answers/{questionId}/takes/{take}/thumb/{token}/
pub(crate) async fn thumb(access: TakeFileAccess<ReadCandidate>) -> Result<FileRedirect> {
    access.redirect(FileType::Jpeg).await
}
