//! The files in the bucket of a service under test.

use shared::clock::Clock as _;

use crate::app::TestApp;

/// The prefix of the ledger of erasures in the bucket.
const LEDGER: &str = "erased/";

impl TestApp {
    /// Checks that the bucket holds every stored file and nothing else.
    ///
    /// # Panics
    /// If a file is missing or left over.
    pub async fn assert_files_sound(&self) {
        assert_eq!(self.object_keys(), self.table().object_keys().await);
    }

    /// The keys of all objects in the service's bucket, except the ledger of erasures.
    pub fn object_keys(&self) -> Vec<String> {
        self.keys_in_bucket().into_iter().filter(|key| !key.starts_with(LEDGER)).collect()
    }

    /// Sets the modification time of objects whose keys end with `end` to the service's clock, which the local S3 does
    /// not know.
    ///
    /// # Panics
    /// If S3 is an external service.
    pub fn date_objects(&self, end: &str) {
        let bucket = self.app().config().bucket.as_deref().expect("a bucket");
        let folder = self.backend().folder().join("s3").join(bucket);
        for key in self.object_keys().iter().filter(|key| key.ends_with(end)) {
            let file = std::fs::File::options().write(true).open(folder.join(key)).expect("an object");
            file.set_modified(self.clock().now().into()).expect("a date");
        }
    }

    /// Deletes all objects, without events.
    ///
    /// # Panics
    /// If S3 is an external service.
    pub fn empty_bucket(&self) {
        let bucket = self.app().config().bucket.as_deref().expect("a bucket");
        let folder = self.backend().folder().join("s3").join(bucket);
        for key in self.object_keys() {
            std::fs::remove_file(folder.join(key)).expect("an object");
        }
    }

    /// The keys of the ledger of erasures.
    pub fn ledger(&self) -> Vec<String> {
        self.keys_in_bucket().into_iter().filter(|key| key.starts_with(LEDGER)).collect()
    }

    fn keys_in_bucket(&self) -> Vec<String> {
        self.backend().object_keys(self.app().config().bucket.as_deref().expect("a bucket")).expect("a list")
    }
}
