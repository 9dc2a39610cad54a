//! GET /companies/{companyId}/shares/.

use axum::extract::RawQuery;
use shared::Result;
use shared::auth::guard::InCompany;
use shared::auth::policy::ReadCompany;
use shared::http::page::{Envelope, ListQuery};
use shared::http::view::ShareView;

/// Lists what is shared with the caller.
pub(crate) async fn list(
    guard: InCompany<ReadCompany>,
    RawQuery(query): RawQuery,
) -> Result<Envelope<ShareView>> {
    let query = ListQuery::parse(query.as_deref())?;
    let (company, references) = (guard.company(), guard.references());
    let shares = match guard.caller.customer() {
        Some(customer) => guard.store.shared_with(company, customer).await?,
        // Nobody shares anything with what is no person.
        None => Vec::new(),
    };
    let (page, total) = query.slice(shares, |shared| shared.share.to_string());
    query.check_range(total)?;
    let page = page.map(|shared| {
        let candidate = (shared.project, shared.candidate);
        ShareView::new(company, candidate, (shared.share, shared.customer), references)
    });
    Ok(query.envelope(&references.shared(company), page, total))
}
