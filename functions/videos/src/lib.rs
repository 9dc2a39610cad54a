//! The welcome videos of a company.

mod captions;
mod changes;
mod crud;
mod document;
mod files;
mod view;

use shared::RouteReader;
use shared::app::App;
use shared::http::{HttpService, RouteGroup};

/// The HTTP service that answers the requests of this group.
pub fn service(app: App) -> HttpService {
    routes(RouteGroup::new()).into_service(app)
}

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group(
            "Welcome videos",
            "Videos that projects show to their candidates: upload, conversion, playback and captions.",
        )
        .under("/companies/{companyId}/videos/")
        .get("", crud::list, "List videos", document::list_videos)
        .post("", crud::create, "Create video", document::create_video)
        .get("{videoId}/", crud::read, "Get video", document::get_video)
        .put("{videoId}/", crud::replace, "Replace video", document::replace_video)
        .patch("{videoId}/", crud::update, "Change video", document::change_video)
        .delete("{videoId}/", crud::delete, "Delete video", document::delete_video)
        .get("{videoId}/thumb/{token}/", files::thumb, "Get thumbnail", document::get_thumbnail)
        .get("{videoId}/video/{token}/", files::video, "Get video file", document::get_video_file)
        .put("{videoId}/captions/{language}/", captions::put, "Set captions", document::set_captions)
        .delete(
            "{videoId}/captions/{language}/",
            captions::delete,
            "Delete captions",
            document::delete_captions,
        )
        .get("{videoId}/captions/{language}/{token}/", captions::read, "Get captions", document::get_captions)
}
