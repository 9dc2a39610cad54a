//! The media files of an export, with URLs to download them.

use shared::archive::{MEDIA, MEDIA_OFFSETS, MediaLine, MediaOffsets, MediaPlace};
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::export::{CompanyExport, ExportedArchive};
use shared::domain::policy::ExportCompany;
use shared::http::page::{ListQuery, PageView};
use shared::media::export_folder;
use shared::{Error, Result};

use super::view::ExportedMediaView;
use super::{DOWNLOAD, require_in_person};

/// The maximum size of the list of offsets, in bytes: enough for a hundred million files.
const MAX_OFFSETS: u64 = 1 << 24;

/// GET …/exports/{exportId}/media/
pub(crate) async fn list(
    access: Admitted<CompanyExport, ExportCompany>,
    query: ListQuery,
) -> Result<PageView<ExportedMediaView>> {
    require_in_person(&access)?;
    let export = &access.target;
    let Some(archive) = &export.archive else {
        return query.answer(query.fixed_page(0, Vec::new(), export.id), 0);
    };
    query.check_range(archive.media)?;
    let lines = read_lines(&access, export, archive, query.rows_before(), query.page().size).await?;
    let objects = access.objects()?;
    let mut shown = Vec::with_capacity(lines.len());
    for line in lines {
        let (place, below) =
            MediaPlace::of(&line.path).ok_or_else(|| Error::internal("a path of no place"))?;
        let key = format!("{}{below}", place.prefix(&export.company));
        let name = line.path.rsplit('/').next().unwrap_or_default();
        let url = objects.download_url(&key, name, DOWNLOAD).await?;
        shown.push(ExportedMediaView::new(line, url));
    }
    query.answer(query.fixed_page(archive.media, shown, export.id), archive.media)
}

/// Returns at most `count` lines of the list of media, after skipping `before` lines.
async fn read_lines(
    access: &AdmittedRequest,
    export: &CompanyExport,
    archive: &ExportedArchive,
    before: u64,
    count: u32,
) -> Result<Vec<MediaLine>> {
    let objects = access.objects()?;
    let folder = export_folder(&export.company, export.id, archive.attempt);
    // The archive may have been deleted since the export was read.
    let offsets =
        objects.get(&format!("{folder}{MEDIA_OFFSETS}"), MAX_OFFSETS).await?.ok_or(Error::NotFound)?;
    let offsets: MediaOffsets = serde_json::from_slice(&offsets).map_err(Error::internal)?;
    let Some(range) = offsets.range_of(before, count.into()) else { return Ok(Vec::new()) };
    let text = objects.get_range(&format!("{folder}{MEDIA}"), range.from, range.to).await?;
    let text = text.ok_or(Error::NotFound)?;
    let lines = std::str::from_utf8(&text).map_err(Error::internal)?.lines();
    let wanted = lines.skip(range.before).take(count as usize);
    wanted.map(|line| serde_json::from_str(line).map_err(Error::internal)).collect()
}
