//! The folder of an archive: one file per kind of record, sorted by identifier.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::domain::archive::{RecordKind, RecordLevel};
use crate::store::ArchiveRecord;
use serde::Deserialize;

use super::unit::ArchiveUnit;
use super::{ArchiveFile, Result, describe, name_of, write_line};

/// The part of a written record that the export reads again to find the files of customers and candidates.
#[derive(Deserialize)]
pub(super) struct RecordLine {
    pub(super) id: String,
    pub(super) value: FilesOfPerson,
}

/// The files that a customer or candidate has.
#[derive(Deserialize)]
pub(super) struct FilesOfPerson {
    pub(super) photo: Option<FileOfPerson>,
    pub(super) cv: Option<FileOfPerson>,
}

#[derive(Deserialize)]
pub(super) struct FileOfPerson {
    pub(super) id: String,
}

pub(super) struct ArchiveFolder {
    path: PathBuf,
    files: BTreeMap<RecordKind, BufWriter<File>>,
}

impl ArchiveFolder {
    /// Creates the folder. Fails if `path` exists and is not an empty folder: an archive must hold nothing that its manifest does not name.
    pub(super) fn create(path: &Path) -> Result<Self> {
        // Readable by the owner only: other users of the machine must not read personal data.
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        if fs::read_dir(path)?.next().is_some() {
            return Err(format!("{} is not empty", path.display()).into());
        }
        fs::create_dir(path.join("records"))?;
        let mut folder = Self { path: path.to_owned(), files: BTreeMap::new() };
        for kind in RecordKind::ALL {
            let file = BufWriter::new(File::create(folder.path_of(kind))?);
            folder.files.insert(kind, file);
        }
        Ok(folder)
    }

    fn path_of(&self, kind: RecordKind) -> PathBuf {
        self.path.join(name_of(kind))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends records. They must sort after all records of their kind that were added before.
    pub(super) fn append(&mut self, mut records: Vec<ArchiveRecord>) -> Result<()> {
        records.sort_by(|record, other| record.id.cmp(&other.id));
        for record in records {
            let file = self.files.get_mut(&record.kind).ok_or("a kind without a file")?;
            write_line(file, &record.content)?;
        }
        Ok(())
    }

    /// Replaces all records that belong to these units by `records`.
    pub(super) fn replace(
        &mut self,
        units: &BTreeSet<ArchiveUnit>,
        records: Vec<ArchiveRecord>,
    ) -> Result<()> {
        let mut by_kind: BTreeMap<RecordKind, BTreeMap<String, ArchiveRecord>> = BTreeMap::new();
        for record in records {
            by_kind.entry(record.kind).or_default().insert(record.id.clone(), record);
        }
        let levels: Vec<RecordLevel> = units.iter().map(ArchiveUnit::level).collect();
        for kind in RecordKind::ALL.into_iter().filter(|kind| levels.contains(&kind.level())) {
            self.merge(kind, units, by_kind.remove(&kind).unwrap_or_default())?;
        }
        Ok(())
    }

    fn merge(
        &mut self,
        kind: RecordKind,
        units: &BTreeSet<ArchiveUnit>,
        records: BTreeMap<String, ArchiveRecord>,
    ) -> Result<()> {
        let path = self.path_of(kind);
        let merged_path = path.with_extension("merged");
        let mut merged = BufWriter::new(File::create(&merged_path)?);
        let mut new = records.into_iter().peekable();
        self.for_each_line(kind, |line| {
            let RecordLine { id, .. } = serde_json::from_str(line)?;
            while let Some((_, record)) = new.next_if(|(new_id, _)| *new_id <= id) {
                write_line(&mut merged, &record.content)?;
            }
            if !units.contains(&ArchiveUnit::of(kind.level(), &id)?) {
                writeln!(merged, "{line}")?;
            }
            Ok(())
        })?;
        for (_, record) in new {
            write_line(&mut merged, &record.content)?;
        }
        merged.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&merged_path, &path)?;
        self.files.insert(kind, BufWriter::new(File::options().append(true).open(&path)?));
        Ok(())
    }

    /// Calls `take` with each line of a file of records.
    pub(super) fn for_each_line(
        &mut self,
        kind: RecordKind,
        mut take: impl FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        self.files.get_mut(&kind).ok_or("a kind without a file")?.flush()?;
        for line in BufReader::new(File::open(self.path_of(kind))?).lines() {
            take(&line?)?;
        }
        Ok(())
    }

    /// Empties the file of a kind.
    pub(super) fn clear(&mut self, kind: RecordKind) -> Result<()> {
        let file = BufWriter::new(File::create(self.path_of(kind))?);
        self.files.insert(kind, file);
        Ok(())
    }

    /// Describes the files of records in their current state.
    pub(super) fn describe(&mut self) -> Result<Vec<(RecordKind, ArchiveFile)>> {
        let mut described = Vec::new();
        for (kind, file) in &mut self.files {
            file.flush()?;
            file.get_ref().sync_all()?;
            described.push((*kind, describe(&self.path, name_of(*kind))?));
        }
        Ok(described)
    }
}
