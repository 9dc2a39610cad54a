//! The bucket and its objects.

use std::path::Path;

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{ChecksumMode, Object};
use axum::body::Bytes;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::{CheckedFile, ledger};
use crate::app::App;
use crate::domain::history::erasure::ErasureRecord;
use crate::domain::id::FileId;
use crate::domain::media::file::{FileType, StoredFile};
use crate::error::{Error, Result};

/// The content type that S3 returns for objects that were stored without one. Archives name it, so that an import stores it.
// The SDK would otherwise send another type at the import, and a new export would differ from the first.
const NO_CONTENT_TYPE: &str = "binary/octet-stream";

/// The deployment's bucket.
pub struct ObjectStore<'a> {
    app: &'a App,
    pub(super) bucket: &'a str,
}

impl<'a> ObjectStore<'a> {
    /// The bucket in the setting `BUCKET_NAME`. Fails if it is not set.
    pub fn of(app: &'a App) -> Result<Self> {
        let bucket = app.config().bucket.as_deref();
        let bucket = bucket.ok_or_else(|| Error::internal("BUCKET_NAME is missing"))?;
        Ok(Self { app, bucket })
    }

    /// The client. Created at the first call, because most requests that may bring a file bring none.
    pub(super) fn s3(&self) -> &'a aws_sdk_s3::Client {
        self.app.aws().s3()
    }

    /// Stores a file under `key` with its content type. Idempotent.
    pub async fn put(&self, key: &str, id: FileId, file: CheckedFile) -> Result<StoredFile> {
        let file_type = file.file_type;
        let put = self.s3().put_object().bucket(self.bucket).key(key).content_type(file_type.content_type());
        let put = put.checksum_sha256(STANDARD.encode(Sha256::digest(&file.bytes)));
        put.body(ByteStream::from(file.bytes)).send().await.map_err(failure)?;
        Ok(StoredFile { id, file_type })
    }

    /// The bytes of the object under `key`; `None` if there is no object or it has more than `limit` bytes.
    pub async fn get(&self, key: &str, limit: u64) -> Result<Option<Bytes>> {
        match self.open(key).await? {
            // Check the length before reading the body, which could exhaust the memory.
            Some((length, body)) if length <= limit => {
                Ok(Some(body.collect().await.map_err(|error| Error::Busy(error.into()))?.into_bytes()))
            }
            _ => Ok(None),
        }
    }

    /// The length of the object under `key` and its bytes, which are not read yet; `None` if there is no object.
    async fn open(&self, key: &str) -> Result<Option<(u64, ByteStream)>> {
        match self.s3().get_object().bucket(self.bucket).key(key).send().await {
            Ok(found) => {
                let length = found.content_length().and_then(|length| u64::try_from(length).ok());
                Ok(length.map(|length| (length, found.body)))
            }
            Err(error) => self.confirm_absence(key, error).await,
        }
    }

    /// Returns `None` if the read failed because there is no object under `key`; otherwise fails with `error`.
    // S3 returns 404 only to callers with an unconditional right to list the bucket, and 403 to all others. Some of
    // these have the right to list this key; for the rest, an object that they may not read counts as absent.
    async fn confirm_absence<T, E>(&self, key: &str, error: SdkError<E>) -> Result<Option<T>>
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        match error.raw_response().map(|response| response.status().as_u16()) {
            Some(404) if error.code() != Some("NoSuchBucket") => return Ok(None),
            Some(403) => {}
            _ => return Err(failure(error)),
        }
        let listed = self.s3().list_objects_v2().bucket(self.bucket).prefix(key).max_keys(1).send().await;
        match listed {
            Ok(page) => {
                let is_there = page.contents().iter().any(|object| object.key() == Some(key));
                if is_there { Err(failure(error)) } else { Ok(None) }
            }
            // Any other refusal, for example of expired credentials, must fail: otherwise every object would seem absent.
            Err(refused) if refused.code() == Some("AccessDenied") => Ok(None),
            Err(refused) => Err(failure(refused)),
        }
    }

    /// Stores unvalidated bytes under `key`.
    pub async fn put_unchecked(&self, key: &str, bytes: Bytes) -> Result<()> {
        let put = self.s3().put_object().bucket(self.bucket).key(key);
        put.body(ByteStream::from(bytes)).send().await.map_err(failure)?;
        Ok(())
    }

    /// Stores an empty object under `key`. S3's event about it starts a function.
    pub async fn put_marker(&self, key: &str) -> Result<()> {
        self.put_unchecked(key, Bytes::new()).await
    }

    /// Streams the file at `path` to `key`.
    pub async fn put_file(&self, key: &str, path: &Path, file_type: FileType) -> Result<()> {
        let body = ByteStream::from_path(path).await.map_err(Error::internal)?;
        let (_, sha256) = copy_hashed(body, &mut tokio::io::sink()).await?;
        let body = ByteStream::from_path(path).await.map_err(Error::internal)?;
        let put = self.s3().put_object().bucket(self.bucket).key(key).content_type(file_type.content_type());
        // S3 keeps the hash, so that an export need not read the file.
        put.checksum_sha256(STANDARD.encode(sha256)).body(body).send().await.map_err(failure)?;
        Ok(())
    }

    /// Streams the file at `path` to `key`, unless an object with the same bytes exists. Fails if the file's hash
    /// differs from that in `file`.
    pub async fn import_file(&self, key: &str, path: &Path, file: &CopiedObject) -> Result<()> {
        let size = i64::try_from(file.size).map_err(Error::internal)?;
        let listed = self.list(key).await?;
        let is_there = listed.iter().any(|object| object.key == key && object.bytes == file.size);
        if is_there && self.digest(key).await?.is_some_and(|there| there.sha256 == file.sha256) {
            return Ok(());
        }
        let body = ByteStream::from_path(path).await.map_err(Error::internal)?;
        let put = self.s3().put_object().bucket(self.bucket).key(key).content_length(size);
        // S3 verifies the hash, so that only bytes are stored that the import has validated.
        let put = put.checksum_sha256(STANDARD.encode(file.sha256));
        let put = if file.content_type.is_empty() { put } else { put.content_type(&file.content_type) };
        put.body(body).send().await.map_err(failure)?;
        Ok(())
    }

    /// Streams the object under `key` to a file at `path` if the object has this size. Returns whether it has.
    pub async fn fetch(&self, key: &str, size: u64, path: &Path) -> Result<bool> {
        let Some((_, body)) = self.open(key).await?.filter(|(length, _)| *length == size) else {
            return Ok(false);
        };
        let mut body = body.into_async_read();
        let mut file = File::create(path).await.map_err(Error::internal)?;
        tokio::io::copy_buf(&mut body, &mut file).await.map_err(|error| Error::Busy(error.into()))?;
        file.flush().await.map_err(Error::internal)?;
        Ok(true)
    }

    /// Streams the object under `key` to a file at `path`; `None` if there is no object.
    pub async fn copy_to(&self, key: &str, path: &Path) -> Result<Option<CopiedObject>> {
        let found = match self.s3().get_object().bucket(self.bucket).key(key).send().await {
            Ok(found) => found,
            Err(error) => return self.confirm_absence(key, error).await,
        };
        let content_type = found.content_type.unwrap_or_else(|| NO_CONTENT_TYPE.to_owned());
        let mut file = File::create(path).await.map_err(Error::internal)?;
        let (size, sha256) = copy_hashed(found.body, &mut file).await?;
        file.flush().await.map_err(Error::internal)?;
        Ok(Some(CopiedObject { content_type, size, sha256 }))
    }

    /// The type, size and hash of the object under `key`; `None` if there is no object. Reads the object only if S3 has no hash of it.
    pub async fn digest(&self, key: &str) -> Result<Option<CopiedObject>> {
        let head = self.s3().head_object().bucket(self.bucket).key(key).checksum_mode(ChecksumMode::Enabled);
        let found = match head.send().await {
            Ok(found) => found,
            Err(error) => return self.confirm_absence(key, error).await,
        };
        let size = found.content_length().and_then(|length| u64::try_from(length).ok()).unwrap_or_default();
        // For a multipart upload, S3 returns a hash of the parts' hashes with their number appended, which does not decode to 32 bytes.
        let kept = found.checksum_sha256().and_then(|hash| STANDARD.decode(hash).ok()?.try_into().ok());
        let content_type = found.content_type.unwrap_or_else(|| NO_CONTENT_TYPE.to_owned());
        if let Some(sha256) = kept {
            return Ok(Some(CopiedObject { content_type, size, sha256 }));
        }
        let Some((_, body)) = self.open(key).await? else { return Ok(None) };
        let (size, sha256) = copy_hashed(body, &mut tokio::io::sink()).await?;
        Ok(Some(CopiedObject { content_type, size, sha256 }))
    }

    /// The bytes of the object under `key` from offset `from` to `to` (exclusive); `None` if there is no object.
    pub async fn get_range(&self, key: &str, from: u64, to: u64) -> Result<Option<Bytes>> {
        let range = format!("bytes={from}-{}", to.saturating_sub(1));
        match self.s3().get_object().bucket(self.bucket).key(key).range(range).send().await {
            Ok(found) => {
                let body = found.body.collect().await.map_err(|error| Error::Busy(error.into()))?;
                Ok(Some(body.into_bytes()))
            }
            Err(error) => self.confirm_absence(key, error).await,
        }
    }

    /// Writes the objects under `keys`, in this order, to one file at `path`. Returns whether all of them exist.
    pub async fn fetch_joined(&self, keys: &[String], path: &Path) -> Result<bool> {
        let mut file = File::create(path).await.map_err(Error::internal)?;
        for key in keys {
            let Some((_, body)) = self.open(key).await? else { return Ok(false) };
            let mut body = body.into_async_read();
            tokio::io::copy_buf(&mut body, &mut file).await.map_err(|error| Error::Busy(error.into()))?;
        }
        file.flush().await.map_err(Error::internal)?;
        Ok(true)
    }

    /// Deletes the object under `key`. Idempotent.
    pub async fn delete(&self, key: &str) -> Result<()> {
        self.s3().delete_object().bucket(self.bucket).key(key).send().await.map_err(failure)?;
        Ok(())
    }

    /// Deletes all objects whose keys begin with `prefix`. Idempotent.
    pub async fn delete_all(&self, prefix: &str) -> Result<()> {
        for object in self.list(prefix).await? {
            self.delete(&object.key).await?;
        }
        Ok(())
    }

    /// All objects whose keys begin with `prefix`.
    pub async fn list(&self, prefix: &str) -> Result<Vec<ListedObject>> {
        let mut listed: Vec<ListedObject> = Vec::new();
        loop {
            let list = self.s3().list_objects_v2().bucket(self.bucket).prefix(prefix);
            let last = listed.last().map(|object| object.key.clone());
            let page = list.set_start_after(last).send().await.map_err(failure)?;
            listed.extend(page.contents.into_iter().flatten().filter_map(ListedObject::of));
            if !page.is_truncated.unwrap_or_default() {
                return Ok(listed);
            }
        }
    }

    /// Records a deletion. Idempotent.
    pub async fn note_erasure(&self, erasure: &ErasureRecord) -> Result<()> {
        self.put_unchecked(&ledger::entry_key(erasure), Bytes::new()).await
    }

    /// A page of the deletions recorded at `since` or later, ordered by time, and the position of the next page; `None`
    /// on the last page. Fails if a key is malformed.
    pub async fn erasures(
        &self,
        since: &LedgerPosition,
    ) -> Result<(Vec<ErasureRecord>, Option<LedgerPosition>)> {
        let list = self.s3().list_objects_v2().bucket(self.bucket).prefix(ledger::LEDGER);
        let page = list.start_after(&since.0).send().await.map_err(failure)?;
        let keys: Vec<String> = page.contents.into_iter().flatten().filter_map(|object| object.key).collect();
        let entry = |key: &String| {
            let unknown = || Error::internal(format!("{key} is no entry of the ledger of erasures"));
            ledger::entry_in(key).ok_or_else(unknown)
        };
        let entries = keys.iter().map(entry).collect::<Result<_>>()?;
        let is_truncated = page.is_truncated.unwrap_or_default();
        Ok((entries, keys.into_iter().next_back().filter(|_| is_truncated).map(LedgerPosition)))
    }
}

