//! GET /page/{version}/{path}: the style sheets, scripts and images of the page.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::Response;
use shared::http::{CACHE_FOR_EVER, CACHE_SHORTLY, FileReader, PackedFile};
use shared::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// GET /page/{version}/{path}.
pub(crate) async fn show(
    named: Result<Path<(String, String)>, PathRejection>,
    reader: FileReader,
) -> Result<Response> {
    // A path that is not UTF-8 names no file.
    let Path((version, path)) = named.map_err(|_| Error::NotFound)?;
    // Every path that a router sees ends in a slash.
    let path = path.strip_suffix('/').unwrap_or(&path);
    let (_, file) = FILES.iter().find(|(name, _)| *name == path).ok_or(Error::NotFound)?;
    // A page that was opened before a release imports further modules, such as a language, under its own version. Those of
    // another one would be kept under the wrong address.
    file.send(&reader, if version == VERSION { CACHE_FOR_EVER } else { CACHE_SHORTLY })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a candidate loads in one language, on a phone perhaps: all but the other languages.
    #[test]
    fn the_page_stays_small() {
        let is_loaded = |path: &str| !path.starts_with("texts/") || path == "texts/en.js";
        let loaded = FILES.iter().filter(|(path, _)| is_loaded(path)).map(|(_, file)| file.packed_len());
        let bytes = INDEX.packed_len() + loaded.sum::<usize>();
        // 2 KB of it explain links that have ended and name a contact: candidates who open such a link see nothing else.
        assert!(bytes < 34_000, "{bytes} bytes");
    }
}
