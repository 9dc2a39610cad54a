//! The view of a candidate in search results.

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::account::Account;
use shared::domain::candidate::CandidateStatus;
use shared::domain::id::{CandidateId, CompanyId, ProjectId};
use shared::domain::media::file::FileKind;
use shared::domain::project::ProjectStatus;
use shared::domain::text::Email;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Identifier, OrEmpty, Uri};
use shared::store::CandidateMatch;

/// A candidate in search results.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FoundCandidate")]
pub(crate) struct SearchResultView {
    id: Identifier<CandidateId>,
    /// The URL of the candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    resource_uri: Uri,
    /// First name.
    #[schemars(example = &"Ada", length(min = 1))]
    first_name: String,
    /// Last name.
    #[schemars(example = &"Lovelace", length(min = 1))]
    last_name: String,
    /// The email address; empty if there is none.
    #[schemars(example = &"ada@example.com")]
    email: OrEmpty<Email>,
    /// The candidate's status.
    status: CandidateStatus,
    /// The URL of the photo; empty if there is none.
    #[schemars(example = &"")]
    photo: OrEmpty<Uri>,
    /// The candidate's project.
    project: FoundProjectView,
}

/// The project of a candidate in search results.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FoundProject")]
struct FoundProjectView {
    id: Identifier<ProjectId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::PROJECT)]
    resource_uri: Uri,
    /// The display name.
    #[schemars(example = &"Backend engineer", length(min = 1))]
    name: String,
    /// The project's status.
    status: ProjectStatus,
}

impl SearchResultView {
    /// The view of a match.
    pub(crate) fn new(company: &CompanyId, found: &CandidateMatch, references: ReferenceUris<'_>) -> Self {
        let CandidateMatch { id, candidate, project_id, project } = found;
        let owner = Account::Candidate { project: *project_id, candidate: *id };
        Self {
            id: Identifier(*id),
            resource_uri: references.uri_in_project(company, *project_id, *id),
            first_name: candidate.profile.first_name.to_string(),
            last_name: candidate.profile.last_name.to_string(),
            email: OrEmpty(candidate.shown_email().cloned()),
            status: candidate.status,
            photo: OrEmpty(references.file(company, owner, FileKind::Photo, candidate.photo)),
            project: FoundProjectView {
                id: Identifier(*project_id),
                resource_uri: references.uri(company, *project_id),
                name: project.settings.name.to_string(),
                status: project.status,
            },
        }
    }
}
