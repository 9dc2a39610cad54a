//! The work folder of a restore, which records the completed segments.
//!
//! A segment is completed once its file exists: files get their names when they are completely written.

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::hash::ItemHash;
use super::table::OwnedKey;
use super::{RestoreCounts, Result};

pub(super) struct WorkFolder(PathBuf);

impl WorkFolder {
    /// Opens or creates the folder of the restore `name`.
    pub(super) fn open(path: &Path, name: &str) -> Result<Self> {
        // Keys of items contain names and addresses, so only the owner may read the folder.
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let folder = Self(path.to_owned());
        let noted = folder.noted("restore", || Ok(name.to_owned()))?;
        if noted != name {
            return Err(format!("{} belongs to another restore: {noted}", path.display()).into());
        }
        Ok(folder)
    }

    /// The number of segments, which stays the same for all runs.
    pub(super) fn segments(&self, count: impl FnOnce() -> Result<u32>) -> Result<u32> {
        Ok(self.noted("segments", || Ok(count()?.to_string()))?.parse()?)
    }

    /// The text of a file, which `text` computes if the file does not exist.
    pub(super) fn noted(&self, name: &str, text: impl FnOnce() -> Result<String>) -> Result<String> {
        let path = self.0.join(name);
        if !path.exists() {
            let text = text()?;
            let mut file = NewFile::create(path.clone())?;
            file.writer.write_all(text.as_bytes())?;
            file.finish()?;
        }
        Ok(fs::read_to_string(path)?)
    }

    fn hashes(&self, segment: u32) -> PathBuf {
        self.0.join(format!("prepared-{segment:05}.hashes"))
    }

    fn keys(&self, segment: u32) -> PathBuf {
        self.0.join(format!("prepared-{segment:05}.keys"))
    }

    fn companies_of(&self, segment: u32) -> PathBuf {
        self.0.join(format!("prepared-{segment:05}.companies"))
    }

    fn applied(&self, segment: u32) -> PathBuf {
        self.0.join(format!("applied-{segment:05}"))
    }

    pub(super) fn is_prepared(&self, segment: u32) -> bool {
        self.hashes(segment).exists()
    }

    pub(super) fn is_applied(&self, segment: u32) -> bool {
        self.applied(segment).exists()
    }

    pub(super) fn note_prepared(&self, segment: u32) -> Result<PreparedSegment> {
        Ok(PreparedSegment {
            hashes: NewFile::create(self.hashes(segment))?,
            keys: NewFile::create(self.keys(segment))?,
            companies: NewFile::create(self.companies_of(segment))?,
        })
    }

    /// The companies in all segments.
    pub(super) fn companies(&self, segments: u32) -> Result<Vec<String>> {
        let mut companies = Vec::new();
        for segment in 0..segments {
            let lines = fs::read_to_string(self.companies_of(segment))?;
            companies.extend(lines.lines().map(str::to_owned));
        }
        companies.sort_unstable();
        Ok(companies)
    }

    /// The number of items in all segments.
    pub(super) fn count_prepared(&self, segments: u32) -> Result<u64> {
        let mut bytes = 0;
        for segment in 0..segments {
            let found = fs::metadata(self.hashes(segment));
            bytes += found.map_err(|_| format!("segment {segment} is not prepared"))?.len();
        }
        Ok(bytes / ItemHash::BYTES as u64)
    }

    pub(super) fn read_prepared(&self, segments: u32) -> Result<Vec<ItemHash>> {
        // Allocate once: a growing vector takes up to twice the memory.
        let mut items = Vec::with_capacity(usize::try_from(self.count_prepared(segments)?)?);
        for segment in 0..segments {
            let mut hashes = Hashes::open(self.hashes(segment))?;
            while let Some(hash) = hashes.next()? {
                items.push(hash);
            }
        }
        Ok(items)
    }

    pub(super) fn prepared_keys(&self, segment: u32) -> Result<PreparedKeys> {
        let keys = BufReader::new(File::open(self.keys(segment))?);
        Ok(PreparedKeys { hashes: Hashes::open(self.hashes(segment))?, keys })
    }

