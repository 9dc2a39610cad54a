//! Common to requests about many candidates: how many run at once, their pace, their time limit, dry runs, and reports about entries
//! that have failed or are left.

pub(crate) mod document;
pub(crate) mod dry_run;
pub(crate) mod lanes;
pub(crate) mod report;

use shared::Result;
use shared::auth::access::AdmittedRequest;

/// Does the work in a slot of the company. Fails with [`Error::CompanyBusy`](shared::Error::CompanyBusy) while others hold all of
/// them.
pub(crate) async fn in_slot<T>(access: &AdmittedRequest, work: impl Future<Output = Result<T>>) -> Result<T> {
    let slot = access.store.take_bulk_slot(access.company_id(), access.now).await?;
    let done = work.await;
    access.store.release_bulk_slot(&slot).await;
    done
}
