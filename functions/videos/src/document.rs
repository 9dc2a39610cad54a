//! What the reference says of this group.

use serde_json::json;
use shared::http::respond::Created;
use shared::openapi::{Group, Operation};

use crate::changes::{Changes, Creation};
use crate::view::VideoView;
use crate::{crud, files};

/// This group as the reference shows it.
pub fn group() -> Group {
    Group {
        name: "videos",
        title: "Welcome videos",
        text: "The videos that welcome candidates: uploaded, converted to what browsers play, and shown by projects.",
        routes: crate::routes(),
        operations: vec![
            Operation::of("List videos", crud::list).text("The oldest first."),
            Operation::of("Create video", crud::create)
                .text(
                    "A form brings the file along. JSON announces one that is too large for that: put it where `upload` \
                     in the answer says, within three hours. It is converted by itself.",
                )
                .body::<VideoView, _>(Creation::read)
                .field("file", "The video, with its file name.")
                .field("content_type", "What the PUT will say that the file is.")
                .field("size", "How many bytes the PUT will bring.")
                .example(
                    "announcement",
                    json!({ "name": "Welcome", "upload_filename": "welcome.mov", "content_type": "video/quicktime",
                            "size": 90_000_000 }),
                )
                .answers::<Created<VideoView>>(),
            Operation::of("Get video", crud::read).text("Candidates see those of their project, without their names."),
            Operation::of("Replace video", crud::replace)
                .text("What is left out becomes empty. The file stays.")
                .body::<VideoView, _>(Changes::read_whole)
                .example("texts", json!({ "name": "Welcome", "description": "Welcome to Acme" })),
            Operation::of("Change video", crud::update)
                .text("The file stays.")
                .body::<VideoView, _>(Changes::read)
                .example("texts", json!({ "description": "Welcome to Acme" })),
            Operation::of("Delete video", crud::delete).text("Takes it from all projects as well."),
            Operation::of("Get thumbnail", files::thumb)
                .text("The address is the video's `thumb`; it needs no credential."),
            Operation::of("Get video file", files::video)
                .text("The addresses are the video's `streams`; they need no credential."),
        ],
    }
}
