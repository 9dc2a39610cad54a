//! Effects and events delivered by the table's stream.

use futures_util::future::{join, join_all};
use shared::auth::SystemAccess;
use shared::event::{BatchReport, StreamRecord};
use shared::mail::Mailer;
use shared::store::{EntryKey, effect_in};
use shared::{Error, Result, log_failure, log_invocation};

use crate::deliver::{PARALLEL, deliver};
use crate::numbering::assign_numbers;

pub(crate) async fn handle(system: &SystemAccess, records: &[StreamRecord]) -> Result<BatchReport> {
    let mailer = Mailer::new(system.aws(), system.config()).map_err(Error::internal)?;
    let entries = records.iter().filter_map(entry_of);
    // Concurrently: numbering must not wait for mails.
    let (unnumbered, mut report) =
        join(assign_numbers(system, entries), run_effects(system, &mailer, records)).await;
    for record in records {
        if entry_of(record).is_some_and(|entry| unnumbered.contains_key(&entry.company)) {
            report.add_failure(record.sequence_number());
        }
    }
    log_invocation!(target: "outbox", system.usage(), records = records.len(), "delivered");
    Ok(report)
}

fn entry_of(record: &StreamRecord) -> Option<EntryKey> {
    EntryKey::parse(record.pk(), record.sk())
}

async fn run_effects(system: &SystemAccess, mailer: &Mailer<'_>, records: &[StreamRecord]) -> BatchReport {
    let effects: Vec<_> =
        records.iter().filter_map(|record| Some((record, effect_in(record.pk())?))).collect();
    let mut report = BatchReport::default();
    for group in effects.chunks(PARALLEL) {
        let deliveries = group.iter().map(|(_, id)| async move {
            match system.store.effect(id).await? {
                Some(effect) => deliver(system, mailer, effect).await.map(drop),
                // A missing effect has been completed.
                None => Ok(()),
            }
        });
        let results = join_all(deliveries).await;
        for ((record, _), result) in group.iter().zip(results) {
            if let Err(error) = result {
                log_failure!(target: "outbox", &error, "could not run an effect");
                report.add_failure(record.sequence_number());
            }
        }
    }
    report
}
