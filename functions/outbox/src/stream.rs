//! Effects delivered by the table's stream.

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use shared::Result;
use shared::auth::System;
use shared::mail::Mailer;
use shared::store::effect_in;

use crate::deliver::{PARALLEL, deliver};

/// A stream record: a change of one item.
#[derive(Deserialize)]
pub struct Record {
    dynamodb: Change,
}

#[derive(Deserialize)]
struct Change {
    #[serde(rename = "Keys")]
    keys: Keys,
    #[serde(rename = "SequenceNumber")]
    sequence_number: String,
}

#[derive(Deserialize)]
struct Keys {
    pk: Text,
}

#[derive(Deserialize)]
struct Text {
    #[serde(rename = "S")]
    value: String,
}

/// The records that could not be read. The stream delivers these again, with all that follow the first of them.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failures {
    /// One entry per record.
    pub batch_item_failures: Vec<Failure>,
}

/// A record that could not be read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// Its sequence number.
    pub item_identifier: String,
}

pub(crate) async fn handle(system: &System, records: Vec<Record>) -> Result<Failures> {
    let mailer = Mailer::new(system.aws(), system.config()).map_err(shared::Error::internal)?;
    let mut failures = Failures::default();
    for group in records.chunks(PARALLEL) {
        let outcomes = join_all(group.iter().map(|record| take_up(system, &mailer, record))).await;
        for (record, outcome) in group.iter().zip(outcomes) {
            if let Err(error) = outcome {
                tracing::error!(target: "outbox", %error, "an effect could not be looked at");
                let item_identifier = record.dynamodb.sequence_number.clone();
                failures.batch_item_failures.push(Failure { item_identifier });
            }
        }
    }
    Ok(failures)
}

async fn take_up(system: &System, mailer: &Mailer<'_>, record: &Record) -> Result<()> {
    let Some(id) = effect_in(&record.dynamodb.keys.pk.value) else { return Ok(()) };
    // A missing effect is done.
    if let Some(effect) = system.store.effect(id).await? {
        deliver(system, mailer, effect).await?;
    }
    Ok(())
}
