//! Lists, and if wanted copies, the stored files (media) of a company's archive.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::folder::{ArchiveFolder, RecordLine};
use super::observer::ExportObserver;
use super::recordings::NeededRecordings;
use super::state::ArchiveState;
use super::unit::ArchiveUnit;
use super::{MEDIA, MediaCount, MediaLine, MediaOwner, MediaPlace, Result, hexadecimal, write_line};
use crate::domain::answers::Answers;
use crate::domain::archive::RecordKind;
use crate::domain::id::CompanyId;
use crate::domain::media::video::Video;
use crate::media::{CopiedObject, ListedObject, ObjectStore};

/// How many files are read concurrently.
const AT_ONCE: usize = 16;

#[derive(Deserialize)]
struct TypedLine<T> {
    value: T,
}

/// A file of the bucket that belongs to a record of the archive.
struct OwnedObject {
    object: ListedObject,
    owner: String,
    /// The path of the object below the prefix of its place.
    below: String,
}

/// The files that the records of some units name.
#[derive(Default)]
struct RecordedFiles {
    /// The kinds and identifiers of records that may have files.
    owners: HashSet<(RecordKind, String)>,
    /// The owners of photos and CVs that records name and that were not found yet, by path below `media/`. Other photos
    /// and CVs in the bucket are not listed: a replaced file stays there for a moment.
    named: HashMap<String, String>,
    recordings: NeededRecordings,
}

/// The list of an archive's files. Copies the files, too, if `copies` is set.
pub(super) struct MediaList<'a> {
    objects: &'a ObjectStore<'a>,
    company: &'a CompanyId,
    path: PathBuf,
    copies: Option<PathBuf>,
    /// The number of files that records name but that are missing in the bucket, by unit.
    missing: BTreeMap<ArchiveUnit, u64>,
}

impl<'a> MediaList<'a> {
    pub(super) fn new(
        objects: &'a ObjectStore<'a>,
        company: &'a CompanyId,
        folder: &Path,
        wants_copies: bool,
    ) -> Result<Self> {
        let path = folder.join(MEDIA);
        File::create(&path)?;
        let copies = wants_copies.then(|| folder.join("media"));
        Ok(Self { objects, company, path, copies, missing: BTreeMap::new() })
    }

    /// The units whose records name missing files: the bucket was listed after the records were read, so they may disagree.
    pub(super) fn disagreeing(&self) -> BTreeSet<ArchiveUnit> {
        self.missing.keys().copied().collect()
    }

    /// Counts the files in the list.
    pub(super) fn count(&self) -> Result<MediaCount> {
        let mut count = MediaCount { missing: self.missing.values().sum(), ..MediaCount::default() };
        let mut lines = BufReader::new(File::open(&self.path)?).lines();
        while let Some(line) = next_line(&mut lines)? {
            count.count += 1;
            count.bytes += line.size;
        }
        Ok(count)
    }

    /// Lists the files of all records in the archive; with `units`, lists only the files of these units again.
    pub(super) async fn list<O: ExportObserver>(
        &mut self,
        units: Option<&BTreeSet<ArchiveUnit>>,
        state: &mut ArchiveState<O>,
    ) -> Result<()> {
        let mut recorded = RecordedFiles::of(&mut state.folder, units)?;
        let kept_path = self.keep_others(units)?;
        let mut kept = BufReader::new(File::open(&kept_path)?).lines();
        let mut next = next_line(&mut kept)?;
        let mut list = BufWriter::new(File::create(&self.path)?);
        for place in MediaPlace::ALL {
            for prefix in prefixes(place, &place.prefix(self.company), units, &mut state.folder)? {
                let owned = self.owned(place, &prefix, &recorded).await?;
                let found = owned.into_iter().map(|object| self.read_one(place, object));
                let mut found = stream::iter(found).buffered(AT_ONCE);
                while let Some(line) = found.try_next().await? {
                    // `None` if the file was deleted after the bucket was listed.
                    if let Some(line) = line {
                        while let Some(before) = next.take_if(|next| next.path < line.path) {
                            write_line(&mut list, &before)?;
                            next = next_line(&mut kept)?;
                        }
                        recorded.named.remove(&line.path);
                        recorded.recordings.note_found(&line.path);
                        write_line(&mut list, &line)?;
                        state.progress.media += 1;
                    }
                    state.note().await?;
                }
            }
        }
        while let Some(line) = next {
            write_line(&mut list, &line)?;
            next = next_line(&mut kept)?;
        }
        list.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::remove_file(&kept_path)?;
        self.missing.retain(|unit, _| units.is_some_and(|units| !units.contains(unit)));
        for (owner, files) in recorded.missing() {
            *self.missing.entry(unit_of(owner)?).or_default() += files;
        }
        Ok(())
    }

    /// Moves the lines of all other units to another file. Deletes the copies of files of these units.
    fn keep_others(&self, units: Option<&BTreeSet<ArchiveUnit>>) -> Result<PathBuf> {
        let kept_path = self.path.with_extension("kept");
        let mut kept = BufWriter::new(File::create(&kept_path)?);
        let mut lines = BufReader::new(File::open(&self.path)?).lines();
        while let Some(line) = next_line(&mut lines)? {
            let unit = unit_of(&line.owner.id)?;
            if units.is_some_and(|units| !units.contains(&unit)) {
                write_line(&mut kept, &line)?;
            } else if let Some(copies) = &self.copies {
                fs::remove_file(copies.join(&line.path))?;
            }
        }
        kept.flush()?;
        Ok(kept_path)
    }

