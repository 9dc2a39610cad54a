//! What has happened to a candidate.

use shared::Result;
use shared::auth::access::CandidateAccess;
use shared::domain::history::Resource;
use shared::domain::id::Id;
use shared::domain::policy::ReadHistory;
use shared::http::page::{Envelope, ListQuery};
use shared::http::view::EventView;

/// GET …/events/
pub(crate) async fn list(
    access: CandidateAccess<ReadHistory>,
    query: ListQuery,
) -> Result<Envelope<EventView>> {
    let (project, candidate) = (access.project.id, access.candidate.id);
    let resource = Resource::Candidate { project, candidate };
    let entries = access.store.history(access.company_id(), resource, access.now).await?;
    // Cursors hold identifiers, so each version stands for one.
    let place = |version: u64| Id::<()>::from_bytes(u128::from(version).to_be_bytes()).to_string();
    let (page, total) = query.slice(entries, |entry| place(entry.version_after));
    let page = page.map(|entry| EventView::new(&entry, access.references()));
    let address = access.references().candidate(access.company_id(), project, candidate).join("events");
    query.answer(&address, page, total)
}
