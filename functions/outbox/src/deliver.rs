//! Runs one effect under a lease, and deletes the effect afterwards.

use shared::auth::SystemAccess;
use shared::domain::effect::{Effect, EffectTask};
use shared::domain::media::conversion::queue::WaitingRecording;
use shared::mail::Mailer;
use shared::media::AnswerObjects;
use shared::store::VersionedItem;
use shared::{Error, Result};

use crate::mails::{account, address, candidate, export, help as help_mail, notice, reset, webhook};
use crate::outcome::EffectResult;
use crate::{erasure, help, recordings, takes, tokens};

/// The number of effects that run concurrently.
pub(crate) const PARALLEL: usize = 8;

/// Runs the effect unless another worker holds its lease.
///
/// If the process dies, the schedule retries the effect after the lease expires.
///
/// # Errors
/// If the storage fails. The schedule then retries the effect.
pub(crate) async fn deliver(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    effect: VersionedItem<Effect>,
) -> Result<EffectResult> {
    let now = system.now;
    if !effect.is_waiting(now) {
        return Ok(EffectResult::Skipped);
    }
    let leased = Effect::clone(&effect).lease(now);
    if leased.is_given_up() {
        return match give_up(system, &effect, leased).await {
            Err(Error::Changed) => Ok(EffectResult::Skipped),
            given_up => given_up.map(|()| log(&effect, EffectResult::GivenUp, "tried too often")),
        };
    }
    // The stream and the schedule may find the effect at the same time; the lease lets only one run it.
    let mut effect = match system.store.update_effect(&effect, leased).await {
        Err(Error::Changed) => return Ok(EffectResult::Skipped),
        effect => effect?,
    };
    let (outcome, reason) = match perform(system, mailer, &mut effect).await {
        Err(Error::Changed) => (EffectResult::Failed, "another request changed the same thing".to_owned()),
        Err(Error::NotFound) => (EffectResult::Outdated, "the account is gone".to_owned()),
        outcome => outcome?,
    };
    let after = match outcome {
        EffectResult::Failed => Effect::clone(&effect).fail(now),
        EffectResult::Postponed => Effect::clone(&effect).postpone(now),
        EffectResult::Continued => Effect::clone(&effect).release(now),
        EffectResult::Settling => Effect::clone(&effect).settle(),
        EffectResult::GivenUp => Effect::clone(&effect).give_up(now),
        EffectResult::Sent
        | EffectResult::Started
        | EffectResult::Deleted
        | EffectResult::Outdated
        | EffectResult::Skipped => {
            match system.store.finish_effect(&effect).await {
                // `Changed`: a deletion has already deleted its effect, or the lease has expired and another worker is
                // responsible.
                Ok(()) | Err(Error::Changed) => {}
                Err(error) => return Err(error),
            }
            return Ok(log(&effect, outcome, &reason));
        }
    };
    if after.is_given_up() {
        give_up(system, &effect, after).await?;
        return Ok(log(&effect, EffectResult::GivenUp, &reason));
    }
    system.store.update_effect(&effect, after).await?;
    Ok(log(&effect, outcome, &reason))
}

/// Keeps a given-up effect for the operator. A given-up interview notice instead returns its interviews to the next
/// mail.
async fn give_up(system: &SystemAccess, before: &VersionedItem<Effect>, after: Effect) -> Result<()> {
    match &after.task {
        EffectTask::InterviewNotice { customer, interviews } => {
            system.store.return_to_notice(before, *customer, interviews, system.now).await
        }
        _ => system.store.update_effect(before, after).await.map(drop),
    }
}

