//! The files of an archive. They are untrusted input.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use shared::domain::archive::RecordKind;
use shared::domain::privacy::receipt::ReceiptKey;

use super::TrustedKeys;
use shared::archive::{
    ArchiveFile, FORMAT, MANIFEST, MEDIA, Manifest, Result, SIGNATURE, hexadecimal, name_of,
};

/// The maximum length of a line, in bytes. An item of the table has at most 400 KB.
const MAX_LINE: u64 = 1 << 20;
/// The maximum size of the manifest and of its signature, in bytes.
const MAX_MANIFEST: u64 = 1 << 20;

/// An archive whose manifest a trusted key has signed.
#[derive(Debug)]
pub(super) struct SignedArchive {
    folder: PathBuf,
    pub(super) manifest: Manifest,
    /// The SHA-256 of the manifest, in hexadecimal. It identifies the whole archive.
    pub(super) sha256: String,
    pub(super) key: ReceiptKey,
    files: BTreeMap<String, ArchiveFile>,
}

impl SignedArchive {
    /// Reads and verifies the manifest of the archive in `folder`.
    pub(super) fn open(folder: &Path, trusted: &TrustedKeys) -> Result<Self> {
        let text = read_whole(folder, MANIFEST)?;
        let signature = String::from_utf8(read_whole(folder, SIGNATURE)?)?;
        let key = match trusted {
            TrustedKeys::Named(keys) => named_key(keys, &signature, &text)?,
            TrustedKeys::OfArchive => key_in(folder, &signature, &text)?,
        };
        let value: serde_json::Value = serde_json::from_slice(&text)?;
        if let Some(number) = too_large(&value) {
            return Err(format!("{MANIFEST}: {number} is too large").into());
        }
        let manifest: Manifest =
            serde_json::from_value(value).map_err(|error| format!("{MANIFEST}: {error}"))?;
        if serde_json_canonicalizer::to_vec(&manifest)? != text {
            return Err(format!("{MANIFEST}: this is not canonical JSON").into());
        }
        if manifest.format != FORMAT {
            return Err(format!("{MANIFEST}: this release reads {FORMAT} and not {}", manifest.format).into());
        }
        let mut expected: Vec<String> =
            RecordKind::ALL.into_iter().map(name_of).chain([MEDIA.to_owned()]).collect();
        expected.sort();
        if !manifest.files.iter().map(|file| &file.name).eq(&expected) {
            return Err(format!("{MANIFEST}: the files are not those of {FORMAT}").into());
        }
        let files = manifest.files.iter().map(|file| (file.name.clone(), file.clone())).collect();
        let sha256 = hexadecimal(&Sha256::digest(&text));
        Ok(Self { folder: folder.to_owned(), manifest, sha256, key, files })
    }

    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The lines of the file for a kind of records.
    pub(super) fn records(&self, kind: RecordKind) -> Result<Lines> {
        self.lines(&name_of(kind))
    }

    /// The lines of a file that is in the manifest.
    pub(super) fn lines(&self, name: &str) -> Result<Lines> {
        let expected = self.files.get(name).ok_or_else(|| format!("{MANIFEST}: {name} is missing"))?;
        Lines::of(&self.folder, expected.clone())
    }

    /// Refuses symbolic links, and files that are in neither the manifest nor `media.jsonl`.
    pub(super) fn refuse_unnamed_files(&self, media: &HashSet<String>) -> Result<()> {
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(self.path_of(&folder))? {
                let entry = entry?;
                let file_name = entry.file_name();
                let name = file_name.to_str().ok_or("a file has a name that is no text")?;
                let name = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                let file_type = entry.file_type()?;
                if file_type.is_dir() {
                    folders.push(name);
                    continue;
                }
                let is_named = self.files.contains_key(&name)
                    || [MANIFEST, SIGNATURE].contains(&name.as_str())
                    || name.strip_prefix("media/").is_some_and(|path| media.contains(path));
                if !file_type.is_file() || !is_named {
                    return Err(format!("{name}: the archive names no such file").into());
                }
            }
        }
        Ok(())
    }
}

/// Finds a number that is not an integer below 2^53: JSON does not hold such numbers exactly, and the service could not
/// count on from them.
fn too_large(value: &serde_json::Value) -> Option<&serde_json::Number> {
    match value {
        serde_json::Value::Number(number) => {
            Some(number).filter(|number| number.as_u64().is_none_or(|number| number >= 1 << 53))
        }
        serde_json::Value::Array(values) => values.iter().find_map(too_large),
        serde_json::Value::Object(values) => values.values().find_map(too_large),
        _ => None,
    }
}

