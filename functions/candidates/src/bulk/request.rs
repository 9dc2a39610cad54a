//! The body of a bulk request.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use shared::Result;
use shared::domain::candidate::{CandidateProfile, CandidateStatus};
use shared::domain::id::{CandidateId, CompanyId, ProjectId};
use shared::domain::parse_enum;
use shared::domain::text::ExternalId;
use shared::http::BodyFields;
use shared::http::body::import::MAX_ENTRIES;
use shared::http::iso8601::parse_timestamp;
use shared::http::reference::ReferenceUris;

use crate::cancellation::CancellationRequest;

/// The prefix of a candidate's reference by `external_id`.
const EXTERNAL_ID: &str = "external_id:";

/// The name of an action on many candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum ActionName {
    /// Sets the deadline, if there is one, and advances the candidate.
    Advance,
    /// Sets the deadline.
    Deadline,
    /// Mails a reminder.
    Remind,
    /// Withdraws the candidate.
    Skip,
    /// Withdraws the candidate, even from an interview that has begun.
    Cancel,
}

/// An action on many candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BulkAction {
    /// Sets the deadline, if given, then advances the candidate.
    Advance {
        deadline: Option<DateTime<Utc>>,
    },
    SetDeadline(DateTime<Utc>),
    Remind,
    Skip,
    Cancel(CancellationRequest),
}

impl BulkAction {
    /// The deadline to set before the action itself; `None` if there is none, or if setting it is the action.
    pub(super) fn deadline_before(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Advance { deadline } => *deadline,
            Self::SetDeadline(_) | Self::Remind | Self::Skip | Self::Cancel(_) => None,
        }
    }
}

/// A reference to a candidate, as sent by the client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum CandidateName {
    /// By URL, which may be of another project.
    Reference(CompanyId, ProjectId, CandidateId),
    /// By the client's own key.
    ExternalId(ExternalId),
}

/// The requested candidates.
#[derive(Debug)]
pub(super) enum WantedCandidates {
    Named(Vec<CandidateName>),
    /// All candidates in this status; with `after`, only those created later than this candidate, who may have been
    /// deleted.
    WithStatus {
        status: CandidateStatus,
        after: Option<CandidateId>,
    },
}

/// A request that acts on many candidates.
#[derive(Debug)]
pub(crate) struct BulkRequest {
    pub(super) action: BulkAction,
    pub(super) wanted: WantedCandidates,
    pub(super) is_dry_run: bool,
}

impl BulkRequest {
    /// Reads the body. `is_dry_run` comes from the query and may also be a field of the body.
    pub(crate) fn read(
        mut body: BodyFields,
        is_dry_run: Option<bool>,
        company: &CompanyId,
        project: ProjectId,
        references: ReferenceUris<'_>,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        let action = body.required("action", parse_enum);
        let sent = body
            .clearable_date("deadline", |text| CandidateProfile::check_deadline(parse_timestamp(text)?, now));
        let deadline = sent.flatten();
        match action {
            Some(ActionName::Deadline) if sent == Some(None) || !body.has("deadline") => {
                body.refuse("deadline", "This field is required.");
            }
            Some(ActionName::Remind | ActionName::Skip | ActionName::Cancel) if deadline.is_some() => {
                body.refuse("deadline", "Only `advance` and `deadline` take a deadline.");
            }
            _ => {}
        }
        let cancellation = read_cancellation(&mut body, action);
        let named = read_names(&mut body, references);
        let status = body.text("status", parse_enum);
        match (body.has("candidates"), body.has("status")) {
            (true, true) => body.refuse("status", "Send either `candidates` or `status`."),
            (false, false) => body.refuse("candidates", "Send `candidates` or `status`."),
            _ => {}
        }
        let after = body.clearable("after", |text| match references.parse_candidate(text)? {
            (of, at, candidate) if of == *company && at == project => Ok(candidate),
            _ => Err("Send the URL of a candidate of this project.".to_owned()),
        });
        let after = after.flatten();
        if after.is_some() && body.has("candidates") {
            body.refuse("after", "Only `status` takes `after`.");
        }
        let in_body = body.flag("dry_run");
        if in_body.is_some_and(|in_body| is_dry_run.is_some_and(|in_query| in_query != in_body)) {
            body.refuse("dry_run", "Body and query disagree. Send `dry_run` in one of them.");
        }
        let is_dry_run = in_body.or(is_dry_run).unwrap_or_default();
        body.finish(|| {
            let action = match action? {
                ActionName::Advance => BulkAction::Advance { deadline },
                ActionName::Deadline => BulkAction::SetDeadline(deadline?),
                ActionName::Remind => BulkAction::Remind,
                ActionName::Skip => BulkAction::Skip,
                ActionName::Cancel => BulkAction::Cancel(cancellation?),
            };
            let with_status = |status| WantedCandidates::WithStatus { status, after };
            let wanted = named.map(WantedCandidates::Named).or_else(|| status.map(with_status))?;
            Some(Self { action, wanted, is_dry_run })
        })
    }
}

/// Reads the fields of `cancel`, and refuses them for other actions.
fn read_cancellation(body: &mut BodyFields, action: Option<ActionName>) -> Option<CancellationRequest> {
    let is_cancel = action.map(|action| action == ActionName::Cancel);
    if is_cancel == Some(true) {
        body.require("reason");
    }
    for name in ["reason", "notify"] {
        if is_cancel == Some(false) && body.has(name) {
            body.refuse(name, format!("Only `cancel` takes `{name}`."));
        }
    }
    CancellationRequest::read_fields(body)
}

fn read_names(body: &mut BodyFields, references: ReferenceUris<'_>) -> Option<Vec<CandidateName>> {
    let texts = body.list("candidates", MAX_ENTRIES, |item| item.reference().map(str::to_owned))?;
    let names: Result<Vec<CandidateName>, String> =
        texts.iter().map(|text| read_name(text, references)).collect();
    let names = names.map_err(|message| body.refuse("candidates", message)).ok()?;
    if names.is_empty() {
        body.refuse("candidates", "This list may not be empty.");
    } else if names.iter().collect::<HashSet<_>>().len() < names.len() {
        body.refuse("candidates", NAMED_TWICE);
    }
    Some(names)
}

/// The error if the list names a candidate twice.
pub(super) const NAMED_TWICE: &str = "Each candidate may appear only once.";

fn read_name(text: &str, references: ReferenceUris<'_>) -> Result<CandidateName, String> {
    match text.strip_prefix(EXTERNAL_ID) {
        Some(key) => ExternalId::parse(key).map(CandidateName::ExternalId),
        None => {
            let (company, project, candidate) = references.parse_candidate(text)?;
            Ok(CandidateName::Reference(company, project, candidate))
        }
    }
}
