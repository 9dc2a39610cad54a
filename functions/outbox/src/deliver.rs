//! One effect: taken on, done, and erased.

use shared::auth::System;
use shared::domain::effect::{Effect, Task};
use shared::domain::erasure::Erasure;
use shared::mail::Mailer;
use shared::store::Versioned;
use shared::{Error, Result};

use crate::fate::Fate;
use crate::{account, candidate, reset};

/// How many effects are done side by side.
pub(crate) const SIDE_BY_SIDE: usize = 8;

/// Does an effect, if nobody else is at it.
///
/// Once it is taken on, it is this call's alone until its time is over; a call that dies leaves it to the schedule.
///
/// # Errors
/// When the storage fails, which leaves the effect to the schedule as well.
pub(crate) async fn deliver(system: &System, mailer: &Mailer<'_>, effect: Versioned<Effect>) -> Result<Fate> {
    let now = system.now;
    if !effect.is_waiting(now) {
        return Ok(Fate::WithSomebodyElse);
    }
    let taken = Effect::clone(&effect).taken(now);
    let effect = match system.store.update_effect(&effect, taken).await {
        Err(Error::Changed) => return Ok(Fate::WithSomebodyElse),
        effect => effect?,
    };
    if effect.is_given_up() {
        return Ok(log(&effect, Fate::GivenUp, "tried too often"));
    }
    let (fate, reason) = match perform(system, mailer, &effect).await {
        Err(Error::Changed) => (Fate::Failed, "another request changed the same thing".to_owned()),
        Err(Error::NotFound) => (Fate::Outdated, "the account is gone".to_owned()),
        outcome => outcome?,
    };
    let own = || Effect::clone(&effect);
    let after = match fate {
        Fate::Failed => own().failed(now),
        Fate::Postponed => own().postponed(now),
        Fate::GivenUp => own().given_up(now),
        Fate::Sent | Fate::Deleted | Fate::Outdated | Fate::WithSomebodyElse => {
            match system.store.finish_effect(&effect).await {
                // A deletion ends its effect itself; and once the lease is over, another worker answers for it.
                Ok(()) | Err(Error::Changed) => {}
                Err(error) => return Err(error),
            }
            return Ok(log(&effect, fate, &reason));
        }
    };
    let after = system.store.update_effect(&effect, after).await?;
    Ok(log(&effect, if after.is_given_up() { Fate::GivenUp } else { fate }, &reason))
}

async fn perform(system: &System, mailer: &Mailer<'_>, effect: &Effect) -> Result<(Fate, String)> {
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
        Task::Erased { erased, keys } => {
            let erasure = Erasure { company: company.clone(), erased: *erased, at: effect.created_at };
            erase(system, &erasure, keys).await
        }
        Task::Deletion { deletion } => {
            let was_there = system.store.finish_deletion(company, deletion, system.now).await?;
            let fate = if was_there { Fate::Deleted } else { Fate::Outdated };
            Ok((fate, String::new()))
        }
        Task::PasswordReset { name } => reset::reset_passwords(system, mailer, effect, name).await,
    }
}

async fn erase(system: &System, erasure: &Erasure, keys: &[String]) -> Result<(Fate, String)> {
    match system.objects()?.note_erasure(erasure).await {
        Ok(()) => delete_objects(system, keys).await,
        Err(error) => Ok((Fate::Failed, error.to_string())),
    }
}

async fn delete_objects(system: &System, keys: &[String]) -> Result<(Fate, String)> {
    let objects = system.objects()?;
    for key in keys {
        if let Err(error) = objects.delete(key).await {
            return Ok((Fate::Failed, error.to_string()));
        }
    }
    Ok((Fate::Deleted, String::new()))
}

/// One line for each effect, without what the mail says or whom it goes to.
fn log(effect: &Effect, fate: Fate, reason: &str) -> Fate {
    let Effect { id, company, attempts, .. } = effect;
    let task = effect.task.as_str();
    let company = company.as_str();
    if fate == Fate::GivenUp {
        tracing::error!(target: "outbox", effect = id, task, company, attempts, reason, "given up");
    } else {
        tracing::info!(target: "outbox", effect = id, task, company, attempts, ?fate, reason);
    }
    fate
}
