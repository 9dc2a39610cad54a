//! Begins the erasure of a company at the end of its contract. The function `retention` carries it out.

use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use shared::auth::OperatorAccess;
use shared::domain::candidate::Candidate;
use shared::domain::id::{CandidateId, CompanyId, ProjectId};
use shared::domain::retention::company_erasure::{CompanyErasure, HeldCandidate};
use shared::error::FieldErrors;
use shared::store::{RetryPolicy, VersionedItem};
use shared::{Error, Result};

use super::{AHEAD, company_id, no_company};

/// Begins the erasure of a company unless it has begun, revokes all logins, and deletes the holds of the candidates in
/// `release`.
pub(super) async fn run(
    operator: &OperatorAccess,
    company: Option<&str>,
    confirm: Option<&str>,
    release: &[String],
) -> Result<Value> {
    let mut errors = FieldErrors::default();
    let company = company_id(company, &mut errors);
    let confirmed = errors.read("confirm", confirmation(company.as_ref(), confirm));
    let release = errors.read("release", references(operator, company.as_ref(), release));
    let (Some(company), Some(()), Some(release)) = (company, confirmed, release) else {
        return Err(Error::Fields(errors));
    };
    let mut erasure = begun(operator, &company).await?;
    if erasure.ended_at.is_none() {
        // Repeat until nothing is left: requests in progress may still create sessions.
        while operator.store.end_access(&company).await? {}
        for (project, candidate) in release {
            delete_hold(operator, &company, project, candidate).await?;
        }
        erasure = hurry(operator, erasure).await?;
    }
    Ok(json!({ "company": company, "erasure": shown(operator, &erasure).await? }))
}

/// Lists the unfinished erasures.
pub(super) async fn list(operator: &OperatorAccess) -> Result<Vec<Value>> {
    let mut listed = Vec::new();
    let mut due = operator.store.due_company_erasures(operator.now + AHEAD);
    while let Some(page) = due.try_next().await? {
        for erasure in page {
            let mut output = shown(operator, &erasure).await?;
            output["company"] = json!(erasure.company);
            listed.push(output);
        }
    }
    Ok(listed)
}

fn confirmation(company: Option<&CompanyId>, confirm: Option<&str>) -> Result<(), String> {
    match confirm {
        None => Err("This field is required.".to_owned()),
        Some(confirm) if company.is_some_and(|company| company.as_str() != confirm) => {
            Err("Repeat the identifier in `company`.".to_owned())
        }
        Some(_) => Ok(()),
    }
}

fn references(
    operator: &OperatorAccess,
    company: Option<&CompanyId>,
    release: &[String],
) -> Result<Vec<(ProjectId, CandidateId)>, String> {
    let read = release.iter().map(|reference| {
        let (of, project, candidate) = operator.references().parse_candidate(reference)?;
        match company {
            Some(company) if *company != of => Err(format!("\"{reference}\" is of another company.")),
            _ => Ok((project, candidate)),
        }
    });
    read.collect()
}

/// Returns the erasure of a company, after beginning it if necessary.
async fn begun(operator: &OperatorAccess, company: &CompanyId) -> Result<VersionedItem<CompanyErasure>> {
    let begin = async || match operator.store.company(company).await? {
        Some(found) => operator.commit(operator.store.begin_company_erasure(&found, operator.now)).await,
        None => match operator.store.company_import(company).await? {
            Some(import) if import.opened_at.is_none() => {
                operator.commit(operator.store.begin_import_erasure(&import, operator.now)).await
            }
            _ => Ok(()),
        },
    };
    operator.store.retry_on_conflict(RetryPolicy::CHANGE, begin).await?;
    operator.store.company_erasure(company).await?.ok_or_else(no_company)
}

async fn delete_hold(
    operator: &OperatorAccess,
    company: &CompanyId,
    project: ProjectId,
    candidate: CandidateId,
) -> Result<()> {
    let found = operator.store.candidate(company, project, candidate).await?;
    let Some(before) = found.filter(|found| found.hold.is_some()) else { return Ok(()) };
    let after = Candidate { hold: None, ..Candidate::clone(&before) };
    operator.commit(operator.store.change_candidate(&before, &after.into(), operator.now)).await
}

/// Makes an erasure that waits for holds due at once.
async fn hurry(
    operator: &OperatorAccess,
    before: VersionedItem<CompanyErasure>,
) -> Result<VersionedItem<CompanyErasure>> {
    if before.held.is_empty() {
        return Ok(before);
    }
    let after = CompanyErasure::clone(&before).resume(operator.now);
    match operator.store.update_company_erasure(&before, after).await {
        Err(Error::Changed) => Ok(before),
        updated => updated,
    }
}

async fn shown(operator: &OperatorAccess, erasure: &CompanyErasure) -> Result<Value> {
    let CompanyErasure { company, begun_at, step, step_since, held, ended_at, .. } = erasure;
    if let Some(ended_at) = ended_at {
        return Ok(json!({ "state": "ended", "begun_at": begun_at, "ended_at": ended_at }));
    }
    let uri =
        |held: &HeldCandidate| operator.references().uri_in_project(company, held.project, held.candidate);
    Ok(json!({
        "state": if held.is_empty() { "running" } else { "held" },
        "begun_at": begun_at,
        "step": step,
        "step_since": step_since,
        "held": held.iter().map(uri).collect::<Vec<_>>(),
        "left": operator.store.company_remains(company).await?,
    }))
}
