//! A welcome video's place in a project, as clients see it.

use serde::Serialize;

use crate::domain::project::Project;
use crate::http::reference::References;

/// Which video stands at which place.
#[derive(Debug, Serialize)]
pub struct PlacedVideoView {
    uri: String,
    position: u32,
}

impl PlacedVideoView {
    /// The videos of a project, as they are shown to candidates.
    pub fn all_of(project: &Project, references: References<'_>) -> Vec<Self> {
        let view = |placed: &crate::domain::project::PlacedVideo| Self {
            uri: references.video(&project.company, placed.video),
            position: placed.position,
        };
        project.settings.videos.iter().map(view).collect()
    }
}
