//! Endpoints that the table's stream wakes.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::stream::{self, StreamExt as _};
use shared::Result;
use shared::domain::id::{CompanyId, WebhookId};
use shared::event::StreamRecord;
use shared::store::StreamTrigger;

use crate::RunSummary;
use crate::sender::{ENDPOINTS, EventSender};

/// Serves the endpoints that the records are about. The table says what is to be done there, so records may come twice, in
/// any order, or never. Those of the sender's own writes lead to nothing unless they ask for it: what a run leaves at an
/// endpoint that is slow is the schedule's, since others would wait behind it.
pub(crate) async fn handle(sender: &EventSender<'_>, records: Vec<StreamRecord>) -> Result<RunSummary> {
    let triggers: BTreeSet<StreamTrigger> =
        records.iter().filter_map(|record| StreamTrigger::parse(record.pk(), record.sk())).collect();
    let mut endpoints = BTreeMap::<CompanyId, BTreeSet<WebhookId>>::new();
    for trigger in triggers {
        match trigger {
            StreamTrigger::Company(company) => {
                let webhooks = sender.store().webhooks(&company).await?;
                endpoints.entry(company).or_default().extend(webhooks.iter().map(|webhook| webhook.id));
            }
            StreamTrigger::Webhook(id) => {
                let cursor = sender.store().cursor(id).await?.filter(|cursor| cursor.wakes_sender);
                if let Some(cursor) = cursor {
                    endpoints.entry(cursor.company.clone()).or_default().insert(id);
                }
            }
        }
    }
    let mut summary =
        RunSummary { endpoints: endpoints.values().map(BTreeSet::len).sum(), ..RunSummary::default() };
    let served = endpoints.into_iter().map(|(company, webhooks)| async move {
        sender.serve_company(&company, webhooks.into_iter().collect()).await
    });
    // All of them, before the first failure is reported.
    let served: Vec<Result<usize>> = stream::iter(served).buffer_unordered(ENDPOINTS).collect().await;
    for failed in served {
        summary.failed += failed?;
    }
    summary.more = sender.is_over();
    Ok(summary.log(sender.system))
}
