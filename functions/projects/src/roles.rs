//! The roles in a project one by one: the same data as the project's lists of people.

use axum::Json;
use axum::extract::RawQuery;
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::guard::{InProject, OnRole};
use shared::auth::policy::{ChangeProject, Grant, ReadProject};
use shared::domain::id::CompanyId;
use shared::domain::project::Project;
use shared::domain::staff::{HeldRole, Role};
use shared::error::FieldErrors;
use shared::http::Fields;
use shared::http::page::{Envelope, ListQuery};
use shared::http::reference::References;
use shared::http::respond::{Created, Done, Ensured};
use shared::openapi::Uri;
use shared::{Error, Result};

/// A role in a project as clients see it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Role")]
pub(crate) struct RoleView {
    /// Its own address.
    #[schemars(with = "Uri")]
    resource_uri: String,
    /// In which project.
    #[schemars(with = "Uri")]
    project: String,
    /// Who has it.
    #[schemars(with = "Uri")]
    customer: String,
    /// What it is.
    #[schemars(with = "Role")]
    role: &'static str,
}

impl RoleView {
    /// The view of a role that somebody has in a project.
    pub(crate) fn new(project: &Project, held: HeldRole, references: References<'_>) -> Self {
        let Project { company, id, .. } = project;
        Self {
            resource_uri: references.role(company, *id, held.id()),
            project: references.project(company, *id),
            customer: references.customer(company, held.customer),
            role: held.role.as_str(),
        }
    }
}

/// GET …/roles/
pub(crate) async fn list(
    guard: InProject<ReadProject>,
    RawQuery(query): RawQuery,
) -> Result<Envelope<RoleView>> {
    let query = ListQuery::parse(query.as_deref())?;
    let (page, total) = query.slice(guard.project.staff.roles(), |held| held.id().to_string());
    query.check_range(total)?;
    let page = page.map(|held| view(&guard, held));
    Ok(query.envelope(&guard.references().roles(guard.company(), guard.project.id), page, total))
}

/// POST …/roles/
pub(crate) async fn create(guard: InProject<ChangeProject>, body: Fields) -> Result<Ensured<RoleView>> {
    let held = read_new(body, guard.company(), guard.references())?;
    if guard.project.staff.has(held) {
        return Ok(Ensured::Old(view(&guard, held)));
    }
    let mut after = Project::clone(&guard.project);
    after.staff.give(held);
    after.staff.check().map_err(|message| Error::field(FieldErrors::ACROSS, message))?;
    guard.store.give_role(&guard.project, &after).await?;
    let address = guard.references().role(guard.company(), guard.project.id, held.id());
    Ok(Ensured::New(Created(address, view(&guard, held))))
}

/// Reads the body of a creation.
pub(crate) fn read_new(
    mut body: Fields,
    company: &CompanyId,
    references: References<'_>,
) -> Result<HeldRole> {
    let customer = body.required("customer", |reference| references.parse_customer(company, reference));
    let role = body.required("role", Role::parse);
    body.finish()?;
    let held = customer.zip(role).map(|(customer, role)| HeldRole { customer, role });
    held.ok_or_else(|| Error::internal("a required field was neither read nor refused"))
}

/// GET …/roles/{roleId}/
pub(crate) async fn read(guard: OnRole<ReadProject>) -> Json<RoleView> {
    Json(view(&guard, guard.held))
}

/// DELETE …/roles/{roleId}/
pub(crate) async fn delete(guard: OnRole<ChangeProject>) -> Result<Done> {
    let mut after = Project::clone(&guard.project);
    after.staff.take(guard.held);
    guard.store.update_project(&guard.project, &after).await?;
    Ok(Done)
}

fn view<G: Grant>(guard: &InProject<G>, held: HeldRole) -> RoleView {
    RoleView::new(&guard.project, held, guard.references())
}
