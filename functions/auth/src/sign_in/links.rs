//! The links of customers to their identities at the company's provider.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::id::CompanyId;
use shared::domain::issuer::IssuerUrl;
use shared::domain::policy::{ManageCustomers, ManageSignIn};
use shared::domain::staff::customer::{Customer, UNSEEN_PROJECTS};
use shared::domain::staff::sign_in::{NO_PROVIDER, SUBJECT_TAKEN};
use shared::domain::staff::sign_in_link::SignInLink;
use shared::domain::staff::trust::ClaimText;
use shared::http::BodyFields;
use shared::http::example_uri;
use shared::http::exchange::respond::{CommittedResponse, NoContent};
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Timestamp, Uri};
use shared::{Error, Result};

use super::require_recent_login;

/// The customer's identity at the company's provider.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SignInLink")]
pub(crate) struct LinkView {
    /// The URL of the resource.
    #[schemars(example = example_uri::CUSTOMER_SIGN_IN)]
    resource_uri: Uri,
    /// The provider that issued the identity.
    #[schemars(example = &"https://login.acme.example")]
    issuer: IssuerUrl,
    /// The identity: `sub` of the provider's ID tokens.
    #[schemars(example = &"00u1a2b3c4d5e6f7")]
    subject: ClaimText,
    /// When an owner linked the customer, or when the customer first signed in.
    linked_at: Timestamp,
}

impl LinkView {
    fn new(
        company: &CompanyId,
        customer: &Customer,
        link: &SignInLink,
        references: ReferenceUris<'_>,
    ) -> Self {
        Self {
            resource_uri: references.uri(company, customer.id).join("sign-in"),
            issuer: link.issuer.clone(),
            subject: link.subject.clone(),
            linked_at: Timestamp(link.linked_at),
        }
    }
}

pub(crate) struct SetLink {
    subject: ClaimText,
}

impl SetLink {
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        let subject = body.required("subject", ClaimText::parse);
        body.finish(|| Some(Self { subject: subject? }))
    }
}

/// GET /companies/{companyId}/customers/{customerId}/sign-in/
pub(crate) async fn read(
    access: Admitted<Customer, ManageCustomers>,
) -> Result<CommittedResponse<Json<LinkView>>> {
    let customer = &access.target.customer;
    require_manager(&access, customer).await?;
    let settings = access.store.sign_in_settings(access.company_id()).await?;
    let link = settings.link_of(customer).ok_or(Error::NotFound)?;
    access.show(LinkView::new(access.company_id(), customer, link, access.references()))
}

/// PUT …/sign-in/
pub(crate) async fn replace(
    access: Admitted<Customer, ManageSignIn>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<LinkView>>> {
    require_recent_login(&access)?;
    let SetLink { subject } = SetLink::read(body)?;
    let before = &access.target.customer;
    let settings = access.store.sign_in_settings(access.company_id()).await?;
    let provider = settings.provider.as_ref().ok_or(NO_PROVIDER)?;
    let customers = access.store.all_customers(access.company_id()).await?;
    let has_subject = |customer: &Customer| {
        customer.id != before.id && settings.link_of(customer).is_some_and(|link| link.subject == subject)
    };
    if customers.iter().any(|customer| has_subject(customer)) {
        return Err(SUBJECT_TAKEN.into());
    }
    let link = match settings.link_of(before).filter(|link| link.subject == subject) {
        Some(link) => link.clone(),
        None => provider.link_to(subject, access.now),
    };
    let after = Customer::clone(before).set_sign_in_link(link.clone());
    let view = LinkView::new(access.company_id(), &after, &link, access.references());
    let linked =
        access.store.link_customer(&settings, before, &after, access.caller.principal().into(), access.now);
    access.commit(linked, Json(view)).await
}

/// DELETE …/sign-in/
pub(crate) async fn delete(
    access: Admitted<Customer, ManageCustomers>,
) -> Result<CommittedResponse<NoContent>> {
    let before = &access.target.customer;
    require_manager(&access, before).await?;
    if before.sign_in_link.is_none() {
        return Err(Error::NotFound);
    }
    let after = Customer::clone(before).remove_sign_in_link();
    let settings = access.store.sign_in_settings(access.company_id()).await?;
    let by = access.caller.principal().into();
    access.commit(access.store.link_customer(&settings, before, &after, by, access.now), NoContent).await
}

/// Refuses callers who may not change the customer's address: a link gives access to the account, as an address does.
/// Owners are allowed even for other owners, whom they do not manage: otherwise an owner could not be unlinked.
async fn require_manager(access: &AdmittedRequest, customer: &Customer) -> Result<()> {
    if access.is_owner_in_person() {
        return Ok(());
    }
    access.require_manages(customer.account_type)?;
    if access.sees_all_projects_of(customer).await? { Ok(()) } else { Err(Error::Forbidden(UNSEEN_PROJECTS)) }
}
