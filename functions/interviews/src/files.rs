//! Renditions of takes, fetched by the URLs that answers show.

use shared::Result;
use shared::auth::access::{AnswerMedia, FileRedirect};
use shared::domain::media::file::FileType;
use shared::domain::policy::ReadCandidate;

/// GET …/answers/{questionId}/takes/{take}/video/{token}/
pub(crate) async fn video(access: AnswerMedia<ReadCandidate>) -> Result<FileRedirect> {
    access.redirect(FileType::Mp4).await
}

/// GET …/answers/{questionId}/takes/{take}/thumb/{token}/
pub(crate) async fn thumb(access: AnswerMedia<ReadCandidate>) -> Result<FileRedirect> {
    access.redirect(FileType::Jpeg).await
}
