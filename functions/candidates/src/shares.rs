//! Shares a candidate with customers who have no role in the project.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, ShareTarget};
use shared::domain::candidate::Candidate;
use shared::domain::id::{CompanyId, CustomerId, ShareId};
use shared::domain::policy::ChangeProject;
use shared::http::exchange::respond::{CommittedResponse, CreatedOrUpdated, NoContent};
use shared::http::page::PageView;
use shared::http::reference::ReferenceUris;
use shared::http::view::{CustomerView, ShareView};
use shared::http::{BodyFields, QueryParameters};
use shared::store::{ReferenceIds, SharedCandidate};

/// The name for `?expand=`: shows customers instead of references to them.
pub(crate) const CUSTOMER: &str = "customer";

/// GET …/shares/
pub(crate) async fn list(
    access: Admitted<Candidate, ChangeProject>,
    mut query: QueryParameters,
) -> Result<PageView<ShareView>> {
    let expand = query.expand(&[CUSTOMER]);
    let query = query.finish_list()?;
    let shares: Vec<_> = SharedCandidate::all_of(&access.target.candidate).collect();
    let (page, total) = query.slice(shares, |shared| shared.share.to_string());
    let mut wanted = ReferenceIds::default();
    if expand.has(CUSTOMER) {
        wanted.customers.extend(page.rows.iter().map(|shared| shared.customer));
        if let Some(visible) = access.visible_customers().await? {
            wanted.customers.retain(|customer| visible.contains(customer));
        }
    }
    let found = access.store.referred(access.company_id(), &wanted).await?;
    let page = page.map(|shared| {
        let customer = found.customers.get(&shared.customer);
        ShareView::new(access.company_id(), &shared, access.references())
            .with_customer(customer.map(|customer| CustomerView::new(customer, access.references())))
    });
    query.answer(page, total)
}

/// POST …/shares/
pub(crate) async fn create(
    access: Admitted<Candidate, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<CreatedOrUpdated<ShareView>>> {
    let customer = read_new(body, access.company_id(), access.references())?;
    access.require_visible(&[(CUSTOMER, customer)]).await?;
    // A repeated request confirms the existing share instead of failing.
    if let Some(share) = access.target.candidate.share_of(customer) {
        let shown = CreatedOrUpdated::Old(view(&access, share, customer));
        return access.commit(access.store.empty_transaction(), shown).await;
    }
    let share = access.store.next_id(access.now);
    let after = Candidate::clone(&access.target.candidate).shared_with(customer, share)?;
    let created = CreatedOrUpdated::New(view(&access, share, customer));
    access
        .commit(access.store.change_candidate(&access.target.candidate, &after.into(), access.now), created)
        .await
}

/// Reads the customer to share with.
pub(crate) fn read_new(
    mut body: BodyFields,
    company: &CompanyId,
    references: ReferenceUris<'_>,
) -> Result<CustomerId> {
    let customer = body.required("customer", |reference| references.parse(company, reference));
    body.finish(|| customer)
}

/// GET …/shares/{shareId}/
pub(crate) async fn read(
    access: Admitted<ShareTarget, ChangeProject>,
) -> Result<CommittedResponse<Json<ShareView>>> {
    let project = access.target.project.id;
    let candidate = access.target.candidate.id;
    let shared =
        SharedCandidate { share: access.target.share, project, candidate, customer: access.target.customer };
    access.show(ShareView::new(access.company_id(), &shared, access.references()))
}

/// DELETE …/shares/{shareId}/
pub(crate) async fn delete(
    access: Admitted<ShareTarget, ChangeProject>,
) -> Result<CommittedResponse<NoContent>> {
    let after = Candidate::clone(&access.target.candidate).without_share(access.target.share);
    access
        .commit(access.store.change_candidate(&access.target.candidate, &after.into(), access.now), NoContent)
        .await
}

fn view<A>(access: &Admitted<Candidate, A>, share: ShareId, customer: CustomerId) -> ShareView {
    let project = access.target.project.id;
    let candidate = access.target.candidate.id;
    let shared = SharedCandidate { share, project, candidate, customer };
    ShareView::new(access.company_id(), &shared, access.references())
}
