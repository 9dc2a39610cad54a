//! Endpoints that the table's stream wakes.

use std::collections::BTreeSet;

use shared::Result;
use shared::event::StreamRecord;
use shared::store::Woken;

use crate::Summary;
use crate::run::Sender;

/// Serves the endpoints that the records are about. The table says what is to be done there, so records may come twice, in
/// any order, or never. Those of the sender's own writes lead to nothing: what it leaves is the schedule's, or it would go
/// on without end at an endpoint that is slow.
pub(crate) async fn handle(sender: &Sender<'_>, records: Vec<StreamRecord>) -> Result<Summary> {
    let woken: BTreeSet<Woken> =
        records.iter().filter_map(|record| Woken::parse(record.pk(), record.sk())).collect();
    let mut endpoints = BTreeSet::new();
    for woken in woken {
        match woken {
            Woken::Company(company) => {
                let webhooks = sender.store().webhooks(&company).await?;
                endpoints.extend(webhooks.iter().map(|webhook| (company.clone(), webhook.id)));
            }
            Woken::Webhook(id) => {
                let position = sender.store().position(id).await?.filter(|position| position.wakes);
                endpoints.extend(position.map(|position| (position.company.clone(), id)));
            }
        }
    }
    let summary = Summary { endpoints: endpoints.len(), ..Summary::default() };
    let failed = sender.serve_all(endpoints.into_iter().collect()).await.failed;
    Ok(Summary { failed, more: sender.is_late(), ..summary }.log(sender.system))
}
