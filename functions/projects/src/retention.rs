//! How long a project keeps candidates.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::Result;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::policy::ManagePrivacy;
use shared::domain::privacy::retention_rule::{ProjectRetention, RetentionRule, RetentionStart};
use shared::domain::project::Project;
use shared::domain::retention::run::RetentionRun;
use shared::domain::retention::{RetentionPolicy, ScheduledRule};
use shared::http::BodyFields;
use shared::http::example_uri;
use shared::http::exchange::respond::{CommittedResponse, NoContent};
use shared::http::wire::{Timestamp, Uri};

/// How long a project keeps candidates.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProjectRetention")]
pub(crate) struct ProjectRetentionView {
    /// The URL of the resource.
    #[schemars(example = format!("{}retention/", example_uri::PROJECT))]
    resource_uri: Uri,
    /// The number of days after which candidates are erased; null keeps them until a user deletes them.
    #[schemars(example = 28)]
    days: Option<u32>,
    /// The event that starts the count of days: the last activity of the candidate, or the close of the project if that
    /// is later. In the latter case, candidates of an open project are kept.
    from: RetentionStart,
    /// Nothing in the project is erased before this time; null if candidates are kept.
    starts_at: Option<Timestamp>,
    /// Whether the company's policy applies, because the project has no rule.
    #[schemars(example = false)]
    is_inherited: bool,
}

impl ProjectRetentionView {
    fn new(access: &AdmittedRequest, project: &Project, policy: &RetentionPolicy) -> Self {
        let ScheduledRule { rule, starts_at } = policy.applied_to(project);
        Self {
            resource_uri: access.references().uri(&project.company, project.id).join("retention"),
            days: rule.days,
            from: rule.from,
            starts_at: starts_at.map(Timestamp),
            is_inherited: project.retention.own.is_none(),
        }
    }
}

pub(crate) fn read_rule(mut body: BodyFields) -> Result<RetentionRule> {
    let rule = body.retention_rule();
    body.finish(|| rule)
}

/// GET …/projects/{projectId}/retention/
pub(crate) async fn read(
    access: Admitted<ProjectRetention, ManagePrivacy>,
) -> Result<CommittedResponse<Json<ProjectRetentionView>>> {
    let project = &access.target.project;
    let company = &access.target.retention;
    access.show(ProjectRetentionView::new(&access, project, &company.policy))
}

/// PUT …/projects/{projectId}/retention/
pub(crate) async fn replace(
    access: Admitted<ProjectRetention, ManagePrivacy>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<ProjectRetentionView>>> {
    let rule = read_rule(body)?;
    let before = &access.target.project;
    let company = &access.target.retention;
    let after = before.with_retention(&company.policy, Some(rule), access.now);
    let first = RetentionRun::first(&access.target.company, access.now);
    let view = ProjectRetentionView::new(&access, &after, &company.policy);
    access.commit(access.store.set_retention_of_project(before, &after, company, &first), Json(view)).await
}

/// DELETE …/projects/{projectId}/retention/
pub(crate) async fn delete(
    access: Admitted<ProjectRetention, ManagePrivacy>,
) -> Result<CommittedResponse<NoContent>> {
    let before = &access.target.project;
    let company = &access.target.retention;
    let after = before.with_retention(&company.policy, None, access.now);
    access.commit(access.store.update_project(before, &after), NoContent).await
}
