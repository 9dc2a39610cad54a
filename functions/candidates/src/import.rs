//! Importing many candidates at once: each is created, gets its deadline and is invited, or says why not.

mod entry;

use std::collections::HashSet;
use std::time::Duration;

use axum::Json;
use chrono::TimeDelta;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use shared::auth::access::Admitted;
use shared::domain::Refusal;
use shared::domain::candidate::CandidateProfile;
use shared::domain::id::{CandidateId, IdBlock};
use shared::domain::policy::ChangeProject;
use shared::domain::project::Project;
use shared::domain::tally::{SHARDS, shard_of};
use shared::domain::text::fold_case;
use shared::domain::transition::AdvanceTerms;
use shared::http::example_uri;
use shared::http::respond::CommittedResponse;
use shared::http::wire::Uri;
use shared::http::{BodyFields, IdempotentRun, JsonEntries, RunResult};
use shared::store::TAKEN_USERNAME;
use shared::{Error, Result};
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::changes::{CandidateFiles, read_new};
use entry::{ImportContext, ImportEntryResult};

/// How many candidates one request may bring.
const MAX_ENTRIES: usize = IdBlock::SIZE;
/// How long entries are taken on.
// What has begun then still needs some seconds of the 29 that the function has.
const TAKING_ON: TimeDelta = TimeDelta::seconds(22);
/// How many entries are taken on per second.
// Each writes four units to the partition of its project, which takes 1,000 per second, and about 30 to the table, which
// takes 4,000 when it is new. The rest is left to other requests.
const PER_SECOND: u32 = 100;
/// How long the storage may be busy before it is left to a repeat.
const PATIENCE: Duration = Duration::from_secs(26);

