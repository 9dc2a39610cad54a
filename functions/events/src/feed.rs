//! The feed of all events of a company.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::Refusal;
use shared::domain::history::{EventFilter, HistoryEntry, TypeFilter};
use shared::domain::id::ProjectId;
use shared::domain::policy::ReadEvents;
use shared::http::QueryParameters;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::EventView;
use shared::store::EventSequence;

use crate::view::{FeedPosition, FeedView};

/// The error if a caller that is limited to projects does not filter by one of these.
pub(crate) const PROJECT_REQUIRED: Refusal = Refusal {
    code: "project_required",
    detail: "This token reads the events of its projects alone: send the URL of one of them as `project`.",
};

/// GET …/companies/{companyId}/events/
pub(crate) async fn list(
    access: Admitted<EventSequence, ReadEvents>,
    mut query: QueryParameters,
) -> Result<Json<FeedView>> {
    let filter = filter(&access, &mut query);
    let place = FeedPosition::read(&mut query);
    let size = query.page_size();
    query.finish()?;
    if access.caller.limits().is_some() && filter.project.is_none() {
        return Err(PROJECT_REQUIRED.into());
    }
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
        project: read_project(access, query),
        by: query.filter("by", |text| references.parse_author(company, text)),
    }
}

/// The project to filter by; `None` if the parameter is missing or the caller is limited to other projects.
fn read_project(access: &AdmittedRequest, query: &mut QueryParameters) -> Option<ProjectId> {
    let parse = |text: &str| access.references().parse(access.company_id(), text);
    match access.caller.limits() {
        None => query.filter("project", parse),
        // Treat invalid URLs and hidden projects alike, so that a token cannot find out which projects exist.
        Some(own) => {
            let project = query.filter("project", |text| Ok(parse(text).ok())).flatten();
            project.filter(|project| own.contains(project))
        }
    }
}

/// GET …/events/{eventId}/
pub(crate) async fn read(
    access: Admitted<HistoryEntry, ReadEvents>,
) -> Result<CommittedResponse<Json<EventView>>> {
    access.show(EventView::new(&access.target, access.references()))
}
