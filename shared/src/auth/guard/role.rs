//! The guard of one role in a project.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{InProject, Request, UNCHANGING};
use crate::app::App;
use crate::auth::policy::Grant;
use crate::domain::id::RoleId;
use crate::domain::staff::HeldRole;
use crate::error::{Error, Result};

/// A caller who may do `G` in the project of the path, and the role of the path, which somebody holds.
pub struct OnRole<G> {
    /// The role and who holds it.
    pub held: HeldRole,
    inner: InProject<G>,
}

impl<G> Deref for OnRole<G> {
    type Target = InProject<G>;

    fn deref(&self) -> &InProject<G> {
        &self.inner
    }
}

impl<G: Grant> FromRequestParts<App> for OnRole<G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let (inner, _) = InProject::admit(&request, |_, _| Ok(Vec::new())).await?;
        let id = request.id::<RoleId>("roleId").map_err(|_| Error::NotFound)?;
        let held = inner.project.staff.roles().into_iter().find(|held| held.id() == id);
        let held = held.ok_or(Error::NotFound)?;
        inner.about(UNCHANGING)?;
        Ok(Self { held, inner })
    }
}
