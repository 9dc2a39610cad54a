//! Effects that have failed: lists them, and retries those that the outbox gave up.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use shared::auth::OperatorAccess;
use shared::domain::effect::{Effect, EffectTask};
use shared::error::FieldErrors;
use shared::store::{DueCursor, DueQueue};
use shared::{Error, Result};

use super::{company_id, moment, no_company};
use crate::outcome::{CommandOutput, FailedEffect, FailedEffects};

/// Longer than any delay before the next try.
const AHEAD: TimeDelta = TimeDelta::days(1);

/// Lists effects of all companies.
pub(super) async fn list(operator: &OperatorAccess) -> Result<CommandOutput> {
    let failures = FailedEffects {
        waiting: failed(operator, DueQueue::Effects, operator.now + AHEAD).await?,
        given_up: failed(operator, DueQueue::GivenUpEffects, operator.now).await?,
    };
    Ok(CommandOutput { failures: Some(failures), ..CommandOutput::default() })
}

/// The effects of a queue that were tried, and are due by `until`.
async fn failed(
    operator: &OperatorAccess,
    queue: DueQueue,
    until: DateTime<Utc>,
) -> Result<Vec<FailedEffect>> {
    let mut found = Vec::new();
    for first in DueCursor::all(queue, until) {
        let (mut page, before) = (Some(first), found.len());
        while let Some(cursor) = page.take_if(|_| found.len() - before < FailedEffects::LISTED) {
            let due = operator.store.due_effects(cursor).await?;
            // A new effect waits for the stream, which is faster.
            let tried = due.rows.iter().filter(|effect| effect.attempts > 0);
            found.extend(tried.map(|effect| FailedEffect::from(&**effect)));
            page = due.next;
        }
    }
    found.sort_unstable_by_key(|effect| effect.created_at);
    found.truncate(FailedEffects::LISTED);
    Ok(found)
}

/// Retries effects of one kind, of one company, or given up at `since` or later; each filter is optional.
pub(super) async fn retry(
    operator: &OperatorAccess,
    kind: Option<&str>,
    company: Option<&str>,
    since: Option<&str>,
) -> Result<CommandOutput> {
    let mut errors = FieldErrors::default();
    let kind = errors.read("kind", kind.map(kind_of).transpose());
    let company = match company {
        None => Some(None),
        Some(company) => company_id(company, &mut errors).map(Some),
    };
    let since = errors.read("since", since.map(moment).transpose());
    let (Some(kind), Some(company), Some(since)) = (kind, company, since) else {
        return Err(Error::Fields(errors));
    };
    if let Some(company) = &company {
        operator.store.company(company).await?.ok_or_else(no_company)?;
    }
    let is_wanted = |effect: &Effect| {
        kind.is_none_or(|kind| effect.task.as_str() == kind)
            && company.as_ref().is_none_or(|company| effect.company == *company)
            && since.is_none_or(|since| effect.given_up_at >= Some(since))
    };
    let mut retried = BTreeMap::new();
    for first in DueCursor::all(DueQueue::GivenUpEffects, operator.now) {
        let mut page = Some(first);
        while let Some(cursor) = page {
            let due = operator.store.due_effects(cursor).await?;
            for before in due.rows.iter().filter(|effect| is_wanted(effect)) {
                let after = Effect::clone(before).retried(operator.now);
                match operator.store.update_effect(before, after).await {
                    Ok(_) => *retried.entry(before.task.as_str()).or_default() += 1,
                    // It has expired, or the same command runs twice.
                    Err(Error::Changed) => {}
                    Err(error) => return Err(error),
                }
            }
            page = due.next;
        }
    }
    let company = company.map(|company| company.to_string());
    Ok(CommandOutput { company, retried: Some(retried), ..CommandOutput::default() })
}

fn kind_of(name: &str) -> Result<&'static str, String> {
    let found = EffectTask::KINDS.into_iter().find(|kind| *kind == name);
    found.ok_or_else(|| {
        format!("\"{name}\" is not a valid choice. Use one of: {}.", EffectTask::KINDS.join(", "))
    })
}
