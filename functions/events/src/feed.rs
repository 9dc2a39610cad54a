//! The company-wide feed.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::history::{EventFilter, HistoryEntry, TypeFilter};
use shared::domain::policy::ReadEvents;
use shared::http::QueryParameters;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::EventView;
use shared::store::EventSequence;

use crate::view::{FeedPosition, FeedView};

/// GET …/companies/{companyId}/events/
pub(crate) async fn list(
    access: Admitted<EventSequence, ReadEvents>,
    mut query: QueryParameters,
) -> Result<Json<FeedView>> {
    let filter = filter(&access, &mut query);
    let place = FeedPosition::read(&mut query);
    let size = query.page_size();
    query.finish()?;
    let most = size as usize;
    let now = access.now;
    let sequence = &access.target;
    let feed = match place {
        FeedPosition::After(after) => {
            access.store.events_after(sequence, after, most, now, |event| filter.wants(event)).await?
        }
        FeedPosition::Before(before) => {
            let before = before.unwrap_or(sequence.last + 1);
            access
                .store
                .events_before(&sequence.company, before, most, now, |event| filter.wants(event))
                .await?
        }
    };
    Ok(Json(FeedView::new(&feed, place, size, &query, sequence, access.references())))
}

fn filter(access: &AdmittedRequest, query: &mut QueryParameters) -> EventFilter {
    let company = access.company_id();
    let references = access.references();
    EventFilter {
        types: query.filter("type", TypeFilter::parse),
        resource: query.filter("resource", |text| references.parse_resource(company, text)),
        project: query.filter("project", |text| references.parse(company, text)),
        by: query.filter("by", |text| references.parse_author(company, text)),
    }
}

/// GET …/events/{eventId}/
pub(crate) async fn read(
    access: Admitted<HistoryEntry, ReadEvents>,
) -> Result<CommittedResponse<Json<EventView>>> {
    access.show(EventView::new(&access.target, access.references()))
}
