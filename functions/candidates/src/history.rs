//! The events of one candidate.

use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::Candidate;
use shared::domain::history::ResourceRef;
use shared::domain::policy::ReadHistory;
use shared::http::page::{ListQuery, PageView};
use shared::http::view::EventView;
use shared::store::history_place;

/// GET …/candidates/{candidateId}/events/
pub(crate) async fn list(
    access: Admitted<Candidate, ReadHistory>,
    query: ListQuery,
) -> Result<PageView<EventView>> {
    let project = access.target.project.id;
    let candidate = access.target.candidate.id;
    let company = access.company_id();
    let resource = ResourceRef::Candidate { project, candidate };
    let (page, total) =
        if access.target.candidate.is_hidden_from(access.caller.customer(), &access.target.project) {
            // Only events, because entries of drafts reveal who is evaluating. Reads all events that blind managers
            // see, to count them; they are few.
            let events = access.store.events_of(company, resource, access.now).await?;
            query.slice(events, |event| history_place(event.version_after))
        } else {
            let latest = access.target.candidate.version();
            access.store.history_page(company, resource, latest, query.page(), access.now).await?
        };
    let page = page.map(|entry| EventView::new(&entry, access.references()));
    query.answer(page, total)
}
