//! The status of a project, which changes by its own rules.

use axum::Json;
use shared::Result;
use shared::auth::guard::InProject;
use shared::auth::policy::{ChangeProject, ReadProject};
use shared::domain::project::Project;
use shared::http::Fields;

use crate::view::{StatusView, read_status};

/// GET …/projects/{projectId}/status/
pub(crate) async fn read(guard: InProject<ReadProject>) -> Json<StatusView> {
    Json(StatusView::new(&guard.project, guard.references()))
}

/// PATCH …/projects/{projectId}/status/
pub(crate) async fn update(guard: InProject<ChangeProject>, body: Fields) -> Result<Json<StatusView>> {
    let to = read_status(body)?;
    if to == guard.project.status {
        return Ok(Json(StatusView::new(&guard.project, guard.references())));
    }
    let (after, must) = Project::clone(&guard.project).move_to(to, guard.now)?;
    guard.store.move_project(&guard.project, &after, must).await?;
    Ok(Json(StatusView::new(&after, guard.references())))
}
