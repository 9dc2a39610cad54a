//! Starts an imported company.

use serde::Serialize;
use shared::app::App;
use shared::archive::Result;
use shared::auth::OperatorAccess;
use shared::domain::company::import::CompanyImport;
use shared::domain::id::CompanyId;
use shared::domain::media::video::Video;
use shared::media::video_upload_key;
use shared::store::{RetryPolicy, VersionedItem};

use crate::PATIENCE;

/// The result of a start.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StartResult {
    pub company: CompanyId,
    /// Whether an earlier run had already started the company.
    pub was_started: bool,
}

/// Starts an imported company: from then on, requests may change it, and deadlines, reminders, retention and
/// conversions take effect. Does nothing if the company has started.
///
/// # Errors
/// If the import is not complete, or if DynamoDB or S3 keeps failing; then run it again.
pub async fn start_company(app: &App, company: CompanyId) -> Result<StartResult> {
    let access = OperatorAccess::of(app).with_patience(PATIENCE);
    let store = &access.store;
    let import = store.company_import(&company).await?;
    let import = import.ok_or_else(|| format!("no company {company} was imported here"))?;
    if import.opened_at.is_none() {
        return Err(format!("the import of {company} is not complete; run import-company again").into());
    }
    let Some(found) = store.company(&company).await? else {
        return Err(format!("the company {company} is being erased").into());
    };
    let was_started = import.ended_at.is_some();
    if !was_started {
        let import = if import.started_at.is_some() {
            import
        } else {
            let started = CompanyImport::clone(&import).start(access.now);
            store.update_company_import(&import, started).await?
        };
        for video in store.all_company_videos(&company).await? {
            convert(&access, &video).await?;
        }
        store.schedule_company(&found, access.now).await?;
        let ended = CompanyImport::clone(&import).end(access.now);
        store.update_company_import(&import, ended).await?;
    }
    Ok(StartResult { company, was_started })
}

/// Requests the conversion of an imported video that is not converted yet.
// The upload's event came before the company had started. The file has arrived, so the author's rights no longer matter.
async fn convert(access: &OperatorAccess, video: &Video) -> Result<()> {
    if !video.conversion.is_under_way() {
        return Ok(());
    }
    let key = video_upload_key(&video.company, video.id);
    if !access.objects()?.list(&key).await?.iter().any(|object| object.key == key) {
        return Ok(());
    }
    let convert = async || {
        let found: Option<VersionedItem<Video>> = access.store.video(&video.company, video.id).await?;
        match found.filter(|found| found.conversion.is_under_way()) {
            Some(found) => access.commit(access.store.await_conversion(&found, access.now)).await,
            None => Ok(()),
        }
    };
    Ok(access.store.retry_on_conflict(RetryPolicy::CHANGE, convert).await?)
}
