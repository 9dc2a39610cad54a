//! The status of a project, which changes by its own rules.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::guard::{InProject, OnProject};
use shared::auth::policy::{ChangeProject, ReadProject};
use shared::domain::project::{Project, ProjectStatus};
use shared::http::Fields;
use shared::http::reference::References;
use shared::openapi::Uri;
use shared::{Error, Result};

/// The status of a project as clients see it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProjectStatusResource")]
pub(crate) struct StatusView {
    /// Its own address.
    #[schemars(with = "Uri")]
    resource_uri: String,
    /// Where the project stands.
    #[schemars(with = "ProjectStatus")]
    status: &'static str,
}

impl StatusView {
    /// The view of a project's status.
    pub(crate) fn new(project: &Project, references: References<'_>) -> Self {
        let own = references.project(&project.company, project.id);
        Self { resource_uri: format!("{own}status/"), status: project.status.as_str() }
    }
}

/// Reads the body of a change of status.
pub(crate) fn read_status(mut body: Fields) -> Result<ProjectStatus> {
    let status = body.required("status", ProjectStatus::parse);
    body.finish()?;
    status.ok_or_else(|| Error::internal("a required field was neither read nor refused"))
}

/// GET …/projects/{projectId}/status/
pub(crate) async fn read(guard: InProject<ReadProject>) -> Json<StatusView> {
    Json(StatusView::new(&guard.project, guard.references()))
}

/// PATCH …/projects/{projectId}/status/
pub(crate) async fn update(guard: OnProject<ChangeProject>, body: Fields) -> Result<Json<StatusView>> {
    let to = read_status(body)?;
    if to == guard.project.status {
        return Ok(Json(StatusView::new(&guard.project, guard.references())));
    }
    let (after, must) = Project::clone(&guard.project).move_to(to, guard.now)?;
    guard.tally.check(must, &after)?;
    guard.store.commit(guard.store.move_project(&guard.project, &after, must, &guard.shards)).await?;
    Ok(Json(StatusView::new(&after, guard.references())))
}
