//! The texts and examples of each route in the OpenAPI document.

use serde_json::json;
use shared::openapi::OperationDoc;

use crate::captions::read_captions;
use crate::changes::{CreateVideo, read_changes, read_whole};
use crate::view::VideoView;

pub(crate) fn list_videos(operation: OperationDoc) -> OperationDoc {
    operation.text("Oldest first.")
}

pub(crate) fn create_video(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Send a form with the file. If the file is too large for a form, announce it with JSON and \
             upload it within three hours to the URL in `upload`. The conversion starts automatically.",
        )
        .body::<VideoView, _>(CreateVideo::read)
        .field("file", "The video file.")
        .field("content_type", "Content-Type of the upload.")
        .field("size", "Size of the upload in bytes.")
        .example(
            "announcement",
            json!({ "name": "Welcome", "upload_filename": "welcome.mov", "content_type": "video/quicktime",
                            "size": 90_000_000 }),
        )
}

pub(crate) fn get_video(operation: OperationDoc) -> OperationDoc {
    operation.text("Candidates see the videos of their project, without names.")
}

pub(crate) fn replace_video(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Fields that are left out become empty. The file stays.")
        .body::<VideoView, _>(read_whole)
        .example("texts", json!({ "name": "Welcome", "description": "Welcome to Acme" }))
}

pub(crate) fn change_video(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Does not change the file.")
        .body::<VideoView, _>(read_changes)
        .example("texts", json!({ "description": "Welcome to Acme" }))
}

pub(crate) fn delete_video(operation: OperationDoc) -> OperationDoc {
    operation.text("Also removes the video from all projects.")
}

pub(crate) fn get_thumbnail(operation: OperationDoc) -> OperationDoc {
    operation.text("The video's `thumb` is this URL. It needs no credentials.")
}

pub(crate) fn get_video_file(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The video's `streams` are such URLs. They need no credentials. The answer leads to a URL that works for at most \
         four hours, often less. When it answers 403, request this URL again.",
    )
}

pub(crate) fn set_captions(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Send a form with a WebVTT file of at most 256 KiB and 5,000 cues, which replaces the captions of the video in \
             this language. The service stores times, positions and plain text, and leaves out markup, styles, regions, \
             identifiers and comments. The event is `video.updated`, with `captions` among the changed fields.",
        )
        .body::<VideoView, _>(read_captions)
        .field("file", "The WebVTT file, in UTF-8.")
}

pub(crate) fn delete_captions(operation: OperationDoc) -> OperationDoc {
    operation.text("Returns 404 if the video has no captions in this language.")
}

pub(crate) fn get_captions(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The `url` of each of the video's `captions` is such a URL. It needs no credentials. A `<track>` on the origin of \
             the API can load it; pages of other origins fetch it and hand it to the `<track>` as a `blob:` URL.",
        )
        .sends("text/vtt", "The captions, as WebVTT.")
}
