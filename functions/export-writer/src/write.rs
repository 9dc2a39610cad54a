//! Writes one archive.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::Path;

use chrono::{DateTime, Utc};
use shared::app::App;
use shared::archive::{
    self, ArchiveFile, ArchiveWriter, ExportObserver, ExportResult, Manifest, MediaOffsets, WriterOptions,
};
use shared::auth::SystemAccess;
use shared::clock::Stopwatch;
use shared::domain::effect::Effect;
use shared::domain::export::{
    CompanyExport, ExportFailure, ExportMail, ExportProgress, ExportedArchive, ExportedFile,
};
use shared::domain::history::erasure::ErasedItem;
use shared::media::{CopiedObject, ObjectStore, export_folder};
use shared::scratch::ScratchFolder;
use shared::store::VersionedItem;
use shared::{Error, Result};

use crate::{Ended, InvocationLimits};

/// A third of a partition's capacity.
// With fewer units, a company of 100,000 candidates would take longer than the function's timeout.
const OPTIONS: WriterOptions = WriterOptions { units_per_second: 1000, copies_media: false };
/// The maximum size of an object that S3 accepts in one request, in bytes.
const MAX_FILE: u64 = 5 << 30;

/// Writes the archive of a due export to the bucket.
///
/// # Errors
/// [`Error::Changed`] if this worker has lost the export, [`Error::NotFound`] if the company is being erased. After
/// other errors, the export is due again.
pub(crate) async fn write(
    app: &App,
    limits: InvocationLimits,
    due: &VersionedItem<CompanyExport>,
) -> Result<Ended> {
    // A separate access for each archive, so that the capacity consumed by other archives does not slow it down.
    let system = SystemAccess::of(app).with_patience(limits.patience());
    if system.store.company(&due.company).await?.is_none() {
        // The erasure of the company also deletes the export.
        return Err(Error::NotFound);
    }
    let Some(leased) = CompanyExport::clone(due).lease(system.now) else {
        give_up(app, &system, due, ExportFailure::Internal).await?;
        return Ok(Ended::GivenUp);
    };
    let export = system.store.update_export(due, leased).await?;
    let attempt = export.version();
    let mut worker = ExportWorker {
        app,
        system: &system,
        limits,
        export,
        attempt,
        begun_at: system.now,
        saved: Stopwatch::start(),
        erased: Vec::new(),
    };
    let Err(error) = worker.write().await else { return Ok(Ended::Written) };
    let folder = worker.folder();
    let export = worker.export;
    // The last write may have succeeded although its response was lost.
    let present = system.store.export(&export.company, export.id).await?;
    let archive = present.as_ref().and_then(|present| present.archive.as_ref());
    if archive.is_some_and(|archive| archive.attempt == attempt) {
        return Ok(Ended::Written);
    }
    let export = present.filter(|present| present.continues(&export)).unwrap_or(export);
    // Delete the files after every failure, so that an incomplete archive can never be downloaded.
    system.objects()?.delete_all(&folder).await?;
    if system.store.company(&export.company).await?.is_none() {
        return Err(Error::NotFound);
    }
    if error.is::<TooLarge>() || is_disk_full(&*error) {
        give_up(app, &system, &export, ExportFailure::TooLarge).await?;
        return Ok(Ended::GivenUp);
    }
    if error.is::<LeaseLost>() {
        return Err(Error::Changed);
    }
    let after = CompanyExport::clone(&export).release(app.now());
    system.store.update_export(&export, after).await?;
    Err(error.downcast::<Error>().map_or_else(Error::internal, |error| *error))
}

/// Whether the function's disk is full. Another attempt would then fail too.
fn is_disk_full(error: &(dyn StdError + 'static)) -> bool {
    let is_full =
        error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::StorageFull);
    is_full || error.source().is_some_and(is_disk_full)
}

/// Ends an export without an archive, and notifies the owner who requested it.
async fn give_up(
    app: &App,
    system: &SystemAccess,
    export: &VersionedItem<CompanyExport>,
    failure: ExportFailure,
) -> Result<()> {
    let now = app.now();
    let after = CompanyExport::clone(export).failed(failure, now);
    let requester = system.store.customer(&export.company, export.created_by).await?;
    let mails = Effect::of_export(export, ExportMail::Failed, requester.as_deref(), now);
    system.commit(system.store.end_export(export, &after, mails)).await?;
    let company = export.company.as_str();
    tracing::warn!(target: "exports", company, export = %export.id, failure = failure.as_str(), "given up");
    Ok(())
}

/// The company has more data than an archive may hold, or the archive takes longer than the time limit.
#[derive(Debug)]
struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the company has more data than an export can hold")
    }
}

impl std::error::Error for TooLarge {}

/// Another worker has taken over the export, or an owner or an erasure has deleted it.
#[derive(Debug)]
struct LeaseLost;

impl fmt::Display for LeaseLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the export is no longer this worker's")
    }
}

impl std::error::Error for LeaseLost {}

struct ExportWorker<'a> {
    app: &'a App,
    system: &'a SystemAccess,
    limits: InvocationLimits,
    export: VersionedItem<CompanyExport>,
    /// The export's version at the start of the attempt, which identifies the attempt.
    attempt: u64,
    begun_at: DateTime<Utc>,
    /// The time since the progress was last saved.
    saved: Stopwatch,
    /// Items that were erased since the attempt began and may be in the archive.
    erased: Vec<ErasedItem>,
}

