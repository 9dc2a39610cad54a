//! Effects and events delivered by the table's stream.

use futures_util::future::{join, join_all};
use serde::Serialize;
use shared::Result;
use shared::auth::SystemAccess;
use shared::event::StreamRecord;
use shared::mail::Mailer;
use shared::store::{EntryKey, effect_in};

use crate::deliver::{PARALLEL, deliver};
use crate::numbering::number;

fn effect(record: &StreamRecord) -> Option<&str> {
    effect_in(record.pk())
}

fn entry(record: &StreamRecord) -> Option<EntryKey> {
    EntryKey::parse(record.pk(), record.sk())
}

/// The records that could not be read. The stream delivers these again, with all that follow the first of them.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchItemFailures {
    /// One entry per record.
    pub batch_item_failures: Vec<BatchItemFailure>,
}

/// A record that could not be read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchItemFailure {
    /// Its sequence number.
    pub item_identifier: String,
}

pub(crate) async fn handle(system: &SystemAccess, records: Vec<StreamRecord>) -> Result<BatchItemFailures> {
    let mailer = Mailer::new(system.aws(), system.config()).map_err(shared::Error::internal)?;
    // Events do not wait for mails.
    let (unnumbered, mut failures) =
        join(number(system, records.iter().filter_map(entry)), deliver_effects(system, &mailer, &records))
            .await;
    let is_unnumbered =
        |record: &&StreamRecord| entry(record).is_some_and(|entry| unnumbered.contains_key(&entry.company));
    records.iter().filter(is_unnumbered).for_each(|record| failures.add(record));
    Ok(failures)
}

impl BatchItemFailures {
    fn add(&mut self, record: &StreamRecord) {
        let item_identifier = record.sequence_number().to_owned();
        self.batch_item_failures.push(BatchItemFailure { item_identifier });
    }
}

async fn deliver_effects(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    records: &[StreamRecord],
) -> BatchItemFailures {
    let effects: Vec<_> = records.iter().filter_map(|record| Some((record, effect(record)?))).collect();
    let mut failures = BatchItemFailures::default();
    for group in effects.chunks(PARALLEL) {
        let outcomes = join_all(group.iter().map(|(_, id)| process_effect(system, mailer, id))).await;
        for ((record, _), outcome) in group.iter().zip(outcomes) {
            if let Err(error) = outcome {
                tracing::error!(target: "outbox", %error, "an effect could not be looked at");
                failures.add(record);
            }
        }
    }
    failures
}

async fn process_effect(system: &SystemAccess, mailer: &Mailer<'_>, id: &str) -> Result<()> {
    // A missing effect is done.
    if let Some(effect) = system.store.effect(id).await? {
        deliver(system, mailer, effect).await?;
    }
    Ok(())
}
