//! Shared by bulk requests: the limit of concurrent ones, pace, time limit, dry runs, and reports of failed and pending
//! entries.

pub(crate) mod document;
pub(crate) mod dry_run;
pub(crate) mod lanes;
pub(crate) mod report;

use shared::Result;
use shared::auth::access::AdmittedRequest;

/// Runs `work` in one of the company's slots for bulk requests. Fails with
/// [`Error::CompanyBusy`](shared::Error::CompanyBusy) if all slots are taken.
pub(crate) async fn in_slot<T>(access: &AdmittedRequest, work: impl Future<Output = Result<T>>) -> Result<T> {
    let slot = access.store.take_bulk_slot(access.company_id(), access.now).await?;
    let done = work.await;
    access.store.release_bulk_slot(&slot).await;
    done
}