    /// The objects with this prefix that belong to records.
    async fn owned(
        &self,
        place: MediaPlace,
        prefix: &str,
        recorded: &RecordedFiles,
    ) -> Result<Vec<OwnedObject>> {
        let start = place.prefix(self.company);
        let owned = self.objects.list(prefix).await?.into_iter().filter_map(|object| {
            let below = object.key.strip_prefix(&start)?.to_owned();
            let owner = place.owner_of(&below)?;
            let is_of_record = recorded.owners.contains(&(place.kind(), owner.clone()));
            let is_named = recorded.named.contains_key(&format!("{}/{below}", place.name()));
            (is_of_record && (!place.is_of_person(&below) || is_named)).then_some(OwnedObject {
                object,
                owner,
                below,
            })
        });
        Ok(owned.collect())
    }

    /// Reads a file, or copies it if copies are wanted, and returns its line; `None` if it was deleted.
    async fn read_one(
        &self,
        place: MediaPlace,
        OwnedObject { object, owner, below }: OwnedObject,
    ) -> Result<Option<MediaLine>> {
        let path = format!("{}/{below}", place.name());
        let found = match &self.copies {
            Some(copies) => {
                let target = copies.join(&path);
                fs::create_dir_all(target.parent().unwrap_or(copies))?;
                self.objects.copy_to(&object.key, &target).await?
            }
            None => self.objects.digest(&object.key).await?,
        };
        Ok(found.map(|CopiedObject { content_type, size, sha256 }| MediaLine {
            path,
            owner: MediaOwner { kind: place.kind().name().to_owned(), id: owner },
            content_type,
            size,
            sha256: hexadecimal(&sha256),
        }))
    }
}

impl RecordedFiles {
    /// The files that the records of these units name; with `None`, those of all records.
    fn of(folder: &mut ArchiveFolder, units: Option<&BTreeSet<ArchiveUnit>>) -> Result<Self> {
        let mut recorded = Self::default();
        let is_wanted = |id: &str| -> Result<bool> {
            Ok(match units {
                None => true,
                Some(units) => units.contains(&unit_of(id)?),
            })
        };
        for kind in [RecordKind::Candidates, RecordKind::Customers, RecordKind::Videos, RecordKind::Answers] {
            folder.for_each_line(kind, |line| {
                let RecordLine { id, value } = serde_json::from_str(line)?;
                if !is_wanted(&id)? {
                    return Ok(());
                }
                match kind {
                    RecordKind::Answers => recorded.recordings.add_answers(&typed::<Answers>(line)?),
                    RecordKind::Videos => recorded.recordings.add_video(&typed::<Video>(line)?),
                    _ => {
                        let files = value.photo.into_iter().chain(value.cv);
                        let named =
                            files.map(|file| (format!("{}/{id}/{}", kind.name(), file.id), id.clone()));
                        recorded.named.extend(named);
                    }
                }
                if kind != RecordKind::Answers {
                    recorded.owners.insert((kind, id));
                }
                Ok(())
            })?;
        }
        Ok(recorded)
    }

    /// The owners of files that were not found, each with the number of these files.
    fn missing(&self) -> impl Iterator<Item = (&str, u64)> {
        self.named.values().map(|owner| (owner.as_str(), 1)).chain(self.recordings.missing())
    }
}

fn next_line(lines: &mut impl Iterator<Item = io::Result<String>>) -> Result<Option<MediaLine>> {
    let line = lines.next().transpose()?;
    Ok(line.map(|line| serde_json::from_str(&line)).transpose()?)
}

fn typed<T: DeserializeOwned>(line: &str) -> Result<T> {
    let TypedLine { value } = serde_json::from_str(line)?;
    Ok(value)
}

/// The unit of a record that owns files.
fn unit_of(owner: &str) -> Result<ArchiveUnit> {
    Ok(match owner.split_once('/') {
        Some((project, candidate)) => ArchiveUnit::Candidate(project.parse()?, candidate.parse()?),
        None => ArchiveUnit::Company,
    })
}

/// The prefixes to list, in the order of keys. Files of candidates have one prefix per project or, with `units`, one per candidate.
fn prefixes(
    place: MediaPlace,
    prefix: &str,
    units: Option<&BTreeSet<ArchiveUnit>>,
    folder: &mut ArchiveFolder,
) -> Result<Vec<String>> {
    let is_of_candidates = place.kind() == RecordKind::Candidates;
    if let Some(units) = units {
        return Ok(units
            .iter()
            .filter_map(|unit| match unit {
                ArchiveUnit::Candidate(project, candidate) if is_of_candidates => {
                    Some(format!("{prefix}{project}/{candidate}/"))
                }
                ArchiveUnit::Company if !is_of_candidates => Some(prefix.to_owned()),
                _ => None,
            })
            .collect());
    }
    if !is_of_candidates {
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
