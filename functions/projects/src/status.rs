//! The status of a project, which changes by its own rules.

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
    /// Things that a running project lacks, although the change was made; empty if there are none. Only present in the answer to
    /// a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<StatusWarning>>,
}

/// A warning about a change of status that was made all the same.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(inline)]
struct StatusWarning {
    /// A code for programs, `no_questions`. Ignore codes that you do not know.
    #[schemars(example = &"no_questions")]
    code: &'static str,
    /// A text for people.
    #[schemars(example = NO_QUESTIONS.detail)]
    detail: &'static str,
}

/// The project runs, and this service has nothing to ask its candidates.
const NO_QUESTIONS: StatusWarning = StatusWarning {
    code: "no_questions",
    detail: "The project has no questions, so its candidates have no interview to take. Add questions, or set \
             `interview_platform` to `external` if interviews take place elsewhere.",
};

impl StatusView {
    /// The view of a project's status.
    pub(crate) fn new(project: &Project, references: ReferenceUris<'_>) -> Self {
        let own = references.uri(&project.company, project.id);
        Self { resource_uri: own.join("status"), status: project.status, warnings: None }
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
    // This check words the refusal; the transaction has the same condition, which decides.
    access.target.counts.check(requirement, &after)?;
    let moved = access.store.move_project(&access.target.project, &after, requirement, &access.target.shards);
    access.commit(moved, show(&after)).await
}

/// The warnings about a project that runs without questions although this service conducts its interviews.
fn warnings(project: &Project, questionnaire: &Questionnaire) -> Vec<StatusWarning> {
    let asks_here = project.settings.interview_platform == InterviewPlatform::Builtin;
    let is_mute = project.status == ProjectStatus::Running && asks_here && questionnaire.questions.is_empty();
    is_mute.then_some(NO_QUESTIONS).into_iter().collect()
}
