//! Guards of a company, its labels and its named tokens.

use std::marker::PhantomData;

use super::request::PathIds;
use super::{AdmittedRequest, AuthenticatedRequest, RequestGuard, UnauthenticatedRequest, extract};
use crate::domain::company::Company;
use crate::domain::id::InvalidId;
use crate::domain::label::Label;
use crate::domain::named_token::NamedToken;
use crate::domain::policy::ActionGrant;
use crate::error::Result;
use crate::store::{ItemKey, VersionedItem};

/// A caller who may do `A` in the company of the path.
pub struct CompanyAccess<A> {
    /// The company.
    pub company: VersionedItem<Company>,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for CompanyAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.company()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let company = request.take(PathIds::company)?;
        let standing = request.caller().in_company();
        let context = request.authorise(A::ACTION, &standing)?.about(&company);
        Ok(Self { company, context, action: PhantomData })
    }
}

/// A caller who may do `A` with the label of the path.
pub struct LabelAccess<A> {
    /// The label.
    pub label: VersionedItem<Label>,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for LabelAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.label()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let (label, standing) = (request.take::<Label>(PathIds::label), request.caller().in_company());
        // Only callers who may do this learn whether the label exists.
        let context = request.authorise(A::ACTION, &standing)?;
        let label = label?;
        Ok(Self { context: context.about(&label), label, action: PhantomData })
    }
}

/// A caller who may do `A` with the named token of the path.
pub struct TokenAccess<A> {
    /// The named token.
    pub token: VersionedItem<NamedToken>,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for TokenAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.token()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let (token, standing) = (request.take::<NamedToken>(PathIds::token), request.caller().in_company());
        // Only callers who may do this learn whether the token exists.
        let context = request.authorise(A::ACTION, &standing)?;
        let token = token?;
        Ok(Self { context: context.about(&token), token, action: PhantomData })
    }
}

extract!(CompanyAccess<A: ActionGrant>);
extract!(LabelAccess<A: ActionGrant>);
extract!(TokenAccess<A: ActionGrant>);