async fn perform(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    effect: &mut VersionedItem<Effect>,
) -> Result<(EffectResult, String)> {
    let company = &effect.company;
    match &effect.task {
        EffectTask::CandidateMail { project, candidate, mail } => {
            let subject = system.store.candidate_subject(company, *project, *candidate).await?;
            candidate::send(system, mailer, *mail, effect.created_at, &subject).await
        }
        EffectTask::CandidateLink { project, candidate, key } => {
            candidate::send_link(system, company, *project, *candidate, key).await
        }
        EffectTask::CustomerInvitation { customer } => {
            account::invite(system, mailer, company, *customer, effect.created_at).await
        }
        EffectTask::AddressConfirmation { account } => {
            address::request_confirmation(system, mailer, company, *account, effect.created_at).await
        }
        EffectTask::AddressChanged { account, changed_at, by } => {
            address::tell_of_change(system, mailer, company, *account, *changed_at, *by).await
        }
        EffectTask::AddressRestored { owner, account } => {
            address::tell_owner(system, mailer, company, *owner, *account).await
        }
        EffectTask::SignInChanged { customer, by, is_own } => {
            account::tell_of_sign_in(system, mailer, company, *customer, *by, *is_own).await
        }
        EffectTask::InterviewNotice { customer, interviews } => {
            notice::tell(system, mailer, company, *customer, interviews).await
        }
        EffectTask::EvaluationReminder { customer, interviews } => {
            notice::remind(system, mailer, company, *customer, interviews).await
        }
        EffectTask::HelpRequested { asked } => help::tell(system, company, *asked).await,
        EffectTask::HelpNotice { recipient, asked, more } => {
            help_mail::send(system, mailer, company, *recipient, asked, *more).await
        }
        EffectTask::CustomerDeleted { was, by } => {
            account::send_farewell_mail(system, mailer, company, was, by).await
        }
        EffectTask::ObjectsDeleted { keys } => delete_objects(system, keys).await,
        EffectTask::Conversion { recording, since } => {
            let company = company.clone();
            let recording = *recording;
            let since = *since;
            recordings::queue(system, &WaitingRecording { company, recording, since }).await
        }
        EffectTask::TakesDeleted { project, candidate, takes } => {
            let objects =
                AnswerObjects { company: company.clone(), project: *project, candidate: *candidate };
            takes::delete_takes(system, &objects, takes).await
        }
        EffectTask::Erased { .. } => erasure::erase(system, effect).await,
        EffectTask::Deletion { deletion } => {
            let was_there = system.store.stepwise(system.now).finish(company, deletion).await?;
            let outcome = if was_there { EffectResult::Deleted } else { EffectResult::Outdated };
            Ok((outcome, String::new()))
        }
        EffectTask::MadeByTokenDeleted { token, made, by } => {
            tokens::delete_made_by(system, company, *token, made, *by).await
        }
        EffectTask::WebhookMail { customer, webhook, mail } => {
            webhook::notify_owner(system, mailer, company, *customer, *webhook, *mail).await
        }
        EffectTask::ExportMail { customer, export: id, mail } => {
            export::notify_owner(system, mailer, company, *customer, *id, *mail).await
        }
        EffectTask::PasswordReset { name } => reset::reset_passwords(system, mailer, effect, name).await,
    }
}

async fn delete_objects(system: &SystemAccess, keys: &[String]) -> Result<(EffectResult, String)> {
    let objects = system.objects()?;
    for key in keys {
        if let Err(error) = objects.delete(key).await {
            return Ok((EffectResult::Failed, error.to_string()));
        }
    }
    Ok((EffectResult::Deleted, String::new()))
}

/// Logs one line per effect, without the content and recipient of a mail.
fn log(effect: &Effect, outcome: EffectResult, reason: &str) -> EffectResult {
    let Effect { id, company, attempts, .. } = effect;
    let task = effect.task.as_str();
    let company = company.as_str();
    if outcome == EffectResult::GivenUp {
        // A warning, because the release is not at fault: SES has refused the mail, or the first attempt was hours ago.
        // An alarm counts these lines.
        tracing::warn!(target: "outbox", effect = id, task, company, attempts, reason, "given up");
    } else {
        tracing::info!(target: "outbox", effect = id, task, company, attempts, ?outcome, reason);
    }
    outcome
}
