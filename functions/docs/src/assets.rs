//! GET /docs/{file}/: the style sheets and scripts of the page.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::response::Response;
use sha2::{Digest, Sha256};
use shared::app::App;
use shared::config::VERSION_PATH;
use shared::openapi::{Argument, Operation};
use shared::{Error, Result};

use crate::file::{File, Reader};

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of the page.
pub(crate) struct Asset {
    file: File,
    /// Stands in its address, so that this is another one when the file is.
    version: String,
}

/// Every file of the page by its name.
static ASSETS: LazyLock<BTreeMap<&str, Asset>> = LazyLock::new(|| {
    let files = [
        ("reference.css", CSS, include_str!("../assets/reference.css")),
        ("parts.css", CSS, include_str!("../assets/parts.css")),
        ("markdown.js", SCRIPT, include_str!("../assets/markdown.js")),
        ("schema.js", SCRIPT, include_str!("../assets/schema.js")),
        ("samples.js", SCRIPT, include_str!("../assets/samples.js")),
        ("trial.js", SCRIPT, include_str!("../assets/trial.js")),
        ("reference.js", SCRIPT, include_str!("../assets/reference.js")),
        ("navigation.js", SCRIPT, include_str!("../assets/navigation.js")),
    ];
    let assets = files.into_iter().filter_map(|(name, media_type, content)| {
        let file = File::pack(media_type, content.as_bytes())
            .inspect_err(|error| tracing::error!(name, %error, "a file of the page could not be packed"))
            .ok()?;
        let digest = Sha256::digest(file.packed());
        let version = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        Some((name, Asset { file, version }))
    });
    assets.collect()
});

/// The address of a file of this name.
pub(crate) fn address(name: &str) -> Option<String> {
    let Asset { version, .. } = ASSETS.get(name)?;
    Some(format!("{VERSION_PATH}/docs/{name}?v={version}"))
}

impl FromRequestParts<App> for &'static Asset {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let name = Path::<String>::from_request_parts(parts, app).await.map_err(|_| Error::NotFound)?;
        ASSETS.get(name.as_str()).ok_or(Error::NotFound)
    }
}

impl Argument for &'static Asset {
    fn describe(operation: &mut Operation) {
        operation.may_find_nothing();
    }
}

/// GET /docs/{file}/.
pub(crate) async fn show(asset: &'static Asset, reader: Reader) -> Result<Response> {
    if reader.query == format!("v={}", asset.version) {
        asset.file.send_for_ever(&reader)
    } else {
        asset.file.send(&reader)
    }
}
