//! Reads the announcement of a file that the client then uploads to the bucket itself.

use crate::domain::media::file::FileKind;
use crate::domain::media::upload::AnnouncedFile;
use crate::domain::not_a_choice;
use crate::error::Result;
use crate::http::body::fields::BodyFields;

const MAX_CONTENT_TYPE: usize = 100;

pub fn read_announcement(mut body: BodyFields, kinds: &[FileKind]) -> Result<(FileKind, AnnouncedFile)> {
    let kind = body.required("field", |name| {
        let found = kinds.iter().find(|kind| kind.as_str() == name);
        let choices = || kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>();
        found.copied().ok_or_else(|| not_a_choice(name, &choices()))
    });
    let announced = body.announced(kind.map_or(u64::MAX, FileKind::max_bytes));
    body.finish(|| kind.zip(announced))
}

impl BodyFields {
    /// Reads the required `content_type` and `size` of a file of at most `max_bytes`.
    pub fn announced(&mut self, max_bytes: u64) -> Option<AnnouncedFile> {
        let content_type = self.required("content_type", parse_content_type);
        self.require("size");
        let size = self.integer("size", 1, u32::try_from(max_bytes).unwrap_or(u32::MAX));
        Some(AnnouncedFile { content_type: content_type?, size: size?.into() })
    }
}

fn parse_content_type(text: &str) -> Result<String, String> {
    let (kind, subtype) = text.split_once('/').unwrap_or_default();
    // Only characters that a header allows: the client must repeat the type as the `Content-Type` of its upload.
    let is_header = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if kind.is_empty() || subtype.is_empty() || !is_header || text.len() > MAX_CONTENT_TYPE {
        return Err("Enter a content type such as application/pdf.".to_owned());
    }
    Ok(text.to_owned())
}
