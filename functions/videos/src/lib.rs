//! The welcome videos of a company.

mod changes;
mod crud;
mod document;
mod files;
mod view;

use shared::RouteReader;

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group(
            "Welcome videos",
            "Videos that projects show to their candidates: upload, conversion and playback.",
        )
        .under("/companies/{companyId}/videos/")
        .get("", crud::list, document::list_videos)
        .post("", crud::create, document::create_video)
        .get("{videoId}/", crud::read, document::get_video)
        .put("{videoId}/", crud::replace, document::replace_video)
        .patch("{videoId}/", crud::update, document::change_video)
        .delete("{videoId}/", crud::delete, document::delete_video)
        .get("{videoId}/thumb/{token}/", files::thumb, document::get_thumbnail)
        .get("{videoId}/video/{token}/", files::video, document::get_video_file)
}
