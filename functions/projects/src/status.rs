//! The status of a project.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::parse_enum;
use shared::domain::policy::{ChangeProject, ReadProject};
use shared::domain::project::{InterviewPlatform, Project, ProjectStatus};
use shared::domain::questionnaire::Questionnaire;
use shared::http::BodyFields;
use shared::http::example_uri;
use shared::http::exchange::respond::{CommittedResponse, TaggedBy};
use shared::http::reference::ReferenceUris;
use shared::http::wire::Uri;

/// The status of a project.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "ProjectStatusResource")]
pub(crate) struct StatusView {
    /// The URL of the resource.
    #[schemars(example = format!("{}status/", example_uri::PROJECT))]
    resource_uri: Uri,
    /// The project's status.
    status: ProjectStatus,
    /// Problems of a running project, which did not prevent the change; empty if there are none. Only in the response
    /// to a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<StatusWarning>>,
}

/// A warning about a change of status that was made nevertheless.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(inline)]
struct StatusWarning {
    /// A code for programs: `no_questions`. Ignore unknown codes.
    #[schemars(example = &"no_questions")]
    code: &'static str,
    /// The warning for people.
    #[schemars(example = NO_QUESTIONS.detail)]
    detail: &'static str,
}

/// The warning that a project runs although this service has no questions for its candidates.
const NO_QUESTIONS: StatusWarning = StatusWarning {
    code: "no_questions",
    detail: "The project has no questions, so its candidates have no interview to take. Add questions, or set \
             `interview_platform` to `external` if interviews take place elsewhere.",
};

impl StatusView {
    pub(crate) fn new(project: &Project, references: ReferenceUris<'_>) -> Self {
        let own = references.uri(&project.company, project.id);
        Self { resource_uri: own.join("status"), status: project.status, warnings: None }
    }
}

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
    access: Admitted<ProjectStatus, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<TaggedBy<Json<StatusView>, StatusView>>> {
    let to = read_status(body)?;
    let show = |project: &Project| {
        let resource = StatusView::new(project, access.references());
        let warnings = Some(warnings(project, &access.target.questionnaire));
        TaggedBy(Json(StatusView { warnings, ..resource.clone() }), resource)
    };
    if to == access.target.project.status {
        return access.show_tagged_by(show(&access.target.project));
    }
    let (after, requirement) = Project::clone(&access.target.project).move_to(to, access.now)?;
    // Only for the error message: the condition of the transaction decides.
    access.target.counts.check(requirement, &after)?;
    let moved = access.store.move_project(&access.target.project, &after, requirement, &access.target.shards);
    access.commit(moved, show(&after)).await
}

/// Warns if the project runs without questions although this service conducts its interviews.
fn warnings(project: &Project, questionnaire: &Questionnaire) -> Vec<StatusWarning> {
    let asks_here = project.settings.interview_platform == InterviewPlatform::Builtin;
    let is_mute = project.status == ProjectStatus::Running && asks_here && questionnaire.questions.is_empty();
    is_mute.then_some(NO_QUESTIONS).into_iter().collect()
}
