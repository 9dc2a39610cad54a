//! The view of a welcome video in a project.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::project::Project;
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::Uri;

/// A welcome video and its position in a project.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PlacedVideo")]
pub struct PlacedVideoView {
    /// The URL of the video.
    #[schemars(example = example_uri::VIDEO)]
    uri: Uri,
    /// The position among the project's videos, ascending.
    #[schemars(example = 1)]
    position: u32,
}

impl PlacedVideoView {
    /// The videos of a project, in the order in which candidates see them.
    pub fn all_of(project: &Project, references: ReferenceUris<'_>) -> Vec<Self> {
        let videos = project.settings.videos.iter();
        videos
            .map(|placed| Self {
                uri: references.uri(&project.company, placed.video),
                position: placed.position,
            })
            .collect()
    }
}
