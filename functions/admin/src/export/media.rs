//! The stored files of a company's archive.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};

use serde::Serialize;
use serde_json::json;
use shared::domain::archive::RecordKind;

use super::folder::{self, ArchiveFolder, MEDIA, RecordLine};
use super::{CompanyExport, Result};

/// The files of an archive.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub(super) struct MediaCount {
    pub(super) count: u64,
    pub(super) bytes: u64,
    /// Photos and CVs that records name, but that were deleted before they could be copied.
    pub(super) missing: u64,
}

/// Where the bucket holds files of a company, and where the archive has them.
struct MediaPlace {
    prefix: String,
    path: &'static str,
    kind: RecordKind,
}

/// The photos and CVs that records name. One that was replaced stays in the bucket for a moment.
type NamedFiles = HashSet<String>;

/// Copies the files of everything that the archive has, and lists them.
pub(super) async fn copy_all(export: &CompanyExport, folder: &mut ArchiveFolder) -> Result<MediaCount> {
    let path = folder.path().to_owned();
    let mut list = BufWriter::new(File::create(path.join(MEDIA))?);
    let mut count = MediaCount::default();
    let company = &export.company;
    let places = [
        // In the order of the paths.
        (format!("media/{company}/candidates/"), "candidates", RecordKind::Candidates),
        (format!("media/{company}/customers/"), "customers", RecordKind::Customers),
        (format!("takes/{company}/"), "takes", RecordKind::Candidates),
        (format!("uploads/videos/{company}/"), "uploads", RecordKind::Videos),
        (format!("media/{company}/videos/"), "videos", RecordKind::Videos),
    ];
    for (prefix, directory, kind) in places {
        (export.report)(&format!("files of {}", kind.name()));
        let place = MediaPlace { prefix, path: directory, kind };
        let (owners, mut named) = owners_in(folder, kind)?;
        let prefixes = place.prefixes(folder)?;
        for prefix in prefixes {
            for object in export.access.objects()?.list(&prefix).await? {
                let Some(below) = object.key.strip_prefix(&place.prefix) else { continue };
                let Some(owner) = place.owner_of(below).filter(|owner| owners.contains(owner)) else {
                    continue;
                };
                if place.is_of_person(below) && !named.contains(below) {
                    continue;
                }
                let name = format!("{}/{below}", place.path);
                let target = path.join("media").join(&name);
                fs::create_dir_all(target.parent().unwrap_or(&path))?;
                // `None` if it was deleted after the list was read.
                if let Some(copied) = export.access.objects()?.copy_to(&object.key, &target).await? {
                    named.remove(below);
                    count.count += 1;
                    count.bytes += copied.size;
                    folder::write_line(
                        &mut list,
                        &json!({
                            "path": name,
                            "owner": { "kind": place.kind.name(), "id": owner },
                            "content_type": copied.content_type,
                            "size": copied.size,
                            "sha256": folder::hexadecimal(&copied.sha256),
                        }),
                    )?;
                }
            }
        }
        // Takes and uploads have no photos and CVs.
        if place.has_files_of_people() {
            count.missing += named.len() as u64;
        }
    }
    list.flush()?;
    Ok(count)
}

impl MediaPlace {
    /// What to list at a time: of candidates, a project.
    fn prefixes(&self, folder: &mut ArchiveFolder) -> Result<Vec<String>> {
        if self.kind != RecordKind::Candidates {
            return Ok(vec![self.prefix.clone()]);
        }
        let mut prefixes = Vec::new();
        folder.for_each_line(RecordKind::Projects, |line| {
            let RecordLine { id, .. } = serde_json::from_str(line)?;
            prefixes.push(format!("{}{id}/", self.prefix));
            Ok(())
        })?;
        Ok(prefixes)
    }

    /// The record whose file is at `below` this place.
    fn owner_of(&self, below: &str) -> Option<String> {
        let mut parts = below.split('/');
        let first = parts.next()?;
        Some(match self.kind {
            RecordKind::Candidates => format!("{first}/{}", parts.next()?),
            _ => first.to_owned(),
        })
    }

    fn has_files_of_people(&self) -> bool {
        matches!(self.path, "candidates" | "customers")
    }

    /// Whether the file is a photo or a CV.
    fn is_of_person(&self, below: &str) -> bool {
        let depth = below.split('/').count();
        match self.path {
            "candidates" => depth == 3,
            "customers" => depth == 2,
            _ => false,
        }
    }
}

/// The identifiers of the records of a kind, and the files of people that they name, below the place of their kind.
fn owners_in(folder: &mut ArchiveFolder, kind: RecordKind) -> Result<(HashSet<String>, NamedFiles)> {
    let mut owners = HashSet::new();
    let mut named = NamedFiles::new();
    folder.for_each_line(kind, |line| {
        let RecordLine { id, value } = serde_json::from_str(line)?;
        let files = value.photo.into_iter().chain(value.cv);
        named.extend(files.map(|file| format!("{id}/{}", file.id)));
        owners.insert(id);
        Ok(())
    })?;
    Ok((owners, named))
}
