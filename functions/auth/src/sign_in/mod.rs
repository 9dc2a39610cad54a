//! The settings of sign-in by a company's provider, and the links of customers to identities there.

mod body;
pub(crate) mod document;
pub(crate) mod flow;
pub(crate) mod links;
mod view;

use axum::Json;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::auth::caller::AuthMethod;
use shared::domain::policy::{Action, ManageSignIn};
use shared::domain::staff::customer::Customer;
use shared::domain::staff::sign_in::{LOGIN_TOO_OLD, MAX_LOGIN_AGE, SignInSettings};
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, NoContent, TaggedBy};
use shared::{Error, Result};

pub(crate) use body::SetSignIn;
pub(crate) use view::{ChangedSignInView, SignInView};

/// The settings after a change. The `ETag` must equal that of a GET, so it does not cover the number of ended links.
type ChangedAnswer = TaggedBy<Json<ChangedSignInView>, SignInView>;

/// GET /companies/{companyId}/sign-in/
pub(crate) async fn read(
    access: Admitted<SignInSettings, ManageSignIn>,
) -> Result<CommittedResponse<Json<SignInView>>> {
    let view = make_view(&access, &access.target).await?;
    access.show(view)
}

/// PUT …/sign-in/
pub(crate) async fn replace(
    access: Admitted<SignInSettings, ManageSignIn>,
    body: BodyFields,
) -> Result<CommittedResponse<ChangedAnswer>> {
    require_recent_login(&access)?;
    let targets = access.config().outgoing_targets;
    let SetSignIn { mut provider, client_secret } =
        SetSignIn::read(body, targets, access.company_id(), access.references())?;
    let before = &access.target;
    let kept = before.provider.as_ref().filter(|before| before.is_same_client(&provider));
    if client_secret.is_none() && kept.is_none_or(|before| before.client_secret.is_none()) {
        return Err(Error::field("client_secret", "Send the secret of this client of this issuer."));
    }
    let customers = access.store.all_customers(access.company_id()).await?;
    let is_owner = |id| customers.iter().any(|customer| customer.id == id && customer.is_owner_at_work());
    if !provider.break_glass.iter().all(|id| is_owner(*id)) {
        return Err(Error::field("break_glass", "Name owners who can log in."));
    }
    // Check the provider only if it is new or about to be required: owners must be able to lift `required` while it is
    // down.
    let keeps_client_and_secret = kept.is_some() && client_secret.is_none();
    if (!keeps_client_and_secret || provider.required && before.required_provider().is_none())
        && let Some(problem) = access.problem_of_provider(&provider.issuer).await?
    {
        return Err(Error::field("issuer", problem));
    }
    provider.client_secret = match &client_secret {
        Some(secret) => Some(access.store.seal_client_secret(access.company_id(), secret).await?),
        None => kept.and_then(|before| before.client_secret.clone()),
    };
    let after = before.with_provider(provider, access.now);
    let signed_in_under = match &access.caller.auth_method {
        AuthMethod::Session(live) => live.session.signed_in_under,
        _ => None,
    };
    let has_signed_in =
        keeps_client_and_secret && signed_in_under.is_some_and(|since| after.has_links_since(since));
    after.check_required(has_signed_in)?;
    let has_ended =
        |customer: &Customer| before.link_of(customer).is_some() && after.link_of(customer).is_none();
    let ended = customers.iter().filter(|customer| has_ended(customer)).count();
    let view = make_view(&access, &after).await?;
    let answer = TaggedBy(Json(ChangedSignInView::new(view.clone(), ended)), view);
    let by = access.caller.principal().into();
    let set = access.store.set_sign_in_settings(before, &after, by, &customers, access.now);
    access.commit(set, answer).await
}

/// DELETE …/sign-in/
pub(crate) async fn delete(
    access: Admitted<SignInSettings, ManageSignIn>,
) -> Result<CommittedResponse<NoContent>> {
    require_recent_login(&access)?;
    let before = &access.target;
    if before.provider.is_none() {
        return Err(Error::NotFound);
    }
    let customers = access.store.all_customers(access.company_id()).await?;
    let after = before.without_provider();
    let by = access.caller.principal().into();
    let set = access.store.set_sign_in_settings(before, &after, by, &customers, access.now);
    access.commit(set, NoContent).await
}

async fn make_view(access: &AdmittedRequest, settings: &SignInSettings) -> Result<SignInView> {
    let provider = settings.provider.as_ref().ok_or(Error::NotFound)?;
    let is_working = access.store.has_client_secret(access.company_id(), provider).await?;
    Ok(SignInView::new(settings, provider, is_working, access.references()))
}

/// Fails unless an owner calls in person, with a session that is younger than [`MAX_LOGIN_AGE`].
fn require_recent_login(access: &AdmittedRequest) -> Result<()> {
    if access.caller.staff_in_person().is_none() {
        return Err(access.lacks(Action::ManageSignIn));
    }
    match &access.caller.auth_method {
        AuthMethod::Session(live) if access.now < live.session.created_at + MAX_LOGIN_AGE => Ok(()),
        _ => Err(Error::Forbidden(LOGIN_TOO_OLD)),
    }
}
