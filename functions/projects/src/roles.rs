//! A project's roles as single resources: the same data as its lists of customers.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::Admitted;
use shared::domain::id::{CompanyId, CustomerId, RoleId};
use shared::domain::parse_enum;
use shared::domain::policy::{ChangeProject, ReadProject};
use shared::domain::project::Project;
use shared::domain::staff::{HeldRole, StaffRole};
use shared::error::FieldErrors;
use shared::http::BodyFields;
use shared::http::example_uri;
use shared::http::exchange::respond::{CommittedResponse, CreatedOrUpdated, NoContent};
use shared::http::page::{ListQuery, PageView};
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Identifier, Uri};
use shared::{Error, Result};

/// A customer's role in a project.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Role")]
pub(crate) struct RoleView {
    id: Identifier<RoleId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::ROLE)]
    resource_uri: Uri,
    /// The URL of the project.
    #[schemars(example = example_uri::PROJECT)]
    project: Uri,
    /// The customer with the role.
    #[schemars(example = example_uri::CUSTOMER)]
    customer: Uri,
    /// One role of the customer in the project; the flags show all their roles.
    #[schemars(example = &"evaluator")]
    role: StaffRole,
    /// Whether the customer is an interview manager of the project.
    interview_manager: bool,
    /// Whether the customer is an evaluator of the project.
    #[schemars(example = true)]
    evaluator: bool,
    /// Whether the customer is a reviewer of the project.
    reviewer: bool,
}

impl RoleView {
    pub(crate) fn new(project: &Project, held: HeldRole, references: ReferenceUris<'_>) -> Self {
        let Project { company, id, staff, .. } = project;
        Self {
            id: Identifier(held.id()),
            resource_uri: references.uri_in_project(company, *id, held.id()),
            project: references.uri(company, *id),
            customer: references.uri(company, held.customer),
            role: held.role,
            interview_manager: staff.interview_managers.contains(&held.customer),
            evaluator: staff.evaluators.contains(&held.customer),
            reviewer: staff.reviewers.contains(&held.customer),
        }
    }
}

/// GET …/roles/
pub(crate) async fn list(
    access: Admitted<Project, ReadProject>,
    query: ListQuery,
) -> Result<PageView<RoleView>> {
    let (page, total) = query.slice(access.target.project.staff.roles(), |held| held.id().to_string());
    let page = page.map(|held| RoleView::new(&access.target.project, held, access.references()));
    query.answer(page, total)
}

/// POST …/roles/
pub(crate) async fn create(
    access: Admitted<Project, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<CreatedOrUpdated<RoleView>>> {
    let change = SetRoles::read(body, access.company_id(), access.references())?;
    let after = change.apply_to(&access.target.project)?;
    let named: Vec<_> = change.held().map(|held| ("customer", held.customer)).collect();
    access.require_visible(&named).await?;
    let staff = &access.target.project.staff;
    let given = change.held().find(|held| !staff.holders(held.role).contains(&held.customer));
    let shown = given.or_else(|| change.held().next());
    let shown = shown.ok_or_else(|| Error::internal("a change without a role was read"))?;
    let view = RoleView::new(&after, shown, access.references());
    let ensured = match given {
        Some(_) => CreatedOrUpdated::New(view),
        // The customer has the roles already, so nothing changes.
        None => CreatedOrUpdated::Old(view),
    };
    access.commit(access.store.change_roles(&access.target.project, &after), ensured).await
}

/// Changes of one customer's roles in a project.
pub(crate) struct SetRoles {
    customer: CustomerId,
    /// The roles to give, at least one, in the order of the request.
    given: Vec<StaffRole>,
    taken: Vec<StaffRole>,
}

impl SetRoles {
    /// Reads the body: `role` names a role to give; a flag gives its role if true and takes it if false.
    pub(crate) fn read(
        mut body: BodyFields,
        company: &CompanyId,
        references: ReferenceUris<'_>,
    ) -> Result<Self> {
        let customer = body.required("customer", |reference| references.parse(company, reference));
        // New clients send `role` and get one resource per role; existing clients send flags. Both forms are accepted.
        let named = body.text("role", parse_enum);
        let mut given = Vec::from_iter(named);
        let mut taken = Vec::new();
        for role in StaffRole::ALL {
            match body.flag(role.as_str()) {
                Some(true) if Some(role) != named => given.push(role),
                Some(false) => taken.push(role),
                _ => {}
            }
        }
        if given.is_empty() && !body.has("role") {
            body.refuse("role", "Send `role`, or set the flag of a role to true.");
        } else if named.is_some_and(|named| taken.contains(&named)) {
            body.refuse("role", "`role` contradicts its own flag, which is false. Send only one of them.");
        }
        body.finish(|| Some(Self { customer: customer?, given, taken }))
    }

    /// The requested roles. The customer holds all of them afterwards.
    fn held(&self) -> impl Iterator<Item = HeldRole> {
        self.given.iter().map(|role| HeldRole { customer: self.customer, role: *role })
    }

    /// The project with the roles given and taken.
    fn apply_to(&self, project: &Project) -> Result<Project> {
        let mut after = project.clone();
        for role in &self.given {
            after.staff.holders_mut(*role).insert(self.customer);
        }
        for role in &self.taken {
            after.staff.holders_mut(*role).remove(&self.customer);
        }
        after.staff.check().map_err(|message| Error::field(FieldErrors::ACROSS, message))?;
        Ok(after)
    }
}

/// GET …/roles/{roleId}/
pub(crate) async fn read(
    access: Admitted<HeldRole, ReadProject>,
) -> Result<CommittedResponse<Json<RoleView>>> {
    access.show(RoleView::new(&access.target.project, access.target.held, access.references()))
}

/// DELETE …/roles/{roleId}/
pub(crate) async fn delete(
    access: Admitted<HeldRole, ChangeProject>,
) -> Result<CommittedResponse<NoContent>> {
    let mut after = Project::clone(&access.target.project);
    let held = access.target.held;
    after.staff.holders_mut(held.role).remove(&held.customer);
    access.commit(access.store.update_project(&access.target.project, &after), NoContent).await
}
