//! Files that are the same for all readers: kept gzipped, and sent gzipped to clients that accept gzip.

use std::io::{self, Read, Write};

use axum::body::Bytes;
use axum::extract::FromRequestParts;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use url::Url;

use super::{EntityTag, RequestConditions};
use crate::app::App;
use crate::error::{Error, Result};

/// `Cache-Control` of a URL whose content changes with a release.
pub const CACHE_SHORTLY: &str = "public, max-age=60";
/// `Cache-Control` of a URL that contains the version of its content.
pub const CACHE_FOR_EVER: &str = "public, max-age=31536000, immutable";

/// A file that is the same for all readers.
#[derive(Debug, Clone)]
pub struct PackedFile {
    media_type: &'static str,
    /// The gzipped content.
    packed: Bytes,
}

impl PackedFile {
    /// Compresses a file.
    ///
    /// # Errors
    /// None in practice, because compression writes to memory.
    pub fn pack(media_type: &'static str, content: &[u8]) -> io::Result<Self> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content)?;
        Ok(Self { media_type, packed: encoder.finish()?.into() })
    }

    /// A file whose `content` is gzipped already.
    pub const fn of_packed(media_type: &'static str, content: &'static [u8]) -> Self {
        Self { media_type, packed: Bytes::from_static(content) }
    }

    /// The size in bytes that clients which accept gzip download.
    pub fn packed_len(&self) -> usize {
        self.packed.len()
    }

    /// Responds to `reader` with the file or 304. `caching` is the `Cache-Control` header.
    ///
    /// # Errors
    /// [`Error::Internal`] if the content cannot be decompressed.
    pub fn send(&self, reader: &FileReader, caching: &'static str) -> Result<Response> {
        let mut headers = HeaderMap::from_iter(
            [(CONTENT_TYPE, self.media_type), (CACHE_CONTROL, caching), (VARY, "Accept-Encoding")]
                .map(|(name, value)| (name, HeaderValue::from_static(value))),
        );
        let body = if reader.takes_gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            self.packed.clone()
        } else {
            let mut content = Vec::new();
            GzDecoder::new(&*self.packed).read_to_end(&mut content).map_err(Error::internal)?;
            content.into()
        };
        let tag = EntityTag::of(&body);
        reader.conditions.answer(headers, body, &tag)
    }
}

/// A request for a file, which needs no credentials.
#[derive(Debug)]
pub struct FileReader {
    /// The base URL of this deployment.
    pub base_url: Url,
    /// The query string.
    pub query: String,
    conditions: RequestConditions,
    takes_gzip: bool,
}

impl FromRequestParts<App> for FileReader {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        Ok(Self {
            base_url: app.config().base_url.clone(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            conditions: RequestConditions::of(parts)?,
            takes_gzip: takes_gzip(&parts.headers),
        })
    }
}

/// Whether the client accepts gzip. Only a weight of 0 matters: there is no other coding to prefer.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    let mut codings = values.flat_map(|value| value.split(',')).map(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok());
        (name.trim(), weight.unwrap_or(0.0))
    });
    codings.any(|(name, weight): (&str, f32)| name.eq_ignore_ascii_case("gzip") && weight > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_clients_that_accept_it() {
        let takes =
            |value| takes_gzip(&HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))]));
        for value in ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.8, *;q=0.1"] {
            assert!(takes(value), "{value}");
        }
        for value in ["", "identity", "br", "gzip;q=0", "gzip; q=0.000", "x-gzipped", "gzip;level=9"] {
            assert!(!takes(value), "{value}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
