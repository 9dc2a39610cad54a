//! The guard of one share of a candidate.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{OnCandidate, Request, UNCHANGING};
use crate::app::App;
use crate::auth::policy::Grant;
use crate::domain::id::{CustomerId, ShareId};
use crate::error::{Error, Result};

/// A caller who may do `G` with the candidate of the path, and the share of the path.
pub struct OnShare<G> {
    /// The share.
    pub share: ShareId,
    /// With whom the candidate is shared by it.
    pub customer: CustomerId,
    inner: OnCandidate<G>,
}

impl<G> Deref for OnShare<G> {
    type Target = OnCandidate<G>;

    fn deref(&self) -> &OnCandidate<G> {
        &self.inner
    }
}

impl<G: Grant> FromRequestParts<App> for OnShare<G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let (inner, _) = OnCandidate::admit(&request, |_| Vec::new()).await?;
        let share = request.id::<ShareId>("shareId").map_err(|_| Error::NotFound)?;
        let customer = *inner.candidate.shares.get(&share).ok_or(Error::NotFound)?;
        inner.about(UNCHANGING)?;
        Ok(Self { share, customer, inner })
    }
}
