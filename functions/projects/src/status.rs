//! The status of a project, which changes by its own rules.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::parse_enum;
use shared::domain::policy::{ChangeProject, ReadProject};
use shared::domain::project::{Project, ProjectStatus};
use shared::domain::transition::project_counts::ProjectCounts;
use shared::http::BodyFields;
use shared::http::example_uri;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::reference::ReferenceUris;
use shared::http::wire::Uri;

/// The status of a project.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProjectStatusResource")]
pub(crate) struct StatusView {
    /// The URL of the resource.
    #[schemars(example = format!("{}status/", example_uri::PROJECT))]
    resource_uri: Uri,
    /// The project's status.
    status: ProjectStatus,
}

impl StatusView {
    /// The view of a project's status.
    pub(crate) fn new(project: &Project, references: ReferenceUris<'_>) -> Self {
        let own = references.uri(&project.company, project.id);
        Self { resource_uri: own.join("status"), status: project.status }
    }
}

/// Reads the body of a change of status.
pub(crate) fn read_status(mut body: BodyFields) -> Result<ProjectStatus> {
    let status = body.required("status", parse_enum);
    body.finish(|| status)
}

/// GET …/projects/{projectId}/status/
pub(crate) async fn read(
    access: Admitted<Project, ReadProject>,
) -> Result<CommittedResponse<Json<StatusView>>> {
    access.show(StatusView::new(&access.target.project, access.references()))
}

/// PATCH …/projects/{projectId}/status/
pub(crate) async fn update(
    access: Admitted<ProjectCounts, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<StatusView>>> {
    let to = read_status(body)?;
    if to == access.target.project.status {
        return access.show(StatusView::new(&access.target.project, access.references()));
    }
    let (after, requirement) = Project::clone(&access.target.project).move_to(to, access.now)?;
    // For the refusal's words; the transaction has the same condition, which decides.
    access.target.counts.check(requirement, &after)?;
    let moved = access.store.move_project(&access.target.project, &after, requirement, &access.target.shards);
    access.commit(moved, Json(StatusView::new(&after, access.references()))).await
}