/// Parses the identifier of the record in a line.
pub(super) fn identifier_in(line: &str) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Identified {
        id: String,
    }
    let Identified { id } = serde_json::from_str(line).map_err(|error| error.to_string())?;
    Ok(id)
}

/// The key of the operator's trusted `keys` that has signed the manifest.
fn named_key(keys: &[ReceiptKey], signature: &str, manifest: &[u8]) -> Result<ReceiptKey> {
    let found = keys.iter().find(|key| key.has_signed_manifest(signature, manifest));
    Ok(*found.ok_or_else(|| {
        let named: Vec<String> = keys.iter().map(ReceiptKey::thumbprint).collect();
        format!("{SIGNATURE}: this is no signature of {MANIFEST} by the key {}", named.join(" or "))
    })?)
}

/// The key in the archive that has signed the manifest.
fn key_in(folder: &Path, signature: &str, manifest: &[u8]) -> Result<ReceiptKey> {
    let name = name_of(RecordKind::ReceiptKeys);
    for line in String::from_utf8(read_whole(folder, &name)?)?.lines() {
        let record: serde_json::Value = serde_json::from_str(line)?;
        let key = record["value"]["x"].as_str().and_then(|x| ReceiptKey::parse(x).ok());
        if let Some(key) = key.filter(|key| key.has_signed_manifest(signature, manifest)) {
            return Ok(key);
        }
    }
    Err(format!("{SIGNATURE}: no key in {name} has signed {MANIFEST}").into())
}

/// Reads a file of at most [`MAX_MANIFEST`] bytes. Does not follow symbolic links.
fn read_whole(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(folder, name)?.take(MAX_MANIFEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_MANIFEST {
        return Err(format!("{name}: it is larger than {MAX_MANIFEST} bytes").into());
    }
    Ok(bytes)
}

fn open_file(folder: &Path, name: &str) -> Result<File> {
    let path = folder.join(name);
    let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    if !is_file {
        return Err(format!("{name}: there is no such file").into());
    }
    Ok(File::open(path)?)
}

/// Reads a file line by line, and compares it with the manifest when it reaches the end.
pub(super) struct Lines {
    expected: ArchiveFile,
    file: BufReader<File>,
    hash: Sha256,
    size: u64,
    /// The number of lines read so far.
    pub(super) number: u64,
}

impl Lines {
    fn of(folder: &Path, expected: ArchiveFile) -> Result<Self> {
        let file = open_file(folder, &expected.name)?;
        // Check the size before reading anything.
        if file.metadata()?.len() != expected.size {
            return Err(format!("{}: it has not the size that the manifest says", expected.name).into());
        }
        Ok(Self { expected, file: BufReader::new(file), hash: Sha256::new(), size: 0, number: 0 })
    }

    /// Returns the next line; `None` at the end of the file.
    pub(super) fn next_line(&mut self) -> Result<Option<String>> {
        let mut line = Vec::new();
        let read = (&mut self.file).take(MAX_LINE + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            let sha256 = hexadecimal(&self.hash.clone().finalize());
            let ArchiveFile { name, lines, size, sha256: expected } = &self.expected;
            if (self.number, self.size, &sha256) != (*lines, *size, expected) {
                return Err(format!("{name}: it is not the file that the manifest names").into());
            }
            return Ok(None);
        }
        self.number += 1;
        self.size += read as u64;
        self.hash.update(&line);
        if line.pop() != Some(b'\n') {
            return Err(self.fault(&format!("it is longer than {MAX_LINE} bytes or has no end")));
        }
        String::from_utf8(line).map(Some).map_err(|_| self.fault("this is not UTF-8"))
    }

    /// Returns the next lines, at most `most`; an empty vector at the end of the file.
    pub(super) fn next_lines(&mut self, most: usize) -> Result<Vec<String>> {
        let mut lines = Vec::with_capacity(most);
        while lines.len() < most
            && let Some(line) = self.next_line()?
        {
            lines.push(line);
        }
        Ok(lines)
    }

    /// Creates an error that names the file and the last line.
    pub(super) fn fault(&self, problem: &str) -> Box<dyn std::error::Error + Send + Sync> {
        format!("{}, line {}: {problem}", self.expected.name, self.number).into()
    }
}
