//! A candidate as clients see it among the results of a search.

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::candidate::CandidateStatus;
use shared::domain::file::FileKind;
use shared::domain::project::ProjectStatus;
use shared::domain::text::Email;
use shared::http::reference::References;
use shared::openapi::{EmailOrEmpty, Uri, UriOrEmpty};
use shared::store::Placed;

/// What a search shows of a candidate.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FoundCandidate")]
pub(crate) struct ResultView {
    /// The candidate.
    #[schemars(with = "Uri")]
    resource_uri: String,
    /// First name.
    #[schemars(example = &"Ada")]
    first_name: String,
    /// Last name.
    #[schemars(example = &"Lovelace")]
    last_name: String,
    /// Where mails go; empty without an address.
    #[schemars(with = "EmailOrEmpty")]
    email: String,
    /// Where it stands.
    #[schemars(with = "CandidateStatus")]
    status: &'static str,
    /// Where its photo is; empty without one.
    #[schemars(with = "UriOrEmpty")]
    photo: String,
    /// The project that it is a candidate of.
    project: ProjectView,
}

/// What it shows of the candidate's project.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FoundProject")]
struct ProjectView {
    /// Its address.
    #[schemars(with = "Uri")]
    resource_uri: String,
    /// Its name.
    #[schemars(example = &"Backend engineer")]
    name: String,
    /// Where it stands.
    #[schemars(with = "ProjectStatus")]
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