const NOT_DONE_IN_TIME: Refusal = Refusal {
    code: "not_done_in_time",
    detail: "This entry was not processed in time. `detail` says how to retry it.",
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CandidateImport")]
pub(crate) struct ImportReport {
    /// Numbers of entries.
    meta: ImportMeta,
    /// Which entries to send again; only present while entries are pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"Entries 970-999 were not processed in time. Send only these again.")]
    detail: Option<String>,
    /// The result of each entry, in the order of the request.
    objects: Vec<ImportReportRow>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CandidateImportMeta")]
struct ImportMeta {
    /// All entries.
    #[schemars(example = 1)]
    total: usize,
    /// Entries whose candidate was created, invited or not.
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
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ImportedCandidate")]
struct ImportReportRow {
    /// The index of the entry, from 0.
    #[schemars(example = 0)]
    index: usize,
    /// What became of the entry.
    status: RowStatus,
    /// The candidate; null if there is none.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Option<Uri>,
    /// Why the candidate was not created or not invited; otherwise an empty object.
    errors: Value,
}

/// What became of an entry.
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

type ImportAccess = Admitted<Project, ChangeProject>;

/// POST …/candidates/import/
pub(crate) async fn create(
    access: ImportAccess,
    JsonEntries(entries): JsonEntries<MAX_ENTRIES>,
) -> Result<CommittedResponse<Json<ImportReport>>> {
    // Within the request: the table would let the first of two concurrent entries win, whichever that is.
    let profiles = distinct(entries.into_iter().map(|fields| read(fields?)).collect());
    access.run_once(PATIENCE, |turn| import(&access, profiles, turn)).await
}

fn read(mut fields: BodyFields) -> Result<CandidateProfile> {
    if !CandidateFiles::read(&mut fields, |_| None).is_empty() {
        // A file that was dropped silently would be missed late.
        // The files of a thousand candidates would not fit through a request.
        fields.refuse("photo", "Imports take no files. PATCH the candidate afterwards.");
    }
    read_new(fields)
}

/// The same profiles, but of those with one user name only the first has it, whatever becomes of that.
fn distinct(profiles: Vec<Result<CandidateProfile>>) -> Vec<Result<CandidateProfile>> {
    let mut taken = HashSet::new();
    let once = profiles.into_iter().map(|profile| {
        let profile = profile?;
        match &profile.username {
            Some(name) if !taken.insert(fold_case(name.as_str())) => {
                Err(Error::field("username", TAKEN_USERNAME))
            }
            _ => Ok(profile),
        }
    });
    once.collect()
}

async fn import(
    access: &ImportAccess,
    profiles: Vec<Result<CandidateProfile>>,
    turn: IdempotentRun,
) -> Result<RunResult<Json<ImportReport>>> {
    let total = profiles.len();
    let mut lanes: [Vec<(usize, CandidateId, CandidateProfile)>; SHARDS as usize] = Default::default();
    let mut outcomes = Vec::with_capacity(total);
    for (index, profile) in profiles.into_iter().enumerate() {
        let id: CandidateId = turn.ids.id(index);
        match profile {
            Ok(profile) => lanes[usize::from(shard_of(id))].push((index, id, profile)),
            Err(error) => outcomes.push((index, ImportEntryResult::Failed(error))),
        }
    }
    let valid = lanes.iter().flatten().map(|(_, id, _)| *id).filter(|_| turn.is_resumed);
    let there = turn.store.candidates(access.company_id(), access.target.project.id, valid).await?;
    let importer = ImportContext {
        access,
        turn: &turn,
        terms: AdvanceTerms::of(&access.target.project, &access.target.company),
        there,
    };
    // One after the other within a shard, so that no two transactions under way count in the same tally.
    let lanes = lanes.into_iter().map(async |lane| {
        let mut outcomes = Vec::with_capacity(lane.len());
        let mut pace = pace();
        for (index, id, profile) in lane {
            let outcome = if access.age() < TAKING_ON {
                pace.tick().await;
                importer.import(id, profile).await
            } else {
                ImportEntryResult::Pending
            };
            outcomes.push((index, outcome));
        }
        outcomes
    });
    outcomes.extend(join_all(lanes).await.into_iter().flatten());
    outcomes.sort_unstable_by_key(|(index, _)| *index);
    let outcomes: Vec<ImportEntryResult> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
    let is_done = !outcomes.iter().any(ImportEntryResult::is_worth_a_repeat);
    let report = Json(ImportReport::new(access, &outcomes, turn.is_keyed));
    Ok(if is_done { RunResult::Done(report) } else { RunResult::Unfinished(report) })
}

/// The times at which one lane takes on entries, the first at once. Later ones do not make up for a late one.
fn pace() -> Interval {
    let mut pace = interval(Duration::from_secs(1) * u32::from(SHARDS) / PER_SECOND);
    // A late entry must not be made up for by a burst.
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pace
}

impl ImportReport {
    fn new(access: &ImportAccess, outcomes: &[ImportEntryResult], is_keyed: bool) -> Self {
        let reference = |id: &CandidateId| {
            access.references().candidate(access.company_id(), access.target.project.id, *id)
        };
        let rows = outcomes.iter().enumerate().map(|(index, outcome)| {
            let (status, candidate, errors) = match outcome {
                ImportEntryResult::Invited(id) => (RowStatus::Invited, Some(reference(id)), json!({})),
                ImportEntryResult::New(id, refusal) => {
                    let errors = refusal.map_or_else(|| json!({}), |refusal| Error::Refused(refusal).body());
                    (RowStatus::New, Some(reference(id)), errors)
                }
                ImportEntryResult::Failed(error) => (RowStatus::Failed, None, error.body()),
                ImportEntryResult::Pending => {
                    // Not `failed`, which means that the entry itself is wrong.
                    (RowStatus::Pending, None, Error::from(NOT_DONE_IN_TIME).body())
                }
            };
            ImportReportRow { index, status, candidate, errors }
        });
        let objects: Vec<ImportReportRow> = rows.collect();
        let count = |status: RowStatus| objects.iter().filter(|row| row.status == status).count();
        let [invited, failed, pending] =
            [RowStatus::Invited, RowStatus::Failed, RowStatus::Pending].map(count);
        let total = objects.len();
        let left = objects.iter().filter(|row| row.status == RowStatus::Pending).map(|row| row.index);
        let detail = (pending > 0).then(|| what_to_send(&ranges(left), is_keyed));
        let created = total - failed - pending;
        Self { meta: ImportMeta { total, created, invited, failed, pending }, detail, objects }
    }
}

/// How to have the entries at `left` done.
fn what_to_send(left: &str, is_keyed: bool) -> String {
    let how = if is_keyed {
        "Retry the whole request with the same `Idempotency-Key`."
    } else {
        // Without a key, repeating the whole request would create the others twice.
        "Send only these again."
    };
    format!("Entries {left} were not processed in time. {how}")
}

/// Ascending numbers as text, such as `3, 5-9`.
fn ranges(numbers: impl Iterator<Item = usize>) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |(first, last): (usize, usize)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    ranges.into_iter().map(text).collect::<Vec<_>>().join(", ")
}
