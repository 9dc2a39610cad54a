//! Serves endpoints on records of the table's stream.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::stream::{self, StreamExt as _};
use shared::domain::id::{CompanyId, WebhookId};
use shared::event::{BatchReport, StreamRecord};
use shared::store::StreamTrigger;
use shared::{Result, log_failure, log_invocation};

use crate::deliver::{ENDPOINTS, SenderInvocation};

/// Serves the endpoints that the records concern. Their state is in the table, so records may be duplicated, out of
/// order or lost. Records of the sender's own writes are ignored unless they set `wakes_sender`: the schedule continues
/// turns at slow endpoints, because other records would wait for them.
pub(crate) async fn handle(invocation: &SenderInvocation<'_>, records: &[StreamRecord]) -> BatchReport {
    let mut report = BatchReport::default();
    let mut count = 0;
    let mut triggers = BTreeMap::<StreamTrigger, Vec<String>>::new();
    for record in records {
        if let Some(trigger) = StreamTrigger::parse(record.pk(), record.sk()) {
            triggers.entry(trigger).or_default().push(record.sequence_number().to_owned());
        }
    }
    let mut companies = BTreeMap::<CompanyId, (BTreeSet<WebhookId>, Vec<String>)>::new();
    for (trigger, numbers) in triggers {
        match load_endpoints(invocation, trigger).await {
            Ok(Some((company, webhooks))) => {
                let (all, of_company) = companies.entry(company).or_default();
                all.extend(webhooks);
                of_company.extend(numbers);
            }
            Ok(None) => {}
            Err(error) => {
                log_failure!(target: "webhooks", &error, "could not look up the endpoints of a record");
                numbers.into_iter().for_each(|number| report.add_failure(number));
            }
        }
    }
    let served = companies.into_iter().map(|(company, (webhooks, numbers))| async move {
        (webhooks.len(), numbers, invocation.serve_company(&company, webhooks).await)
    });
    let mut served = stream::iter(served).buffer_unordered(ENDPOINTS);
    let mut failed = 0;
    while let Some((webhooks, numbers, result)) = served.next().await {
        count += webhooks;
        match result {
            Ok(endpoints) => failed += endpoints,
            Err(error) => {
                log_failure!(target: "webhooks", &error, "could not serve a company");
                numbers.into_iter().for_each(|number| report.add_failure(number));
            }
        }
    }
    log_invocation!(target: "webhooks", invocation.system.usage(), records = records.len(), endpoints = count, failed, "delivered");
    report
}

/// The endpoints to serve after a write.
async fn load_endpoints(
    invocation: &SenderInvocation<'_>,
    trigger: StreamTrigger,
) -> Result<Option<(CompanyId, BTreeSet<WebhookId>)>> {
    Ok(match trigger {
        StreamTrigger::Company(company) => {
            let webhooks = invocation.store().webhooks(&company).await?;
            Some((company, webhooks.iter().map(|webhook| webhook.id).collect()))
        }
        StreamTrigger::Webhook(id) => {
            let cursor = invocation.store().cursor(id).await?.filter(|cursor| cursor.wakes_sender);
            cursor.map(|cursor| (cursor.company.clone(), BTreeSet::from([id])))
        }
    })
}
