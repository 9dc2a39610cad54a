//! Letting customers read a candidate who have no role in its project.

use axum::Json;
use axum::extract::RawQuery;
use shared::auth::guard::{OnCandidate, OnShare};
use shared::auth::policy::{ChangeProject, Grant};
use shared::domain::candidate::Candidate;
use shared::domain::id::{CompanyId, CustomerId, ShareId};
use shared::http::Fields;
use shared::http::expand::Expand;
use shared::http::page::{Envelope, ListQuery};
use shared::http::reference::References;
use shared::http::respond::{Created, Done, Ensured};
use shared::http::view::{CustomerView, ShareView};
use shared::store::Referring;
use shared::{Error, Result};

/// What a list of shares can show in place of its reference.
pub(crate) const CUSTOMER: &str = "customer";

/// GET …/shares/
pub(crate) async fn list(
    guard: OnCandidate<ChangeProject>,
    RawQuery(query): RawQuery,
) -> Result<Envelope<ShareView>> {
    let expand = Expand::parse(query.as_deref(), &[CUSTOMER])?;
    let query = ListQuery::parse(query.as_deref())?;
    let shares: Vec<(ShareId, CustomerId)> =
        guard.candidate.shares.iter().map(|(share, customer)| (*share, *customer)).collect();
    let (page, total) = query.slice(shares, |(share, _)| share.to_string());
    query.check_range(total)?;
    let mut wanted = Referring::default();
    wanted.customers.extend(page.rows.iter().map(|(_, customer)| *customer).filter(|_| expand.has(CUSTOMER)));
    let found = guard.store.referred(guard.company(), &wanted).await?;
    let page = page.map(|share| {
        let customer = found.customers.get(&share.1);
        view(&guard, share)
            .with_customer(customer.map(|customer| CustomerView::new(customer, guard.references())))
    });
    let address = guard.references().shares(guard.company(), guard.project.id, guard.candidate.id);
    Ok(query.envelope(&address, page, total))
}

/// POST …/shares/
pub(crate) async fn create(guard: OnCandidate<ChangeProject>, body: Fields) -> Result<Ensured<ShareView>> {
    let customer = read_new(body, guard.company(), guard.references())?;
    if let Some(share) = guard.candidate.share_of(customer) {
        return Ok(Ensured::Old(view(&guard, (share, customer))));
    }
    let share = guard.store.next_id(guard.now);
    let after = Candidate::clone(&guard.candidate).shared_with(customer, share)?;
    guard.store.commit(guard.store.change_candidate(&guard.candidate, &after.into(), guard.now)).await?;
    let address = guard.references().share(guard.company(), guard.project.id, guard.candidate.id, share);
    Ok(Ensured::New(Created(address, view(&guard, (share, customer)))))
}

/// Reads the body of a creation: with whom to share.
pub(crate) fn read_new(
    mut body: Fields,
    company: &CompanyId,
    references: References<'_>,
) -> Result<CustomerId> {
    let customer = body.required("customer", |reference| references.parse_customer(company, reference));
    body.finish()?;
    customer.ok_or_else(|| Error::internal("a required field was neither read nor refused"))
}

/// GET …/shares/{shareId}/
pub(crate) async fn read(guard: OnShare<ChangeProject>) -> Json<ShareView> {
    Json(view(&guard, (guard.share, guard.customer)))
}

/// DELETE …/shares/{shareId}/
pub(crate) async fn delete(guard: OnShare<ChangeProject>) -> Result<Done> {
    let after = Candidate::clone(&guard.candidate).without_share(guard.share);
    guard.store.commit(guard.store.change_candidate(&guard.candidate, &after.into(), guard.now)).await?;
    Ok(Done)
}

fn view<G: Grant>(guard: &OnCandidate<G>, share: (ShareId, CustomerId)) -> ShareView {
    ShareView::new(guard.company(), (guard.project.id, guard.candidate.id), share, guard.references())
}
