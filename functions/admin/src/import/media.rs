//! The files below `media/`.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use futures_util::future::try_join_all;
use shared::domain::id::CompanyId;
use shared::domain::media::file::{FileKind, FileType, StoredFile};
use shared::media::{CopiedObject, ObjectStore, detect};

use super::files::SignedArchive;
use shared::archive::{self, MEDIA, MediaCount, MediaLine, MediaPlace, NeededRecordings, Result};

/// The number of concurrent uploads.
const AT_ONCE: usize = 8;
/// The maximum length of a content type, in bytes.
const MAX_CONTENT_TYPE: usize = 200;
/// How many first bytes of a file show its type.
const START: usize = 12;

/// The photos and CVs that records refer to, by their paths below `media/`.
pub(super) type NamedFiles = HashMap<String, (FileKind, StoredFile)>;

/// Validates the list of files, their contents and their owners. Returns the number of missing files that records refer
/// to: they were missing when the archive was written or, if `allows_missing`, when it was downloaded.
pub(super) fn validate(
    archive: &SignedArchive,
    mut named: NamedFiles,
    mut recordings: NeededRecordings,
    owners: &HashSet<(&'static str, String)>,
    allows_missing: bool,
) -> Result<u64> {
    let mut lines = archive.lines(MEDIA)?;
    let mut paths = HashSet::new();
    let mut last = String::new();
    let mut count = MediaCount::default();
    let mut absent = 0;
    while let Some(line) = lines.next_line()? {
        let file = read_line(&line).map_err(|error| lines.fault(&error.to_string()))?;
        if file.path <= last {
            return Err(lines.fault("the paths are not in their order, or one comes twice"));
        }
        let (place, below) = place_of(&file.path).ok_or_else(|| lines.fault("this is no path of a file"))?;
        let owner = place.owner_of(below).unwrap_or_default();
        let kind = place.kind().name();
        if (file.owner.kind.as_str(), &file.owner.id) != (kind, &owner) || !owners.contains(&(kind, owner)) {
            return Err(lines.fault("its owner is not the one of its path, or is not in the archive"));
        }
        let name = format!("media/{}", file.path);
        let path = archive.path_of(&name);
        recordings.note_found(&file.path);
        count.count += 1;
        count.bytes = add(count.bytes, file.size)?;
        last.clone_from(&file.path);
        if is_absent(&path) {
            if !allows_missing {
                return Err(
                    lines.fault("the file is missing; --allow-missing imports the archive without it")
                );
            }
            named.remove(&file.path);
            absent += 1;
            continue;
        }
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() == file.size) {
            return Err(lines.fault("this is no file of this size"));
        }
        if archive::describe(&archive.path_of("media"), file.path.clone())?.sha256 != file.sha256 {
            return Err(lines.fault("the file has another hash"));
        }
        let is_of_its_type = match (place.is_of_person(below), named.remove(&file.path)) {
            (true, None) => return Err(lines.fault("no record names this file")),
            // Check the size before reading the file.
            (true, Some((kind, _))) if file.size > kind.max_bytes() => false,
            (true, Some((kind, stored))) => is_document(&file, kind, stored.file_type, &fs::read(&path)?),
            (false, _) => is_recording(place, &file, &start_of(&path)?),
        };
        if !is_of_its_type {
            return Err(lines.fault("the file is not of its content type"));
        }
        paths.insert(file.path);
    }
    let lost: u64 = recordings.missing().map(|(_, files)| files).sum();
    count.missing = add(named.len() as u64, lost)?;
    if count != archive.manifest.media {
        return Err("manifest.json: the numbers of media are wrong".into());
    }
    if let Some(candidate) = recordings.lost_take().filter(|_| !allows_missing) {
        return Err(format!(
            "records/answers.jsonl: a recording of {candidate} waits for its conversion, and its parts are missing; --allow-missing imports it as failed"
        )
        .into());
    }
    archive.refuse_unnamed_files(&paths)?;
    add(count.missing, absent)
}

fn add(one: u64, other: u64) -> Result<u64> {
    Ok(one.checked_add(other).ok_or("manifest.json: the numbers of media are wrong")?)
}

fn is_absent(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Uploads all files to the bucket.
pub(super) async fn store(
    archive: &SignedArchive,
    company: &CompanyId,
    objects: &ObjectStore<'_>,
    allows_missing: bool,
) -> Result<()> {
    let mut lines = archive.lines(MEDIA)?;
    loop {
        let together = lines.next_lines(AT_ONCE)?;
        if together.is_empty() {
            return Ok(());
        }
        let mut uploads = Vec::with_capacity(AT_ONCE);
        for line in together {
            let file = read_line(&line)?;
            let (place, below) = place_of(&file.path).ok_or("a path that is none")?;
            if allows_missing && is_absent(&archive.path_of(&format!("media/{}", file.path))) {
                continue;
            }
            let key = format!("{}{below}", place.prefix(company));
            uploads.push(store_one(archive, objects, key, file));
        }
        try_join_all(uploads).await?;
    }
}

async fn store_one(
    archive: &SignedArchive,
    objects: &ObjectStore<'_>,
    key: String,
    file: MediaLine,
) -> Result<()> {
    let path = archive.path_of(&format!("media/{}", file.path));
    let sha256 = archive::bytes_of(&file.sha256).ok_or("a hash that is no hash")?;
    let copied = CopiedObject { content_type: file.content_type, size: file.size, sha256 };
    Ok(objects.import_file(&key, &path, &copied).await?)
}

fn read_line(line: &str) -> Result<MediaLine> {
    let file: MediaLine = serde_json::from_str(line)?;
    if serde_json_canonicalizer::to_string(&file)? != line {
        return Err("this is not canonical JSON".into());
    }
    Ok(file)
}

/// The place of a path, provided that all its segments are plain names.
fn place_of(path: &str) -> Option<(MediaPlace, &str)> {
    let is_plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    path.split('/').all(is_plain).then(|| MediaPlace::of(path))?
}

/// Whether the file is a photo or CV of its stored type.
fn is_document(file: &MediaLine, kind: FileKind, expected: FileType, bytes: &[u8]) -> bool {
    file.content_type == expected.content_type() && detect(kind, bytes) == Some(expected)
}

/// Whether the file is a rendition of its content type, or an unconverted recording, which the service does not serve.
fn is_recording(place: MediaPlace, file: &MediaLine, start: &[u8]) -> bool {
    if matches!(place, MediaPlace::Takes | MediaPlace::Uploads) {
        return file.content_type.len() <= MAX_CONTENT_TYPE
            && file.content_type.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    }
    let served = [FileType::Mp4, FileType::Jpeg, FileType::Flv];
    match served.into_iter().find(|served| served.content_type() == file.content_type) {
        Some(FileType::Mp4) => start.get(4..8) == Some(b"ftyp"),
        Some(FileType::Jpeg) => start.starts_with(b"\xff\xd8\xff"),
        Some(FileType::Flv) => start.starts_with(b"FLV"),
        _ => false,
    }
}

fn start_of(path: &Path) -> Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(START as u64).read_to_end(&mut start)?;
    Ok(start)
}