    /// Records the counts of a segment of the live table, and the positions in the index of the items that it has.
    pub(super) fn note_applied(&self, segment: u32, counts: RestoreCounts, existing: &[u64]) -> Result<()> {
        let mut file = NewFile::create(self.applied(segment))?;
        let RestoreCounts { compared, put, deleted } = counts;
        for number in [compared, put, deleted].iter().chain(existing) {
            file.writer.write_all(&number.to_be_bytes())?;
        }
        file.finish()
    }

    /// Returns the sums of the recorded counts. Calls `exists` with the position of each item that the live table has.
    pub(super) fn read_applied(&self, segments: u32, mut exists: impl FnMut(u64)) -> Result<RestoreCounts> {
        let mut all = RestoreCounts::default();
        for segment in 0..segments {
            let mut file = BufReader::new(File::open(self.applied(segment))?);
            let mut number = || -> Result<Option<u64>> {
                if file.fill_buf()?.is_empty() {
                    return Ok(None);
                }
                let mut bytes = [0; 8];
                file.read_exact(&mut bytes)?;
                Ok(Some(u64::from_be_bytes(bytes)))
            };
            for sum in [&mut all.compared, &mut all.put, &mut all.deleted] {
                *sum += number()?.ok_or("a file of the work folder is broken")?;
            }
            while let Some(position) = number()? {
                exists(position);
            }
        }
        Ok(all)
    }
}

/// A file that gets its name when it is completely written.
struct NewFile {
    writer: BufWriter<File>,
    path: PathBuf,
}

impl NewFile {
    fn create(path: PathBuf) -> Result<Self> {
        Ok(Self { writer: BufWriter::new(File::create(unfinished(&path))?), path })
    }

    fn finish(mut self) -> Result<()> {
        self.writer.flush()?;
        Ok(fs::rename(unfinished(&self.path), &self.path)?)
    }
}

fn unfinished(path: &Path) -> PathBuf {
    path.with_added_extension("unfinished")
}

/// The files of a segment of the restored table, while they are written.
pub(super) struct PreparedSegment {
    hashes: NewFile,
    keys: NewFile,
    companies: NewFile,
}

impl PreparedSegment {
    pub(super) fn add(&mut self, hash: ItemHash, pk: &str, sk: &str) -> Result<()> {
        self.hashes.writer.write_all(&hash.to_bytes())?;
        for text in [pk, sk] {
            // A key of DynamoDB has at most 2,048 bytes.
            self.keys.writer.write_all(&u16::try_from(text.len())?.to_be_bytes())?;
            self.keys.writer.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    pub(super) fn add_company(&mut self, company: &str) -> Result<()> {
        Ok(writeln!(self.companies.writer, "{company}")?)
    }

    pub(super) fn finish(self) -> Result<()> {
        // Finish the hashes last: they mark the segment as prepared.
        self.keys.finish()?;
        self.companies.finish()?;
        self.hashes.finish()
    }
}

struct Hashes(BufReader<File>);

impl Hashes {
    fn open(path: PathBuf) -> Result<Self> {
        Ok(Self(BufReader::new(File::open(path)?)))
    }

    fn next(&mut self) -> io::Result<Option<ItemHash>> {
        if self.0.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut bytes = [0; ItemHash::BYTES];
        self.0.read_exact(&mut bytes)?;
        Ok(Some(ItemHash::from_bytes(&bytes)))
    }
}

/// The keys of a segment of the restored table, in the order of their hashes.
pub(super) struct PreparedKeys {
    hashes: Hashes,
    keys: BufReader<File>,
}

impl PreparedKeys {
    /// The next keys of items that `is_wanted` accepts, at most `most`; `None` after the last one.
    pub(super) fn next_where(
        &mut self,
        most: usize,
        is_wanted: impl Fn(ItemHash) -> bool,
    ) -> Result<Option<Vec<OwnedKey>>> {
        let mut wanted = Vec::new();
        while wanted.len() < most
            && let Some(hash) = self.hashes.next()?
        {
            let key = OwnedKey { pk: self.text()?, sk: self.text()? };
            if is_wanted(hash) {
                wanted.push(key);
            }
        }
        Ok(Some(wanted).filter(|wanted| !wanted.is_empty()))
    }

    fn text(&mut self) -> Result<String> {
        let mut length = [0; 2];
        self.keys.read_exact(&mut length)?;
        let mut text = vec![0; u16::from_be_bytes(length).into()];
        self.keys.read_exact(&mut text)?;
        Ok(String::from_utf8(text)?)
    }
}
