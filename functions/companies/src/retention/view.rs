//! Views of a company's retention and of due candidates.

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::history::ResourceRef;
use shared::domain::id::CompanyId;
use shared::domain::privacy::retention_rule::RetentionStart;
use shared::domain::retention::RetentionPolicy;
use shared::domain::retention::review::{DueCandidate, RetentionReview};
use shared::domain::retention::run::{CompletedRun, RetentionRun, RunCounts, RunCursor};
use shared::http::QueryParameters;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Timestamp, Uri};
use shared::store::DueList;

/// The query parameter for the position of the last candidate of the previous page.
pub(super) const AFTER: &str = "after";

/// How long a company keeps candidates.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RetentionPolicy")]
pub(crate) struct PolicyView {
    /// The URL of the resource.
    #[schemars(example = example_uri::RETENTION)]
    resource_uri: Uri,
    /// The number of days after which candidates are erased; null keeps them until a user deletes them.
    #[schemars(example = 180)]
    days: Option<u32>,
    /// The event that starts the count of days: the last activity of the candidate, or the close of the project if that
    /// is later. In the latter case, candidates of open projects are kept.
    from: RetentionStart,
    /// The days until an unanswered request for erasure is carried out. A change applies to later requests.
    #[schemars(example = 30)]
    request_days: u32,
    /// How many days before their erasure candidates count as `soon`.
    #[schemars(example = 14)]
    notice_days: u32,
    /// The policy erases nothing before this time; null if candidates are kept.
    starts_at: Option<Timestamp>,
}

impl PolicyView {
    pub(super) fn new(policy: &RetentionPolicy, references: ReferenceUris<'_>) -> Self {
        Self {
            resource_uri: references.resource(&policy.company, ResourceRef::Retention),
            days: policy.scheduled.rule.days,
            from: policy.scheduled.rule.from,
            request_days: policy.request_days,
            notice_days: policy.notice_days,
            starts_at: policy.scheduled.starts_at.map(Timestamp),
        }
    }
}

/// How long a company keeps candidates, and the result of the last run. The `ETag` does not cover runs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Retention")]
pub(crate) struct RetentionView {
    #[serde(flatten)]
    policy: PolicyView,
    /// When the next run starts or the current run continues; null before the first policy.
    next_run_at: Option<Timestamp>,
    /// The last run; null before the first.
    last_run: Option<LastRunView>,
}

/// A completed run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RetentionRun")]
struct LastRunView {
    /// When the run ended.
    at: Timestamp,
    #[serde(flatten)]
    counts: RunCounts,
}

impl RetentionView {
    /// The view of a policy and its last run.
    pub(super) fn new(
        policy: &RetentionPolicy,
        run: Option<&RetentionRun>,
        references: ReferenceUris<'_>,
    ) -> Self {
        Self {
            policy: PolicyView::new(policy, references),
            next_run_at: run.and_then(|run| run.work.indexed_at()).map(Timestamp),
            last_run: run
                .and_then(|run| run.last)
                .map(|CompletedRun { at, counts }| LastRunView { at: Timestamp(at), counts }),
        }
    }
}

/// Due candidates, in the order in which a run erases them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DueCandidates")]
pub(crate) struct DueListView {
    /// The position in the list.
    meta: DueListMeta,
    /// The candidates.
    objects: Vec<DueCandidateView>,
}

/// The position in a list of due candidates.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DueCandidatesMeta")]
struct DueListMeta {
    /// The URL of the next page; null at the end. A page before the end may be empty.
    #[schemars(example = ())]
    next: Option<Uri>,
    /// Whether there may be more candidates.
    #[schemars(example = false)]
    more: bool,
    /// The number of candidates that this request has checked.
    #[schemars(example = 214)]
    looked_at: usize,
}

/// A due candidate.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DueCandidate")]
struct DueCandidateView {
    /// The URL of the candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// The URL of the candidate's project.
    #[schemars(example = example_uri::PROJECT)]
    project: Uri,
    /// Since when the candidate has been due.
    due_at: Timestamp,
    /// The event that starts the count of days.
    reason: RetentionStart,
    /// Whether the candidate is on hold. A hold prevents erasure.
    is_held: bool,
}

impl DueListView {
    pub(super) fn new(
        company: &CompanyId,
        due: &DueList,
        review: &RetentionReview,
        page_size: u32,
        query: &QueryParameters,
        references: ReferenceUris<'_>,
    ) -> Self {
        let link = |place: RunCursor| {
            query.link_to([
                // Repeat the time of the first page, so that all pages show the same moment.
                ("until", Timestamp(review.at).to_string()),
                ("page_size", page_size.to_string()),
                (AFTER, format!("{}.{}", place.project, place.candidate)),
            ])
        };
        let row = |(place, due): &(RunCursor, DueCandidate)| DueCandidateView {
            candidate: references.uri_in_project(company, place.project, place.candidate),
            project: references.uri(company, place.project),
            due_at: Timestamp(due.due_at),
            reason: due.reason,
            is_held: due.is_held,
        };
        Self {
            meta: DueListMeta {
                next: due.next.map(link),
                more: due.next.is_some(),
                looked_at: due.looked_at,
            },
            objects: due.rows.iter().map(row).collect(),
        }
    }
}
