//! Reads the bodies that create, replace or change a video.

use axum::body::Bytes;
use shared::Result;
use shared::domain::media::upload::AnnouncedFile;
use shared::domain::media::video::{FileName, MAX_VIDEO_BYTES, NewVideo, Video};
use shared::domain::text::{ShortName, TextLines};
use shared::http::{BodyChanges, BodyFields};

/// The stored content type of a file in a form. The form's declaration is ignored: the conversion detects the type.
const ANYTHING: &str = "application/octet-stream";

/// The request to create a video.
#[derive(Debug)]
pub(crate) enum CreateVideo {
    /// The form contains the file.
    Sent(NewVideo, Bytes),
    /// The client announces a file, which it will upload to the bucket.
    Announced(NewVideo),
}

impl CreateVideo {
    /// Reads a form with the file, or JSON that announces it.
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        let name = body.required("name", ShortName::parse);
        let description = body.text_or_empty("description", TextLines::parse).unwrap_or_default();
        let internal_description =
            body.text_or_empty("internal_description", TextLines::parse).unwrap_or_default();
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

/// Reads the file in a form.
fn read_file(body: &mut BodyFields) -> (Option<(FileName, AnnouncedFile)>, Option<Bytes>) {
    // Accept the fields of an announcement, which a form does not need.
    ["upload_filename", "content_type", "size"].into_iter().for_each(|name| body.ignore(name));
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

/// Reads the announcement of a file.
fn announced(body: &mut BodyFields) -> Option<(FileName, AnnouncedFile)> {
    let name = body.required("upload_filename", FileName::parse);
    let announced = body.announced(MAX_VIDEO_BYTES);
    name.zip(announced)
}

pub(crate) fn read_changes(mut body: BodyFields) -> Result<BodyChanges<Video>> {
    let mut changes: BodyChanges<Video> = BodyChanges::default();
    changes.set(body.text("name", ShortName::parse), |video| &mut video.name);
    changes.set(body.text_or_empty("description", TextLines::parse), |video| &mut video.description);
    changes.set(body.text_or_empty("internal_description", TextLines::parse), |video| {
        &mut video.internal_description
    });
    body.finish(|| Some(changes))
}

/// Reads the body of a PUT.
pub(crate) fn read_whole(mut body: BodyFields) -> Result<BodyChanges<Video>> {
    body.require("name");
    read_changes(body)
}
