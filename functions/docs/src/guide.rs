//! GET /docs/{file}/: the pages of the guide, as Markdown, and their scripts. The reference page renders them; programs
//! can read them directly.

use axum::response::Response;
use shared::http::{CACHE_SHORTLY, FileReader, PackedFile};
use shared::{Error, Result};

/// The base URL in the guide's source files. `localstack/run` serves it, so that the samples run unchanged.
const WRITTEN_FOR: &str = "http://localhost:8080/api/v3";

const MARKDOWN: &str = "text/markdown; charset=utf-8";
const PYTHON: &str = "text/x-python; charset=utf-8";

/// A page of the guide, or a script that a page tells its readers to run.
pub(crate) struct GuidePage {
    pub(crate) name: &'static str,
    media_type: &'static str,
    text: &'static str,
}

/// The page with this name and media type.
macro_rules! page {
    ($name:literal, $media_type:expr) => {
        GuidePage { name: $name, media_type: $media_type, text: include_str!(concat!("../guide/", $name)) }
    };
}

pub(crate) static PAGES: [GuidePage; 17] = [
    page!("quickstart.md", MARKDOWN),
    page!("connect-an-ats.md", MARKDOWN),
    page!("invite-without-our-mails.md", MARKDOWN),
    page!("keep-a-copy-in-step.md", MARKDOWN),
    page!("watch-without-an-account.md", MARKDOWN),
    page!("without-a-secret.md", MARKDOWN),
    page!("sign-in.md", MARKDOWN),
    page!("sign-in-entra-id.md", MARKDOWN),
    page!("sign-in-google.md", MARKDOWN),
    page!("sign-in-okta.md", MARKDOWN),
    page!("sign-in-keycloak.md", MARKDOWN),
    page!("leave.md", MARKDOWN),
    page!("error-codes.md", MARKDOWN),
    page!("changelog.md", MARKDOWN),
    page!("download-archive.py", PYTHON),
    page!("verify-archive.py", PYTHON),
    page!("kombo-assessment.py", PYTHON),
];

impl GuidePage {
    /// Sends the page, with the URL of this deployment in its samples.
    pub(crate) fn send(&self, reader: &FileReader) -> Result<Response> {
        let text = self.text.replace(WRITTEN_FOR, reader.base_url.as_str());
        let file = PackedFile::pack(self.media_type, text.as_bytes()).map_err(Error::internal)?;
        file.send(reader, CACHE_SHORTLY)
    }
}