impl ExportObserver for &mut ExportWorker<'_> {
    async fn note(&mut self, progress: ExportProgress) -> archive::Result<()> {
        self.check_time()?;
        if self.saved.elapsed() >= self.limits.pause {
            self.save(progress).await?;
        }
        Ok(())
    }

    async fn erased(&mut self) -> archive::Result<Vec<ErasedItem>> {
        // The next save returns later erasures.
        Ok(std::mem::take(&mut self.erased))
    }

    async fn publish(&mut self, path: &Path, result: &ExportResult) -> archive::Result<bool> {
        let media = MediaOffsets::write(path)?;
        self.check_time()?;
        // Fails if the export was deleted in the meantime, so that nothing is uploaded.
        let written = ExportProgress { records: result.records, media: result.media, percent: 95 };
        self.save(written).await?;
        if !self.erased.is_empty() {
            return Ok(false);
        }
        let archive = self.upload(path, media).await?;
        match self.finish(archive).await {
            Err(Error::Changed) => {}
            finished => return Ok(finished.map(|()| true)?),
        }
        // Confirms the known erasures in the export, so that an erasure that strips more of the same item is reported
        // again.
        self.save(written).await?;
        if self.erased.is_empty() { Err(LeaseLost.into()) } else { Ok(false) }
    }
}

impl ExportWorker<'_> {
    /// The key prefix of this attempt's files.
    fn folder(&self) -> String {
        export_folder(&self.export.company, self.export.id, self.attempt)
    }

    /// Saves the progress, and learns of erasures. Fails with [`LeaseLost`] if this worker has lost the export.
    async fn save(&mut self, progress: ExportProgress) -> archive::Result<()> {
        loop {
            let after = CompanyExport::clone(&self.export).advanced(progress);
            match self.system.store.update_export(&self.export, after).await {
                Err(Error::Changed) => self.adopt().await?,
                saved => {
                    self.export = saved?;
                    self.saved = Stopwatch::start();
                    return Ok(());
                }
            }
        }
    }

    /// Reads the export again after an erasure has changed it. Fails with [`LeaseLost`] if this worker has lost the
    /// export.
    async fn adopt(&mut self) -> archive::Result<()> {
        let present = self.system.store.export(&self.export.company, self.export.id).await?;
        let present = present
            .filter(|present| present.continues(&self.export) && present.version() != self.export.version());
        self.export = present.ok_or(LeaseLost)?;
        self.erased.extend(self.export.erased.iter().copied());
        Ok(())
    }

    /// Fails when the attempt reaches its time limit: otherwise the function would time out without recording the
    /// failure.
    fn check_time(&self) -> archive::Result<()> {
        let elapsed = (self.app.now() - self.begun_at).to_std().unwrap_or_default();
        if elapsed >= self.limits.archive { Err(TooLarge.into()) } else { Ok(()) }
    }

    async fn write(&mut self) -> archive::Result<()> {
        let folder = ScratchFolder::create()?;
        let path = folder.path().join("archive");
        let writer = ArchiveWriter::begin(self.system, self.export.company.clone(), OPTIONS).await?;
        let result = writer.write_to(&path, &mut *self).await?;
        let company = self.export.company.as_str();
        let read_units = result.read_units;
        tracing::info!(target: "exports", company, export = %self.export.id, records = result.records, read_units, "written");
        Ok(())
    }

    async fn upload(&self, path: &Path, media: u64) -> archive::Result<ExportedArchive> {
        let objects = self.system.objects()?;
        let manifest: Manifest = archive::read_manifest(path)?;
        let mut files = Vec::new();
        for name in [archive::MANIFEST, archive::SIGNATURE] {
            files.push(archive::describe(path, name.to_owned())?);
        }
        files.extend(manifest.files);
        let offsets = archive::describe(path, archive::MEDIA_OFFSETS.to_owned())?;
        for file in files.iter().chain([&offsets]) {
            self.upload_one(&objects, path, file).await?;
            self.check_time()?;
        }
        let exported = |ArchiveFile { name, size, sha256, .. }| ExportedFile { name, size, sha256 };
        let files = files.into_iter().map(exported).collect();
        let attempt = self.attempt;
        Ok(ExportedArchive {
            attempt,
            sequence: manifest.sequence,
            is_exact: manifest.is_exact,
            files,
            media,
        })
    }

    async fn upload_one(
        &self,
        objects: &ObjectStore<'_>,
        path: &Path,
        file: &ArchiveFile,
    ) -> archive::Result<()> {
        if file.size > MAX_FILE {
            return Err(TooLarge.into());
        }
        let uploaded = CopiedObject {
            content_type: archive::content_type_of(&file.name).to_owned(),
            size: file.size,
            sha256: archive::bytes_of(&file.sha256).ok_or("a hash that is no hash")?,
        };
        let key = format!("{}{}", self.folder(), file.name);
        Ok(objects.import_file(&key, &path.join(&file.name), &uploaded).await?)
    }

    /// Makes the archive available to the owners, and notifies the owner who requested it.
    async fn finish(&self, archive: ExportedArchive) -> Result<()> {
        let now = self.app.now();
        // Written on behalf of the owner who requested the export, so that the feed names them.
        let store = self.system.store_in_place_of(self.export.created_by);
        let after = CompanyExport::clone(&self.export).finished(archive, now);
        let requester = store.customer(&after.company, after.created_by).await?;
        let mails = Effect::of_export(&after, ExportMail::Finished, requester.as_deref(), now);
        self.system.commit(store.end_export(&self.export, &after, mails)).await
    }
}
