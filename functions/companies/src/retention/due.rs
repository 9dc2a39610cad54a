//! Lists the candidates whom retention would erase at a given time.

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::id::{CandidateId, ProjectId};
use shared::domain::parse_enum;
use shared::domain::policy::ManagePrivacy;
use shared::domain::privacy::retention_rule::{DAYS, RetentionRule, RetentionStart};
use shared::domain::retention::RetentionPolicy;
use shared::domain::retention::review::RetentionReview;
use shared::domain::retention::run::RunCursor;
use shared::http::QueryParameters;
use shared::http::iso8601::parse_timestamp;

use super::view::{AFTER, DueListView};

/// GET /companies/{companyId}/retention/due/
pub(crate) async fn list(
    access: Admitted<RetentionPolicy, ManagePrivacy>,
    mut query: QueryParameters,
) -> Result<Json<DueListView>> {
    let company = access.company_id();
    let references = access.references();
    let review = RetentionReview {
        policy: RetentionPolicy::clone(&access.target.retention.policy),
        trial: trial(&mut query),
        project: query.filter("project", |text| references.parse(company, text)),
        notice_days: 0,
        at: query.filter("until", parse_timestamp).unwrap_or(access.now),
    };
    let place = query.filter(AFTER, parse_place);
    if place.is_some_and(|place| review.project.is_some_and(|project| project != place.project)) {
        query.refuse(AFTER, INVALID_PLACE);
    }
    let size = query.page_size();
    query.finish()?;
    let due = access.store.list_due(&review, place, size as usize).await?;
    Ok(Json(DueListView::new(company, &due, &review, size, &query, references)))
}

/// The rule to try instead of all policies; `None` to use the policies.
fn trial(query: &mut QueryParameters) -> Option<RetentionRule> {
    let days = query.filter("days", parse_days);
    let from = query.filter("from", parse_enum);
    if days.is_none() && from.is_some() {
        query.refuse("days", "Send `days` together with `from`.");
    }
    Some(RetentionRule { days: Some(days?), from: from.unwrap_or(RetentionStart::LastActivity) })
}

fn parse_days(text: &str) -> Result<u32, String> {
    let days = text.parse().ok().filter(|days| DAYS.contains(days));
    days.ok_or_else(|| format!("Use a whole number from {} to {}.", DAYS.start(), DAYS.end()))
}

const INVALID_PLACE: &str = "Invalid place. Follow `next` unchanged.";

fn parse_place(text: &str) -> Result<RunCursor, String> {
    let parts = text.split_once('.').and_then(|(project, candidate)| {
        Some((project.parse::<ProjectId>().ok()?, candidate.parse::<CandidateId>().ok()?))
    });
    let (project, candidate) = parts.ok_or(INVALID_PLACE)?;
    Ok(RunCursor { project, candidate })
}
