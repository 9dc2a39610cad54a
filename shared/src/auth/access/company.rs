//! Guards of a company, its labels and its named tokens.

use std::marker::PhantomData;

use super::request::Path;
use super::{Authenticated, Context, Guard, Request, extract};
use crate::domain::company::Company;
use crate::domain::id::InvalidId;
use crate::domain::label::Label;
use crate::domain::named_token::NamedToken;
use crate::domain::policy::Grant;
use crate::error::Result;
use crate::store::{Key, Versioned};

/// A caller who may do `A` in the company of the path.
pub struct CompanyAccess<A> {
    /// The company.
    pub company: Versioned<Company>,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for CompanyAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        vec![request.path.company()]
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let company = request.take(Path::company)?;
        let standing = request.caller().in_company();
        let context = request.authorise(A::ACTION, &standing)?.about(&company);
        Ok(Self { company, context, action: PhantomData })
    }
}

/// A caller who may do `A` with the label of the path.
pub struct LabelAccess<A> {
    /// The label.
    pub label: Versioned<Label>,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for LabelAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        vec![request.path.label()]
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let (label, standing) = (request.take::<Label>(Path::label), request.caller().in_company());
        // Only callers who may do this learn whether the label exists.
        let context = request.authorise(A::ACTION, &standing)?;
        let label = label?;
        Ok(Self { context: context.about(&label), label, action: PhantomData })
    }
}

/// A caller who may do `A` with the named token of the path.
pub struct TokenAccess<A> {
    /// The named token.
    pub token: Versioned<NamedToken>,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for TokenAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        vec![request.path.token()]
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let (token, standing) = (request.take::<NamedToken>(Path::token), request.caller().in_company());
        // Only callers who may do this learn whether the token exists.
        let context = request.authorise(A::ACTION, &standing)?;
        let token = token?;
        Ok(Self { context: context.about(&token), token, action: PhantomData })
    }
}

extract!(CompanyAccess<A: Grant>);
extract!(LabelAccess<A: Grant>);
extract!(TokenAccess<A: Grant>);
