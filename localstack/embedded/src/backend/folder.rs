//! The data folder, which one process at a time may use.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use shared::clock::SystemEntropy;
use shared::domain::random::RandomSource;

use crate::Error;

const LOCK: &str = "lock";
const TEMPORARY: &str = "interviews-embedded-";
/// Folders younger than this are kept: their process may not have locked them yet.
const SETTLED: Duration = Duration::from_secs(60);

/// An open data folder. Dropping it deletes a temporary folder.
pub(crate) struct Folder {
    path: PathBuf,
    temporary: bool,
    /// The lock, released when the process ends.
    _lock: File,
}

impl Folder {
    /// Opens a permanent folder, and creates it if needed.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let failed = || format!("cannot use the data folder {}", path.display());
        fs::create_dir_all(path).map_err(Error::because(failed()))?;
        let path = path.canonicalize().map_err(Error::because(failed()))?;
        let lock = File::create(path.join(LOCK)).map_err(Error::because(failed()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, temporary: false, _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                Err(Error::new(format!("another process uses the data folder {}", path.display())))
            }
            Err(TryLockError::Error(error)) => Err(Error::because(failed())(error)),
        }
    }

    /// Creates a temporary folder, and deletes those that crashed processes have left.
    pub(crate) fn temporary() -> Result<Self, Error> {
        Self::temporary_in(&std::env::temp_dir())
    }

    fn temporary_in(parent: &Path) -> Result<Self, Error> {
        remove_abandoned(parent);
        let mut bytes = [0; 8];
        SystemEntropy.fill(&mut bytes);
        let mut folder = Self::open(&parent.join(format!("{TEMPORARY}{:016x}", u64::from_be_bytes(bytes))))?;
        folder.temporary = true;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_temporary(&self) -> bool {
        self.temporary
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.temporary && fs::remove_dir_all(&self.path).is_err() {
            tracing::debug!(path = %self.path.display(), "the next temporary folder's start removes this one");
        }
    }
}

/// Deletes folders of crashed processes. Ignores errors, for example for folders of other users.
fn remove_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for path in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(TEMPORARY)) {
        let path = path.path();
        if is_abandoned(&path.join(LOCK)).unwrap_or(false) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

fn is_abandoned(lock: &Path) -> std::io::Result<bool> {
    let lock = File::open(lock)?;
    let age = lock.metadata()?.modified()?.elapsed().unwrap_or_default();
    Ok(age > SETTLED && lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_user_at_a_time() {
        let outer = Folder::temporary().unwrap();
        let path = outer.path().join("data");
        let folder = Folder::open(&path).unwrap();
        let refusal = Folder::open(&path).err().unwrap().to_string();
        assert!(refusal.starts_with("another process uses"), "{refusal}");
        drop(folder);
        assert!(Folder::open(&path).is_ok());
    }

    #[test]
    fn a_temporary_folder_goes_with_its_user_or_with_the_next_one() {
        // Uses its own parent folder: another process may be checking locks in the common one at the same time.
        let parent = Folder::temporary().unwrap();
        let folder = Folder::temporary_in(parent.path()).unwrap();
        let path = folder.path().to_owned();
        assert!(path.is_dir());
        drop(folder);
        assert!(!path.exists());

        fs::create_dir_all(&path).unwrap();
        let lock = File::create(path.join(LOCK)).unwrap();
        lock.set_modified(lock.metadata().unwrap().modified().unwrap() - 2 * SETTLED).unwrap();
        drop(lock);
        let _next = Folder::temporary_in(parent.path()).unwrap();
        assert!(!path.exists());
    }
}
