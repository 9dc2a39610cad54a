//! The response to an import.

use schemars::JsonSchema;
use serde::Serialize;
use shared::Error;
use shared::error::EXTERNAL_ID_TAKEN;
use shared::http::example_uri;
use shared::http::wire::{OrEmpty, Uri};

use super::ImportAccess;
use super::result::ImportEntryResult;
use crate::entries::report::{EntryProblem, NOT_DONE_IN_TIME, retry_advice};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CandidateImport")]
pub(crate) struct ImportReport {
    /// The numbers of entries.
    meta: ImportMeta,
    /// Which entries to send again. Missing if none are pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"Entries 970-999 were not processed in time. Send only these again.")]
    detail: Option<String>,
    /// The result of each entry, in the order of the request.
    objects: Vec<ImportReportRow>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CandidateImportMeta")]
struct ImportMeta {
    /// The number of entries.
    #[schemars(example = 1)]
    total: usize,
    /// Entries whose candidate was created, whether invited or not.
    #[schemars(example = 1)]
    created: usize,
    /// Entries whose candidate was created and invited.
    #[schemars(example = 1)]
    invited: usize,
    /// Entries whose candidate could not be created.
    #[schemars(example = 0)]
    failed: usize,
    /// Entries that were not processed in time.
    #[schemars(example = 0)]
    pending: usize,
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
#[schemars(rename = "ImportedCandidate")]
struct ImportReportRow {
    /// The index of the entry, from 0.
    #[schemars(example = 0)]
    index: usize,
    /// The outcome of the entry.
    status: RowStatus,
    /// The URL of the candidate; for a failed entry, of the candidate who has its `external_id`. Null if there is none,
    /// as for a candidate that a dry run would create.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Option<Uri>,
    /// The page where staff watch and evaluate the candidate's interview, to store with the application; null without a
    /// candidate.
    #[schemars(example = example_uri::CANDIDATE_PAGE)]
    interview_suite_url: Option<Uri>,
    /// The link to the interview, to send to the candidate. If the entry failed with `external_id_taken`, the link of
    /// the candidate who has the `external_id`. Empty if the candidate is not invited, and in dry runs.
    #[schemars(example = &"")]
    interview_url: OrEmpty<Uri>,
    #[serde(flatten)]
    problem: EntryProblem,
}

/// The outcome of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum RowStatus {
    /// Created and invited.
    Invited,
    /// Created but not invited; `errors` gives the reason.
    New,
    /// Not created; `errors` gives the reason.
    Failed,
    /// Not processed in time; `detail` of the response says how to retry.
    Pending,
}

impl ImportReport {
    /// The report of an import with these results.
    pub(super) fn new(access: &ImportAccess, results: Vec<ImportEntryResult>, is_keyed: bool) -> Self {
        let objects: Vec<ImportReportRow> = results
            .into_iter()
            .enumerate()
            .map(|(index, result)| ImportReportRow::new(access, index, result))
            .collect();
        let [invited, failed, pending] = [RowStatus::Invited, RowStatus::Failed, RowStatus::Pending]
            .map(|status| objects.iter().filter(|row| row.status == status).count());
        let total = objects.len();
        let left = objects.iter().filter(|row| row.status == RowStatus::Pending).map(|row| row.index);
        let detail = retry_advice(&left.collect::<Vec<_>>(), is_keyed);
        let created = total - failed - pending;
        let meta = ImportMeta { total, created, invited, failed, pending, dry_run: None, mails: None };
        Self { meta, detail, objects }
    }

    /// Marks the report as that of a dry run. `mails` is the number of mails that candidates would get.
    pub(super) fn of_dry_run(mut self, mails: usize) -> Self {
        (self.meta.dry_run, self.meta.mails) = (Some(true), Some(mails));
        self
    }
}

impl ImportReportRow {
    fn new(access: &ImportAccess, index: usize, result: ImportEntryResult) -> Self {
        let id = result.candidate();
        let mut interview_url = None;
        let (status, problem) = match result {
            ImportEntryResult::Invited { link, .. } => {
                interview_url = link;
                (RowStatus::Invited, EntryProblem::of(None))
            }
            ImportEntryResult::New { refusal, .. } => {
                (RowStatus::New, EntryProblem::of(refusal.map(Error::Refused).as_ref()))
            }
            ImportEntryResult::KeyTaken { errors, link, .. } => {
                interview_url = link;
                let problem = EntryProblem::of(Some(&Error::Fields(errors)));
                (RowStatus::Failed, problem.with_code(EXTERNAL_ID_TAKEN))
            }
            ImportEntryResult::Failed(error) => (RowStatus::Failed, EntryProblem::of(Some(&error))),
            // Not `failed`, which means that the entry itself is wrong.
            ImportEntryResult::Pending => {
                (RowStatus::Pending, EntryProblem::of(Some(&NOT_DONE_IN_TIME.into())))
            }
        };
        let (company, project) = (access.company_id(), access.target.project.id);
        let candidate = id.map(|id| access.references().uri_in_project(company, project, id));
        let interview_suite_url = id.map(|id| access.references().candidate_page(company, project, id));
        let interview_url = OrEmpty(interview_url);
        Self { index, status, candidate, interview_suite_url, interview_url, problem }
    }
}
