//! Signed URLs, with which clients read or upload a single object for a short time.

use std::time::Duration;

use aws_sdk_s3::presigning::{PresignedRequest, PresigningConfig};
use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use url::Url;

use super::objects::ObjectStore;
use crate::domain::media::file::FileType;
use crate::error::{Error, Result};

/// How long URLs of images and documents work.
// Long enough to follow a redirect.
const FETCH: Duration = Duration::from_secs(60);
/// How long URLs of videos work at most: they end with the function's credentials.
// Players go on fetching until the video has been watched.
const WATCH: Duration = Duration::from_secs(4 * 60 * 60);
/// The `Cache-Control` of all objects.
// Not cached: on a shared computer, the browser would keep the file for the next person.
const CACHE_CONTROL: &str = "private, no-store";

/// A signed request for a client to upload one object of a given size and content type.
#[derive(Debug)]
pub struct SignedUpload {
    pub url: String,
    pub method: String,
    /// Headers that the client must send unchanged.
    pub headers: Vec<(String, String)>,
}

impl ObjectStore<'_> {
    /// A signed URL that displays the object under `key` or, with `name`, saves it under this name. It works for a
    /// minute, that of a video for up to four hours, and no longer than `max_lifetime`. HEAD and GET need different URLs.
    pub async fn url_of(
        &self,
        key: &str,
        file_type: FileType,
        name: Option<&str>,
        method: &Method,
        max_lifetime: Option<Duration>,
    ) -> Result<String> {
        let lifetime = if matches!(file_type, FileType::Mp4 | FileType::Flv) { WATCH } else { FETCH };
        let lifetime = max_lifetime.map_or(lifetime, |max| lifetime.min(max));
        let lifetime = PresigningConfig::expires_in(lifetime).map_err(Error::internal)?;
        // A browser must save an uploaded document, not open it: it may contain scripts.
        let disposition = name.map_or_else(|| "inline".to_owned(), attachment);
        // A signature is valid for one method.
        let signed = if method == Method::HEAD {
            let head = self.s3().head_object().bucket(self.bucket).key(key);
            let head =
                head.response_content_type(file_type.content_type()).response_cache_control(CACHE_CONTROL);
            head.response_content_disposition(disposition).presigned(lifetime).await.map_err(Error::internal)
        } else {
            let get = self.s3().get_object().bucket(self.bucket).key(key);
            let get =
                get.response_content_type(file_type.content_type()).response_cache_control(CACHE_CONTROL);
            get.response_content_disposition(disposition).presigned(lifetime).await.map_err(Error::internal)
        };
        Ok(signed?.uri().to_owned())
    }

    /// A signed URL to download the object under `key` as `name`, which works for `lifetime`.
    pub async fn download_url(&self, key: &str, name: &str, lifetime: Duration) -> Result<String> {
        let lifetime = PresigningConfig::expires_in(lifetime).map_err(Error::internal)?;
        let get = self.s3().get_object().bucket(self.bucket).key(key);
        let get = get.response_content_disposition(attachment(name)).response_cache_control(CACHE_CONTROL);
        Ok(get.presigned(lifetime).await.map_err(Error::internal)?.uri().to_owned())
    }

    /// The origin of signed URLs, such as `https://name.s3.eu-central-1.amazonaws.com`. Makes no call to S3.
    pub async fn origin(&self) -> Result<String> {
        // Sign any URL, because only the client knows its form: with the bucket in the host on AWS, in the path elsewhere.
        let lifetime = PresigningConfig::expires_in(FETCH).map_err(Error::internal)?;
        let signed = self.s3().get_object().bucket(self.bucket).key("origin").presigned(lifetime).await;
        let url = Url::parse(signed.map_err(Error::internal)?.uri()).map_err(Error::internal)?;
        Ok(url.origin().ascii_serialization())
    }

    /// A signed request to upload an object of this size and content type to `key`. The upload must start within
    /// `lifetime`.
    pub async fn upload_to(
        &self,
        key: &str,
        content_type: &str,
        size: u64,
        lifetime: Duration,
    ) -> Result<SignedUpload> {
        let lifetime = PresigningConfig::expires_in(lifetime).map_err(Error::internal)?;
        let size = i64::try_from(size).map_err(Error::internal)?;
        let put = self.s3().put_object().bucket(self.bucket).key(key).content_type(content_type);
        // The signature covers size and type, so S3 accepts nothing else.
        let signed = put.content_length(size).presigned(lifetime).await.map_err(Error::internal)?;
        Ok(signed.into())
    }

    /// A signed request to upload these bytes to `key`, unless an object is there already. The upload must start within
    /// `lifetime`.
    pub async fn upload_once_to(
        &self,
        key: &str,
        upload: &HashedUpload,
        lifetime: Duration,
    ) -> Result<SignedUpload> {
        let lifetime = PresigningConfig::expires_in(lifetime).map_err(Error::internal)?;
        let size = i64::try_from(upload.size).map_err(Error::internal)?;
        let put = self.s3().put_object().bucket(self.bucket).key(key).content_length(size);
        // The signature covers the hash and the condition, so S3 stores these bytes or none, and never replaces them later.
        let put = put.checksum_sha256(&upload.sha256).if_none_match("*");
        Ok(put.presigned(lifetime).await.map_err(Error::internal)?.into())
    }
}

/// An object that a client is to upload: its size, and the SHA-256 of its bytes in base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashedUpload {
    /// The size in bytes.
    pub size: u64,
    /// The hash in base64.
    pub sha256: String,
}

impl HashedUpload {
    /// Checks that `text` is the base64 of 32 bytes, and returns it.
    pub fn check_digest(text: &str) -> Result<String, String> {
        let bytes = STANDARD.decode(text).ok().filter(|bytes| bytes.len() == 32);
        bytes.map(|_| text.to_owned()).ok_or_else(|| "Use the SHA-256 of the part in base64.".to_owned())
    }
}

impl From<PresignedRequest> for SignedUpload {
    fn from(request: PresignedRequest) -> Self {
        Self {
            url: request.uri().to_owned(),
            method: request.method().to_owned(),
            headers: request.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        }
    }
}

/// A `Content-Disposition` that makes browsers save the file under `name`, which may have any characters (RFC 6266).
fn attachment(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || " .-".contains(c) { c } else { '_' }).collect();
    // `filename*` is for browsers that know it, `filename` in ASCII for all others.
    let encoded: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{}", encoded.replace('+', "%20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reaches_old_and_new_browsers() {
        assert_eq!(
            attachment("Zoë \"Q\" Byron.pdf"),
            "attachment; filename=\"Zo_ _Q_ Byron.pdf\"; filename*=UTF-8''Zo%C3%AB%20%22Q%22%20Byron.pdf"
        );
    }
}
