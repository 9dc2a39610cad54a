//! Lists failed effects, and retries those that the outbox has given up.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use serde_json::{Value, json};
use shared::auth::OperatorAccess;
use shared::domain::effect::{Effect, EffectTask};
use shared::domain::not_a_choice;
use shared::error::FieldErrors;
use shared::store::DuePages;
use shared::{Error, Result};

use super::{AHEAD, company_id, erase_company, moment, no_company};

/// The maximum number of effects in a list.
const LISTED: usize = 1000;

/// Lists failed effects of all companies, counts unfinished deletions, and shows the erasures of companies.
pub(super) async fn list(operator: &OperatorAccess) -> Result<Value> {
    let waiting = FailedEffects::among(operator.store.due_effects(operator.now + AHEAD)).await?;
    let given_up = FailedEffects::among(operator.store.given_up_effects(operator.now)).await?;
    Ok(json!({
        "failures": { "waiting": waiting.listed, "given_up": given_up.listed },
        "deletions": { "waiting": waiting.deletions, "given_up": given_up.deletions },
        "company_erasures": erase_company::list(operator).await?,
    }))
}

#[derive(Serialize)]
struct FailedEffect {
    /// The effect's identifier, as in the log.
    id: String,
    company: String,
    /// The task, as in the log, such as `invitation`.
    kind: &'static str,
    created_at: DateTime<Utc>,
    /// The number of attempts, including one in progress.
    attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_try_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    given_up_at: Option<DateTime<Utc>>,
}

/// The failed effects and unfinished deletions of one queue.
#[derive(Default)]
struct FailedEffects {
    /// The effects that were attempted at least once, the oldest first.
    listed: Vec<FailedEffect>,
    /// The number of deletions, including those not attempted yet.
    deletions: usize,
}

impl FailedEffects {
    async fn among(mut pages: DuePages<'_, Effect>) -> Result<Self> {
        let mut found = Self::default();
        while let Some(mut page) = pages.try_next().await? {
            // An effect that waits for an upload has not failed, and a restore need not wait for it.
            page.retain(|effect| !effect.is_settling());
            found.deletions += page.iter().filter(|effect| effect.task.is_deletion()).count();
            // Skip new effects: the stream will soon start them.
            let tried = page.iter().filter(|effect| effect.attempts > 0);
            found.listed.extend(tried.map(|effect| FailedEffect {
                id: effect.id.clone(),
                company: effect.company.to_string(),
                kind: effect.task.as_str(),
                created_at: effect.created_at,
                attempts: effect.attempts,
                next_try_at: effect.work.indexed_at(),
                given_up_at: effect.given_up_at,
            }));
            // Truncate after each page, because a million mails may wait.
            found.listed.sort_unstable_by_key(|effect| effect.created_at);
            found.listed.truncate(LISTED);
        }
        Ok(found)
    }
}

/// Retries effects that the outbox has given up, optionally only those of one kind, of one company, or given up since
/// `since`.
pub(super) async fn retry(
    operator: &OperatorAccess,
    kind: Option<&str>,
    company: Option<&str>,
    since: Option<&str>,
) -> Result<Value> {
    let mut errors = FieldErrors::default();
    let kind = errors.read("kind", kind.map(kind_of).transpose());
    let company = match company {
        None => Some(None),
        Some(_) => company_id(company, &mut errors).map(Some),
    };
    let since = errors.read("since", since.map(moment).transpose());
    let (Some(kind), Some(company), Some(since)) = (kind, company, since) else {
        return Err(Error::Fields(errors));
    };
    // The company may be gone: deletions may also be given up while the company is being erased.
    if let Some(company) = &company
        && operator.store.company_erasure(company).await?.is_none()
    {
        operator.store.company(company).await?.ok_or_else(no_company)?;
    }
    let mut retried = BTreeMap::<_, usize>::new();
    let mut given_up = operator.store.given_up_effects(operator.now);
    while let Some(page) = given_up.try_next().await? {
        for before in &page {
            let is_wanted = kind.is_none_or(|kind| before.task.as_str() == kind)
                && company.as_ref().is_none_or(|company| before.company == *company)
                && since.is_none_or(|since| before.given_up_at >= Some(since));
            if !is_wanted {
                continue;
            }
            let after = Effect::clone(before).retry(operator.now);
            match operator.store.update_effect(before, after).await {
                Ok(_) => *retried.entry(before.task.as_str()).or_default() += 1,
                // The effect has expired, or a concurrent command has retried it.
                Err(Error::Changed) => {}
                Err(error) => return Err(error),
            }
        }
    }
    let mut output = json!({ "retried": retried });
    if let Some(company) = company {
        output["company"] = json!(company);
    }
    Ok(output)
}

fn kind_of(name: &str) -> Result<&'static str, String> {
    let found = EffectTask::KINDS.into_iter().find(|kind| *kind == name);
    found.ok_or_else(|| not_a_choice(name, &EffectTask::KINDS))
}
