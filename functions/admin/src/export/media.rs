//! The stored files of a company's archive.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};

use shared::domain::archive::RecordKind;

use super::folder::{ArchiveFolder, RecordLine};
use super::{CompanyExport, Result};
use crate::archive::{self, MEDIA, MediaCount, MediaLine, MediaOwner, MediaPlace};

/// The photos and CVs that records name. One that was replaced stays in the bucket for a moment.
type NamedFiles = HashSet<String>;

/// Copies the files of everything that the archive has, and lists them.
pub(super) async fn copy_all(export: &CompanyExport, folder: &mut ArchiveFolder) -> Result<MediaCount> {
    let path = folder.path().to_owned();
    let mut list = BufWriter::new(File::create(path.join(MEDIA))?);
    let mut count = MediaCount::default();
    for place in MediaPlace::ALL {
        (export.report)(&format!("files of {}", place.name()));
        let (owners, mut named) = owners_in(folder, place.kind())?;
        let prefix = place.prefix(&export.company);
        for listed in prefixes(place, &prefix, folder)? {
            for object in export.access.objects()?.list(&listed).await? {
                let Some(below) = object.key.strip_prefix(&prefix) else { continue };
                let Some(owner) = place.owner_of(below).filter(|owner| owners.contains(owner)) else {
                    continue;
                };
                if place.is_of_person(below) && !named.contains(below) {
                    continue;
                }
                let name = format!("{}/{below}", place.name());
                let target = path.join("media").join(&name);
                fs::create_dir_all(target.parent().unwrap_or(&path))?;
                // `None` if it was deleted after the list was read.
                if let Some(copied) = export.access.objects()?.copy_to(&object.key, &target).await? {
                    named.remove(below);
                    count.count += 1;
                    count.bytes += copied.size;
                    let line = MediaLine {
                        path: name,
                        owner: MediaOwner { kind: place.kind().name().to_owned(), id: owner },
                        content_type: copied.content_type,
                        size: copied.size,
                        sha256: archive::hexadecimal(&copied.sha256),
                    };
                    archive::write_line(&mut list, &line)?;
                }
            }
        }
        // Takes and uploads have no photos and CVs.
        if matches!(place, MediaPlace::Candidates | MediaPlace::Customers) {
            count.missing += named.len() as u64;
        }
    }
    list.flush()?;
    Ok(count)
}

/// What to list at a time: of candidates, a project.
fn prefixes(place: MediaPlace, prefix: &str, folder: &mut ArchiveFolder) -> Result<Vec<String>> {
    if place.kind() != RecordKind::Candidates {
        return Ok(vec![prefix.to_owned()]);
    }
    let mut prefixes = Vec::new();
    folder.for_each_line(RecordKind::Projects, |line| {
        let RecordLine { id, .. } = serde_json::from_str(line)?;
        prefixes.push(format!("{prefix}{id}/"));
        Ok(())
    })?;
    Ok(prefixes)
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
