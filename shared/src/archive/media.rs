//! The stored files of a company's archive.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::folder::{ArchiveFolder, RecordLine};
use super::writer::{ArchiveState, ExportObserver};
use super::{MEDIA, MediaCount, MediaLine, MediaOwner, MediaPlace, Result, hexadecimal, write_line};
use crate::domain::archive::RecordKind;
use crate::domain::id::CompanyId;
use crate::media::{CopiedObject, ListedObject, ObjectStore};

/// The files that are read at once.
const AT_ONCE: usize = 16;

/// The photos and CVs that records name. One that was replaced stays in the bucket for a moment.
type NamedFiles = HashSet<String>;

/// A file of the bucket that belongs to a record of the archive.
struct OwnedObject {
    object: ListedObject,
    owner: String,
    /// Below its place.
    below: String,
}

/// Lists the files of everything that the archive has, with copies of them if they are wanted.
pub(super) async fn list_all<O: ExportObserver>(
    objects: &ObjectStore<'_>,
    company: &CompanyId,
    wants_copies: bool,
    state: &mut ArchiveState<O>,
) -> Result<MediaCount> {
    let path = state.folder.path().to_owned();
    let mut list = BufWriter::new(File::create(path.join(MEDIA))?);
    let mut count = MediaCount::default();
    let copies = wants_copies.then(|| path.join("media"));
    for place in MediaPlace::ALL {
        let (owners, mut named) = owners_in(&mut state.folder, place.kind())?;
        let prefix = place.prefix(company);
        for listed in prefixes(place, &prefix, &mut state.folder)? {
            let listed = objects.list(&listed).await?;
            let owned = listed.into_iter().filter_map(|object| {
                let below = object.key.strip_prefix(&prefix)?.to_owned();
                let owner = place.owner_of(&below).filter(|owner| owners.contains(owner))?;
                (!place.is_of_person(&below) || named.contains(&below)).then_some((object, owner, below))
            });
            let owned: Vec<OwnedObject> =
                owned.map(|(object, owner, below)| OwnedObject { object, owner, below }).collect();
            let found = owned.into_iter().map(|one| read_one(objects, place, copies.as_deref(), one));
            let mut found = stream::iter(found).buffered(AT_ONCE);
            while let Some((below, line)) = found.try_next().await? {
                // `None` if it was deleted after the list was read.
                if let Some(line) = line {
                    named.remove(&below);
                    count.count += 1;
                    count.bytes += line.size;
                    write_line(&mut list, &line)?;
                }
                state.progress.media = count.count;
                state.note().await?;
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

/// The line of a file, which is copied below `copies` if that is given, with its path below the place; `None` if it was deleted.
async fn read_one(
    objects: &ObjectStore<'_>,
    place: MediaPlace,
    copies: Option<&Path>,
    OwnedObject { object, owner, below }: OwnedObject,
) -> Result<(String, Option<MediaLine>)> {
    let path = format!("{}/{below}", place.name());
    let found = match copies {
        Some(copies) => {
            let target = copies.join(&path);
            fs::create_dir_all(target.parent().unwrap_or(copies))?;
            objects.copy_to(&object.key, &target).await?
        }
        None => objects.digest(&object.key).await?,
    };
    let line = found.map(|CopiedObject { content_type, size, sha256 }| MediaLine {
        path,
        owner: MediaOwner { kind: place.kind().name().to_owned(), id: owner },
        content_type,
        size,
        sha256: hexadecimal(&sha256),
    });
    Ok((below, line))
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