/// Copies bytes to `target`. Returns their number and SHA-256.
async fn copy_hashed(
    mut body: ByteStream,
    target: &mut (impl AsyncWrite + Unpin),
) -> Result<(u64, [u8; 32])> {
    let mut hash = Sha256::new();
    let mut size = 0;
    while let Some(bytes) = body.try_next().await.map_err(|error| Error::Busy(error.into()))? {
        hash.update(&bytes);
        size += bytes.len() as u64;
        target.write_all(&bytes).await.map_err(Error::internal)?;
    }
    Ok((size, hash.finalize().into()))
}

/// An object that was copied to a file.
#[derive(Debug)]
pub struct CopiedObject {
    /// The content type that it was stored with.
    pub content_type: String,
    /// The size in bytes.
    pub size: u64,
    pub sha256: [u8; 32],
}

#[derive(Debug)]
pub struct ListedObject {
    pub key: String,
    /// The size of the object.
    pub bytes: u64,
    /// The time at which the object was stored.
    pub stored_at: DateTime<Utc>,
}

impl ListedObject {
    fn of(object: Object) -> Option<Self> {
        let bytes = object.size.and_then(|size| u64::try_from(size).ok()).unwrap_or_default();
        let stored_at = object.last_modified.and_then(|at| DateTime::from_timestamp(at.secs(), 0));
        Some(Self { key: object.key?, bytes, stored_at: stored_at.unwrap_or_default() })
    }
}

/// The position from which to continue reading deletion records.
#[derive(Debug)]
pub struct LedgerPosition(String);

impl LedgerPosition {
    /// The position of records at this time or later.
    pub fn at(since: DateTime<Utc>) -> Self {
        Self(ledger::start(since))
    }
}

/// The error for a failed call: [`Error::Busy`] if S3 is overloaded or unreachable, an internal error if a retry would
/// fail again, for example for a missing right.
fn failure<E>(error: SdkError<E>) -> Error
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    let is_refused = match &error {
        SdkError::ConstructionFailure(_) => true,
        // Throttling, timeouts and conflicts of concurrent writes are worth a retry.
        SdkError::ServiceError(service) => {
            let status = service.raw().status().as_u16();
            (400..500).contains(&status)
                && ![408, 409, 429].contains(&status)
                && error.code() != Some("RequestTimeout")
        }
        _ => false,
    };
    if is_refused { Error::internal(error) } else { Error::Busy(error.into()) }
}
