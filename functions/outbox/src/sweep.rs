//! Effects that the stream missed, or that failed before.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;
use shared::Result;
use shared::auth::System;
use shared::mail::Mailer;
use shared::store::Store;

use crate::deliver::{SIDE_BY_SIDE, deliver};
use crate::fate::Fate;
use crate::uploads;

/// How long one run goes on; what is left is taken up by the next.
const RUN: Duration = Duration::from_secs(40);
/// SES counts the mails of a second.
const PAUSE: Duration = Duration::from_secs(1);

/// What one sweep did.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// Mails that SES took.
    pub sent: usize,
    /// Erasures that were noted, and deletions of objects that nothing refers to any more.
    pub deleted: usize,
    /// Effects that the candidate's moves have made pointless.
    pub outdated: usize,
    /// Effects to try again later.
    pub postponed: usize,
    /// Effects given up.
    pub given_up: usize,
    /// Effects and uploads that could not be looked at.
    pub failed: usize,
    /// Uploads whose file has not arrived in time, and videos that have not been converted in time.
    pub uploads_given_up: usize,
    /// Whether the run ended before it was through.
    pub more: bool,
}

pub(crate) async fn handle(system: &System) -> Result<Summary> {
    let mailer = Mailer::new(system.aws(), system.config()).map_err(shared::Error::internal)?;
    // First, so that what is left of them is deleted by the same run.
    let given_up = uploads::give_up(system).await?;
    let mut summary =
        Summary { uploads_given_up: given_up.uploads, failed: given_up.failed, ..Summary::default() };
    let mut is_postponed = false;
    for shard in Store::effect_shards() {
        let mut from = None;
        loop {
            let due = system.store.due_effects(shard, system.now, from).await?;
            for group in due.rows.chunks(SIDE_BY_SIDE) {
                if system.usage().elapsed() > RUN {
                    summary.more = true;
                    return Ok(summary.log(system));
                }
                if is_postponed {
                    tokio::time::sleep(PAUSE).await;
                }
                let fates =
                    join_all(group.iter().map(|effect| deliver(system, &mailer, effect.clone()))).await;
                is_postponed = fates.iter().any(|fate| matches!(fate, Ok(Fate::Postponed)));
                fates.iter().for_each(|fate| summary.count(fate));
            }
            from = due.next;
            if from.is_none() {
                break;
            }
        }
    }
    Ok(summary.log(system))
}

impl Summary {
    fn count(&mut self, fate: &Result<Fate>) {
        match fate {
            Ok(Fate::Sent) => self.sent += 1,
            Ok(Fate::Deleted) => self.deleted += 1,
            Ok(Fate::Outdated) => self.outdated += 1,
            Ok(Fate::Failed | Fate::Postponed) => self.postponed += 1,
            Ok(Fate::GivenUp) => self.given_up += 1,
            Ok(Fate::WithSomebodyElse) => {}
            Err(error) => {
                tracing::error!(target: "outbox", %error, "an effect could not be looked at");
                self.failed += 1;
            }
        }
    }

    fn log(self, system: &System) -> Self {
        let Self { sent, deleted, outdated, postponed, given_up, failed, uploads_given_up, more } = self;
        let usage = system.usage();
        tracing::info!(
            target: "outbox",
            sent,
            deleted,
            outdated,
            postponed,
            given_up,
            failed,
            uploads_given_up,
            more,
            milliseconds = usage.elapsed().as_secs_f64() * 1000.0,
            dynamodb_calls = usage.calls(),
            read_units = usage.read_units(),
            write_units = usage.write_units(),
            "swept",
        );
        self
    }
}
