//! GET /docs/{file}/: the page's style sheets and scripts, and the pages of the guide.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::response::Response;
use shared::app::App;
use shared::http::{CACHE_FOR_EVER, CACHE_SHORTLY, FileReader, PackedFile};
use shared::openapi::{DescribeArgument, OperationDoc};
use shared::{Error, Result};

use crate::guide::{GuidePage, PAGES};
use crate::packed;

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A style sheet or script of the reference page.
pub(crate) struct PageAsset {
    name: &'static str,
    file: PackedFile,
    /// Part of the URL, so that a new file gets a new URL.
    version: &'static str,
}

/// The asset with this name and media type.
macro_rules! asset {
    ($name:literal, $media_type:expr) => {
        PageAsset {
            name: $name,
            file: packed!($name, $media_type),
            version: include_str!(concat!(env!("OUT_DIR"), "/", $name, ".version")),
        }
    };
}

static ASSETS: [PageAsset; 8] = [
    asset!("reference.css", CSS),
    asset!("parts.css", CSS),
    asset!("markdown.js", SCRIPT),
    asset!("schema.js", SCRIPT),
    asset!("samples.js", SCRIPT),
    asset!("trial.js", SCRIPT),
    asset!("reference.js", SCRIPT),
    asset!("navigation.js", SCRIPT),
];

/// A file below `/docs/`: an asset, or a page or script of the guide.
pub(crate) enum ReferenceFile {
    Asset(&'static PageAsset),
    Page(&'static GuidePage),
}

impl FromRequestParts<App> for ReferenceFile {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Path(name) = Path::<String>::from_request_parts(parts, app).await.map_err(|_| Error::NotFound)?;
        let asset = ASSETS.iter().find(|asset| asset.name == name).map(Self::Asset);
        let page = || PAGES.iter().find(|page| page.name == name).map(Self::Page);
        asset.or_else(page).ok_or(Error::NotFound)
    }
}

impl DescribeArgument for ReferenceFile {
    fn describe(operation: &mut OperationDoc) {
        operation.may_find_nothing();
    }
}

/// GET /docs/{file}/.
pub(crate) async fn show(file: ReferenceFile, reader: FileReader) -> Result<Response> {
    match file {
        ReferenceFile::Asset(asset) => {
            let is_this_version = reader.query == format!("v={}", asset.version);
            asset.file.send(&reader, if is_this_version { CACHE_FOR_EVER } else { CACHE_SHORTLY })
        }
        ReferenceFile::Page(page) => page.send(&reader),
    }
}
