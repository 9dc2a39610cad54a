//! GET /page/{version}/{path}: the style sheets, scripts and images of the page.

use axum::extract::Path;
use axum::response::Response;
use shared::http::{CACHE_FOR_EVER, CACHE_SHORTLY, FileReader, PackedFile};
use shared::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// GET /page/{version}/{path}.
pub(crate) async fn show(
    Path((version, path)): Path<(String, String)>,
    reader: FileReader,
) -> Result<Response> {
    // Every path that a router sees ends in a slash.
    let path = path.strip_suffix('/').unwrap_or(&path);
    let (_, file) = FILES.iter().find(|(name, _)| *name == path).ok_or(Error::NotFound)?;
    // A page that was opened before a release imports further modules, such as a language, under its own version. Those of
    // another one would be kept under the wrong address.
    file.send(&reader, if version == VERSION { CACHE_FOR_EVER } else { CACHE_SHORTLY })
}
