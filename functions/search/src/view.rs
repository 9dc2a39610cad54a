//! A candidate as clients see it among the results of a search.

use serde::Serialize;
use shared::domain::file::FileKind;
use shared::domain::text::Email;
use shared::http::reference::References;
use shared::store::Placed;

/// What a search shows of a candidate.
#[derive(Serialize)]
pub(crate) struct ResultView {
    resource_uri: String,
    first_name: String,
    last_name: String,
    email: String,
    status: &'static str,
    photo: String,
    project: ProjectView,
}

/// What it shows of the candidate's project.
#[derive(Serialize)]
struct ProjectView {
    resource_uri: String,
    name: String,
    status: &'static str,
}

impl ResultView {
    /// The view of a candidate that was found.
    pub(crate) fn new(Placed { candidate, project }: &Placed, references: References<'_>) -> Self {
        let (company, profile) = (&candidate.company, &candidate.profile);
        Self {
            resource_uri: references.candidate(company, candidate.project, candidate.id),
            first_name: profile.first_name.to_string(),
            last_name: profile.last_name.to_string(),
            email: profile.email.as_ref().map(Email::as_str).unwrap_or_default().to_owned(),
            status: candidate.status.as_str(),
            photo: references.file(company, candidate.owner(), FileKind::Photo, candidate.photo),
            project: ProjectView {
                resource_uri: references.project(company, project.id),
                name: project.settings.name.to_string(),
                status: project.status.as_str(),
            },
        }
    }
}
