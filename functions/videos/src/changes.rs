//! What clients send of a video.

use axum::body::Bytes;
use shared::Result;
use shared::domain::text::{ShortName, TextLines};
use shared::domain::upload::AnnouncedFile;
use shared::domain::video::{FileName, MAX_VIDEO_BYTES, NewVideo, Video};
use shared::http::BodyFields;
use shared::http::fields::set;

/// What a form declares of a file counts for nothing: the conversion finds out what it is.
const ANYTHING: &str = "application/octet-stream";

/// A new video.
#[derive(Debug)]
pub(crate) enum CreateVideo {
    /// With its file.
    Sent(NewVideo, Bytes),
    /// Whose file the client is going to send elsewhere.
    Announced(NewVideo),
}

impl CreateVideo {
    /// Reads a form with the file, or a JSON object that announces it.
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        let name = body.required("name", ShortName::parse);
        let description = body.lines("description").unwrap_or_default();
        let internal_description = body.lines("internal_description").unwrap_or_default();
        let (file, bytes) = if body.is_form() { read_file(&mut body) } else { (announced(&mut body), None) };
        body.finish(|| {
            let (upload_filename, file) = file?;
            let new = NewVideo { name: name?, description, internal_description, upload_filename, file };
            Some(match bytes {
                Some(bytes) => Self::Sent(new, bytes),
                None => Self::Announced(new),
            })
        })
    }
}

/// The file of a form.
fn read_file(body: &mut BodyFields) -> (Option<(FileName, AnnouncedFile)>, Option<Bytes>) {
    let missing = "Send the video as a multipart/form-data part with a file name.";
    let Some(file) = body.required_file("file", missing) else { return (None, None) };
    if file.bytes.is_empty() {
        body.refuse("file", "The submitted file is empty.");
    }
    let announced = AnnouncedFile { content_type: ANYTHING.to_owned(), size: file.bytes.len() as u64 };
    match FileName::parse(&file.name) {
        Ok(name) => (Some((name, announced)), Some(file.bytes)),
        Err(message) => {
            body.refuse("file", message);
            (None, None)
        }
    }
}

/// The file that a JSON object announces.
fn announced(body: &mut BodyFields) -> Option<(FileName, AnnouncedFile)> {
    let name = body.required("upload_filename", FileName::parse);
    let announced = body.announced(MAX_VIDEO_BYTES);
    name.zip(announced)
}

/// What is to be different.
#[derive(Debug)]
pub(crate) struct UpdateVideo {
    name: Option<ShortName>,
    description: Option<TextLines<2000>>,
    internal_description: Option<TextLines<2000>>,
}

impl UpdateVideo {
    /// Reads what is to be different; the rest stays as it is.
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        let changes = Self {
            name: body.text("name", ShortName::parse),
            description: body.lines("description"),
            internal_description: body.lines("internal_description"),
        };
        body.finish(|| Some(changes))
    }

    /// Reads everything that can be different; what is absent becomes empty.
    pub(crate) fn read_whole(mut body: BodyFields) -> Result<Self> {
        body.require("name");
        let Self { name, description, internal_description } = Self::read(body)?;
        Ok(Self {
            name,
            description: description.or_else(|| Some(TextLines::default())),
            internal_description: internal_description.or_else(|| Some(TextLines::default())),
        })
    }

    /// The video with them.
    pub(crate) fn apply_to(self, mut video: Video) -> Video {
        set(&mut video.name, self.name);
        set(&mut video.description, self.description);
        set(&mut video.internal_description, self.internal_description);
        video
    }
}
