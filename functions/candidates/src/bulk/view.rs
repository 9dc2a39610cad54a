//! The response to a bulk request.

use schemars::JsonSchema;
use serde::Serialize;
use shared::Error;
use shared::domain::Refusal;
use shared::domain::id::CandidateId;
use shared::http::example_uri;
use shared::http::wire::{OrEmpty, Uri};

use super::request::BulkRequest;
use super::selection::Selection;
use super::{ActedEntry, BulkAccess, EntryResult};
use crate::entries::lanes::EntryOutcome;
use crate::entries::report::{EntryProblem, NOT_DONE_IN_TIME, retry_advice};

/// Refuses an entry whose candidate has changed status since the selection.
pub(crate) const STATUS_CHANGED: Refusal =
    Refusal { code: "status_changed", detail: "The candidate is no longer in the `status` of the request." };

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BulkAction")]
pub(crate) struct BulkReport {
    /// The numbers of entries.
    meta: BulkMeta,
    /// Which entries to send again. Missing if none are pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"Entries 970-999 were not processed in time. Send only these again.")]
    detail: Option<String>,
    /// The result of each entry, in the order of `candidates`; if they were selected by status, oldest candidate first.
    objects: Vec<BulkReportRow>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BulkActionMeta")]
struct BulkMeta {
    /// The number of entries.
    #[schemars(example = 1)]
    total: usize,
    /// Entries whose action succeeded or changed nothing.
    #[schemars(example = 1)]
    done: usize,
    /// Entries whose action was refused.
    #[schemars(example = 0)]
    failed: usize,
    /// Entries that were not processed in time.
    #[schemars(example = 0)]
    pending: usize,
    /// Whether the request has left candidates with its `status` unprocessed.
    #[schemars(example = false)]
    more: bool,
    /// The last candidate of this request. Send it as `after` to act on the next ones, whether or not these have
    /// failed. Null if there are no more.
    #[schemars(example = Option::<Uri>::None)]
    next: Option<Uri>,
    /// Whether this is the report of a dry run, which has written nothing. Missing in other reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    dry_run: Option<bool>,
    /// The number of mails that candidates would get. Only in the report of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 1)]
    mails: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BulkActionEntry")]
struct BulkReportRow {
    /// The index of the entry, from 0.
    #[schemars(example = 0)]
    index: usize,
    /// The URL of the candidate; null if the project has no such candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Option<Uri>,
    /// The page where staff watch and evaluate the candidate's interview; null without a candidate.
    #[schemars(example = example_uri::CANDIDATE_PAGE)]
    interview_suite_url: Option<Uri>,
    /// Whether the action was taken.
    status: RowStatus,
    /// The link to the interview, to send to the candidate (`interview_url`). Empty if the action failed or the
    /// interview is not open, and in a dry run.
    #[schemars(example = &"")]
    interview_url: OrEmpty<Uri>,
    /// For `advance` with a `deadline`: whether the candidate now has this deadline, or would have it after a dry run.
    /// Missing for other actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    deadline_set: Option<bool>,
    #[serde(flatten)]
    problem: EntryProblem,
}

/// The outcome of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum RowStatus {
    /// The action succeeded or changed nothing.
    Done,
    /// The action was refused; `errors` gives the reason.
    Failed,
    /// Not processed in time; `detail` of the response says how to retry.
    Pending,
}

impl BulkReport {
    /// The report of a request with these results.
    pub(super) fn new(
        access: &BulkAccess,
        request: &BulkRequest,
        selection: &Selection,
        results: Vec<EntryResult>,
        is_keyed: bool,
    ) -> Self {
        let rows = results.into_iter().enumerate();
        let objects: Vec<BulkReportRow> =
            rows.map(|(index, result)| BulkReportRow::new(access, request, index, result)).collect();
        let [done, failed, pending] = [RowStatus::Done, RowStatus::Failed, RowStatus::Pending]
            .map(|status| objects.iter().filter(|row| row.status == status).count());
        let left = objects.iter().filter(|row| row.status == RowStatus::Pending).map(|row| row.index);
        let detail = retry_advice(&left.collect::<Vec<_>>(), is_keyed);
        let total = objects.len();
        let next = selection.next().map(|id| uri_of(access, id));
        let more = selection.has_more;
        let meta = BulkMeta { total, done, failed, pending, more, next, dry_run: None, mails: None };
        Self { meta, detail, objects }
    }

    /// Marks the report as that of a dry run. `mails` is the number of mails that candidates would get.
    pub(super) fn of_dry_run(mut self, mails: usize) -> Self {
        (self.meta.dry_run, self.meta.mails) = (Some(true), Some(mails));
        self
    }
}

impl BulkReportRow {
    fn new(
        access: &BulkAccess,
        request: &BulkRequest,
        index: usize,
        EntryResult { candidate, outcome }: EntryResult,
    ) -> Self {
        let not_acted = |error| ActedEntry { refusal: Some(error), link: None, has_deadline: false };
        let (status, ActedEntry { refusal, link, has_deadline }) = match outcome {
            EntryOutcome::Done(acted) if acted.refusal.is_some() => (RowStatus::Failed, acted),
            EntryOutcome::Done(acted) => (RowStatus::Done, acted),
            EntryOutcome::Failed(error) => (RowStatus::Failed, not_acted(error)),
            EntryOutcome::Pending => (RowStatus::Pending, not_acted(NOT_DONE_IN_TIME.into())),
        };
        let is_unknown = matches!(refusal, Some(Error::NotFound));
        let candidate = candidate.filter(|_| !is_unknown);
        let page = |id| access.references().candidate_page(access.company_id(), access.target.project.id, id);
        Self {
            index,
            candidate: candidate.map(|id| uri_of(access, id)),
            interview_suite_url: candidate.map(page),
            status,
            interview_url: OrEmpty(link),
            deadline_set: request.action.deadline_before().map(|_| has_deadline),
            problem: EntryProblem::of(refusal.as_ref()),
        }
    }
}

fn uri_of(access: &BulkAccess, candidate: CandidateId) -> Uri {
    access.references().uri_in_project(access.company_id(), access.target.project.id, candidate)
}
