//! The rights of the calling named token, as shown by `whoami/`.

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::id::ProjectId;
use shared::domain::policy::{Action, CallerRelation};
use shared::domain::staff::named_token::NamedToken;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::view::TokenRightsView;
use shared::http::wire::Uri;

/// The actions that a caller with this relation may take without restriction.
pub(crate) fn allowed(relation: &CallerRelation) -> impl Iterator<Item = Action> {
    Action::ALL.into_iter().filter(|action| action.is_allowed_in_full(relation))
}

/// The rights of the calling named token.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NamedTokenRights")]
pub(crate) struct CallingTokenRightsView {
    #[serde(flatten)]
    rights: TokenRightsView,
    /// The projects that the token is limited to, each with the token's permissions there in addition to `permissions`.
    /// Empty for a token of the whole company.
    #[schemars(length(max = 50))]
    in_projects: Vec<ProjectRightsView>,
}

/// The rights of a named token in one of its projects.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProjectRights")]
struct ProjectRightsView {
    #[schemars(example = example_uri::PROJECT)]
    project: Uri,
    /// The permissions. A read-only token has only permissions to read.
    permissions: Vec<Action>,
}

impl CallingTokenRightsView {
    pub(crate) fn new(token: &NamedToken, references: ReferenceUris<'_>) -> Self {
        let NamedToken { company, rights, .. } = token;
        let in_company = rights.relation(None);
        let of_project = |project: &ProjectId| {
            let relation = rights.relation(Some(*project));
            let permissions = allowed(&relation).filter(|action| !action.is_allowed_in_full(&in_company));
            let permissions = permissions.collect();
            ProjectRightsView { project: references.uri(company, *project), permissions }
        };
        Self {
            rights: TokenRightsView::new(company, rights, references),
            in_projects: rights.limits().into_iter().flatten().map(of_project).collect(),
        }
    }
}
