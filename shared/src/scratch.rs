//! Temporary folders for large files, deleted even if their process is killed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The prefix of the folders' names.
const PREFIX: &str = "interviews-";
/// The name of the file that the owner of a folder has locked.
const LOCK: &str = "lock";
/// The name of the lock file until it is locked.
const UNLOCKED: &str = "unlocked";

/// A folder that is deleted when it is dropped.
// A killed process drops nothing and would leave a full disk to the next one. So `create` deletes the folders of killed processes.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: TempDir,
    _lock: File,
}

impl ScratchFolder {
    /// Creates a folder, and deletes the folders of processes that were killed.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn create() -> io::Result<Self> {
        Self::create_in(&std::env::temp_dir())
    }

    /// Like [`create`](Self::create), but below `parent`.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn create_in(parent: &Path) -> io::Result<Self> {
        for left in left_in(parent) {
            // Another process may be deleting the folder too.
            let _ = fs::remove_dir_all(left);
        }
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let lock = lock_in(folder.path())?;
        Ok(Self { folder, _lock: lock })
    }

    /// The path of the folder. The folder also contains the lock file.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Creates the lock file and locks it.
// Locked before it gets its name, because an unlocked lock file looks like that of a dead owner.
fn lock_in(folder: &Path) -> io::Result<File> {
    let unlocked = folder.join(UNLOCKED);
    let lock = File::create(&unlocked)?;
    lock.lock()?;
    fs::rename(unlocked, folder.join(LOCK))?;
    Ok(lock)
}

/// The folders whose owners are dead. Ignores folders without a lock file, whose owner may be about to create it.
fn left_in(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    folders
        .map(|entry| entry.path())
        .filter(|path| {
            let lock = File::open(path.join(LOCK));
            lock.is_ok_and(|lock| !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn folders_of_the_dead_are_deleted_and_no_others() {
        let parent = tempfile::tempdir().unwrap();
        let alive = ScratchFolder::create_in(parent.path()).unwrap();
        let left = parent.path().join("interviews-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        // A sparse file: a gigabyte that takes no space on the disk.
        File::create(left.join("recording")).unwrap().set_len(1 << 30).unwrap();
        let foreign = parent.path().join("other");
        fs::create_dir(&foreign).unwrap();
        let next = ScratchFolder::create_in(parent.path()).unwrap();
        assert!(!left.exists() && foreign.exists() && alive.path().exists() && next.path().exists());
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists());
    }

    #[test]
    fn folders_that_others_create_meanwhile_are_not_deleted() {
        let parent = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..250 {
                        let own = ScratchFolder::create_in(parent.path()).unwrap();
                        assert!(own.path().join(LOCK).exists(), "another thread has deleted it");
                    }
                });
            }
        });
    }
}
