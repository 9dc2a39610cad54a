//! Runs one effect under a lease and deletes it.

use shared::auth::System;
use shared::domain::effect::{Effect, Task};
use shared::mail::Mailer;
use shared::store::Versioned;
use shared::{Error, Result};

use crate::outcome::Outcome;
use crate::{account, candidate, erasure, reset, webhook};

/// Effects that run in parallel.
pub(crate) const PARALLEL: usize = 8;

/// Runs the effect unless another worker holds its lease.
///
/// If the process dies, the schedule retries the effect once the lease is over.
///
/// # Errors
/// Storage failures; the schedule retries the effect.
pub(crate) async fn deliver(
    system: &System,
    mailer: &Mailer<'_>,
    effect: Versioned<Effect>,
) -> Result<Outcome> {
    let now = system.now;
    if !effect.is_waiting(now) {
        return Ok(Outcome::Skipped);
    }
    let taken = Effect::clone(&effect).taken(now);
    let mut effect = match system.store.update_effect(&effect, taken).await {
        Err(Error::Changed) => return Ok(Outcome::Skipped),
        effect => effect?,
    };
    if effect.is_given_up() {
        return Ok(log(&effect, Outcome::GivenUp, "tried too often"));
    }
    let (outcome, reason) = match perform(system, mailer, &mut effect).await {
        Err(Error::Changed) => (Outcome::Failed, "another request changed the same thing".to_owned()),
        Err(Error::NotFound) => (Outcome::Outdated, "the account is gone".to_owned()),
        outcome => outcome?,
    };
    let own = || Effect::clone(&effect);
    let after = match outcome {
        Outcome::Failed => own().failed(now),
        Outcome::Postponed => own().postponed(now),
        Outcome::GivenUp => own().given_up(now),
        Outcome::Sent | Outcome::Deleted | Outcome::Outdated | Outcome::Skipped => {
            match system.store.finish_effect(&effect).await {
                // A deletion deletes its effect itself. Once the lease is over, another worker is responsible.
                Ok(()) | Err(Error::Changed) => {}
                Err(error) => return Err(error),
            }
            return Ok(log(&effect, outcome, &reason));
        }
    };
    let after = system.store.update_effect(&effect, after).await?;
    Ok(log(&effect, if after.is_given_up() { Outcome::GivenUp } else { outcome }, &reason))
}

async fn perform(
    system: &System,
    mailer: &Mailer<'_>,
    effect: &mut Versioned<Effect>,
) -> Result<(Outcome, String)> {
    let company = &effect.company;
    match &effect.task {
        Task::CandidateMail { project, candidate, mail } => {
            let subject = system.store.candidate_subject(company, *project, *candidate).await?;
            candidate::send(system, mailer, (*mail, effect.created_at), &subject).await
        }
        Task::CustomerInvitation { customer } => {
            account::invite(system, mailer, (company, *customer), effect.created_at).await
        }
        Task::CustomerDeleted { was, by } => account::say_goodbye(system, mailer, company, was, by).await,
        Task::ObjectsDeleted { keys } => delete_objects(system, keys).await,
        Task::Erased { .. } => erasure::erase(system, effect).await,
        Task::Deletion { deletion } => {
            let was_there = system.store.finish_deletion(company, deletion, system.now).await?;
            let outcome = if was_there { Outcome::Deleted } else { Outcome::Outdated };
            Ok((outcome, String::new()))
        }
        Task::WebhookMail { customer, webhook, mail } => {
            webhook::notify_owner(system, mailer, company, (*customer, *webhook, *mail)).await
        }
        Task::PasswordReset { name } => reset::reset_passwords(system, mailer, effect, name).await,
    }
}

async fn delete_objects(system: &System, keys: &[String]) -> Result<(Outcome, String)> {
    let objects = system.objects()?;
    for key in keys {
        if let Err(error) = objects.delete(key).await {
            return Ok((Outcome::Failed, error.to_string()));
        }
    }
    Ok((Outcome::Deleted, String::new()))
}

/// Logs one line per effect, without the mail's content and recipient.
fn log(effect: &Effect, outcome: Outcome, reason: &str) -> Outcome {
    let Effect { id, company, attempts, .. } = effect;
    let task = effect.task.as_str();
    let company = company.as_str();
    if outcome == Outcome::GivenUp {
        tracing::error!(target: "outbox", effect = id, task, company, attempts, reason, "given up");
    } else {
        tracing::info!(target: "outbox", effect = id, task, company, attempts, ?outcome, reason);
    }
    outcome
}
