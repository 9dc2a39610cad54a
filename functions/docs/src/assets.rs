//! GET /docs/{file}/: what the page consists of, Swagger UI from its crate and our own.

use std::collections::BTreeMap;
use std::io;
use std::sync::LazyLock;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::response::Response;
use rawzip::{CompressionMethod, ZipArchive};
use sha2::{Digest, Sha256};
use shared::app::App;
use shared::config::VERSION_PATH;
use shared::openapi::{Argument, Operation};
use shared::{Error, Result};
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;

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
        ("swagger-ui.css", vendored("swagger-ui.css", CSS)),
        ("swagger-ui-bundle.js", vendored("swagger-ui-bundle.js", SCRIPT)),
        ("reference.css", File::pack(CSS, include_bytes!("../assets/reference.css"))),
        ("reference.js", File::pack(SCRIPT, include_bytes!("../assets/reference.js"))),
    ];
    let assets = files.into_iter().filter_map(|(name, file)| {
        let file =
            file.inspect_err(|error| tracing::error!(name, %error, "a file of the page is missing")).ok()?;
        let digest = Sha256::digest(file.packed());
        let version = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        Some((name, Asset { file, version }))
    });
    assets.collect()
});

/// A file of Swagger UI's distribution, packed as it is in the archive that the crate holds.
fn vendored(name: &str, media_type: &'static str) -> io::Result<File> {
    let archive = ZipArchive::from_slice(SWAGGER_UI_VENDORED).map_err(io::Error::other)?;
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(io::Error::other)? {
        let path = entry.file_path();
        let in_dist = path.as_ref().split(|byte| *byte == b'/').skip(1);
        if !in_dist.eq([b"dist", name.as_bytes()]) || entry.compression_method() != CompressionMethod::DEFLATE
        {
            continue;
        }
        let size = u32::try_from(entry.uncompressed_size_hint()).map_err(io::Error::other)?;
        let packed = archive.get_entry(entry.wayfinder()).map_err(io::Error::other)?;
        return Ok(File::deflated(media_type, packed.data(), entry.crc32(), size));
    }
    Err(io::ErrorKind::NotFound.into())
}

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
