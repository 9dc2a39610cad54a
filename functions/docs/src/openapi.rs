//! GET /openapi.json.

use std::sync::{Mutex, PoisonError};

use axum::response::Response;
use serde_json::{Value, json};
use shared::http::{CACHE_SHORTLY, FileReader, PackedFile};
use shared::{Error, Result};
use url::Url;

use crate::DOCUMENT;

/// A cache of the document for the base URL of the last request. A deployed process has only one base URL.
static LATEST: Mutex<Option<(Url, PackedFile)>> = Mutex::new(None);

/// GET /openapi.json.
pub(crate) async fn show(reader: FileReader) -> Result<Response> {
    of(&reader.base_url)?.send(&reader, CACHE_SHORTLY)
}

fn of(base_url: &Url) -> Result<PackedFile> {
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    // Cached, because compressing takes longer than all other steps.
    if let Some((_, file)) = latest.as_ref().filter(|(of, _)| of == base_url) {
        return Ok(file.clone());
    }
    let mut document: Value = serde_json::from_str(DOCUMENT).map_err(Error::internal)?;
    document["servers"] = json!([{ "url": base_url.as_str() }]);
    let file =
        PackedFile::pack("application/json", document.to_string().as_bytes()).map_err(Error::internal)?;
    *latest = Some((base_url.clone(), file.clone()));
    Ok(file)
}
