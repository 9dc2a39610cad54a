//! Effects and events delivered by the table's stream.

use futures_util::future::{join, join_all};
use shared::auth::SystemAccess;
use shared::event::{BatchReport, StreamRecord};
use shared::mail::Mailer;
use shared::store::{EntryKey, effect_in};
use shared::{Error, Result, log_failure, log_run};

use crate::deliver::{PARALLEL, deliver};
use crate::numbering::assign_numbers;

pub(crate) async fn handle(system: &SystemAccess, records: &[StreamRecord]) -> Result<BatchReport> {
    let mailer = Mailer::new(system.aws(), system.config()).map_err(Error::internal)?;
    let entries = records.iter().filter_map(entry_of);
    // Events do not wait for mails.
    let (unnumbered, mut report) =
        join(assign_numbers(system, entries), run_effects(system, &mailer, records)).await;
    for record in records {
        if entry_of(record).is_some_and(|entry| unnumbered.contains_key(&entry.company)) {
            report.add_failure(record.sequence_number());
        }
    }
    log_run!(target: "outbox", system.usage(), records = records.len(), "delivered");
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
        let results = join_all(group.iter().map(|(_, id)| process(system, mailer, id))).await;
        for ((record, _), result) in group.iter().zip(results) {
            if let Err(error) = result {
                log_failure!(target: "outbox", &error, "could not run an effect");
                report.add_failure(record.sequence_number());
            }
        }
    }
    report
}

async fn process(system: &SystemAccess, mailer: &Mailer<'_>, id: &str) -> Result<()> {
    // A missing effect is done.
    if let Some(effect) = system.store.effect(id).await? {
        deliver(system, mailer, effect).await?;
    }
    Ok(())
}
