//! The stored files of a company's archive.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};

use serde::Serialize;
use serde_json::{Value, json};
use shared::domain::archive::RecordKind;

use super::folder::{self, ArchiveFolder, MEDIA};
use super::{CompanyExport, Result};

/// The files of an archive.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub(super) struct MediaCount {
    pub(super) count: u64,
    pub(super) bytes: u64,
}

/// Where the bucket holds files of a company, and where the archive has them.
struct MediaPlace {
    prefix: String,
    path: &'static str,
    kind: RecordKind,
}

/// Files of people: those with these names alone, since one that was replaced stays for a moment.
type KnownFiles = HashSet<String>;

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
        let (owners, known) = owners_in(folder, kind)?;
        let prefixes = place.prefixes(folder)?;
        for prefix in prefixes {
            for object in export.access.objects()?.list(&prefix).await? {
                let Some(below) = object.key.strip_prefix(&place.prefix) else { continue };
                let Some(owner) = place.owner_of(below).filter(|owner| owners.contains(owner)) else {
                    continue;
                };
                if place.is_of_person(below) && !known.contains(below) {
                    continue;
                }
                let name = format!("{}/{below}", place.path);
                let target = path.join("media").join(&name);
                fs::create_dir_all(target.parent().unwrap_or(&path))?;
                // One that is gone since belonged to somebody who is.
                if let Some(copied) = export.access.objects()?.copy_to(&object.key, &target).await? {
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
            let record: Value = serde_json::from_str(line)?;
            prefixes.push(format!("{}{}/", self.prefix, record["id"].as_str().unwrap_or_default()));
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
fn owners_in(folder: &mut ArchiveFolder, kind: RecordKind) -> Result<(HashSet<String>, KnownFiles)> {
    let mut owners = HashSet::new();
    let mut known = KnownFiles::new();
    folder.for_each_line(kind, |line| {
        let record: Value = serde_json::from_str(line)?;
        let id = record["id"].as_str().unwrap_or_default();
        for field in ["photo", "cv"] {
            if let Some(file) = record["value"][field]["id"].as_str() {
                known.insert(format!("{id}/{file}"));
            }
        }
        owners.insert(id.to_owned());
        Ok(())
    })?;
    Ok((owners, known))
}
