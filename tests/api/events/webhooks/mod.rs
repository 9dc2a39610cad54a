//! Webhooks: the endpoints to which a company's events are sent.

mod changes;
mod deliveries;
pub(crate) mod endpoint;
mod fairness;
pub(crate) mod mails;
mod refusals;
mod runs;
mod sending;
mod trouble;
mod typed;
mod wakes;

use serde_json::{Value, json};
use shared::auth::SystemAccess;
use shared::domain::webhook::{DeliveryCursor, Webhook};
use shared::domain::work::WorkState;
use shared::store::VersionedItem;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};

pub(crate) const WEBHOOKS: &str = "/companies/acme/webhooks/";
pub(crate) const URL: &str = "https://hooks.example.com/in";

/// A new webhook with these fields.
pub(crate) async fn webhook(caller: &impl Caller, fields: Value) -> String {
    let mut body = json!({ "url": URL });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    caller.post(WEBHOOKS, body).await.expect(201).uri("resource_uri")
}

/// The stored webhook of the company, with its cursor.
pub(crate) async fn stored(
    app: &TestApp,
    uri: &str,
) -> (VersionedItem<Webhook>, VersionedItem<DeliveryCursor>) {
    let (store, id) = (SystemAccess::of(app.app()).store, last_segment(uri).parse().unwrap());
    let webhook = store.webhook(&"acme".parse().unwrap(), id).await.unwrap().unwrap();
    (webhook, store.cursor(id).await.unwrap().unwrap())
}

/// Writes the cursor of a webhook, as the function that sends events does.
pub(crate) async fn write_cursor(
    app: &TestApp,
    uri: &str,
    change: impl FnOnce(DeliveryCursor) -> DeliveryCursor,
) {
    let (_, before) = stored(app, uri).await;
    let after = change(DeliveryCursor::clone(&before));
    SystemAccess::of(app.app()).store.save_cursor(&before, after).await.unwrap();
}

/// The cursor as the function that sends events leaves it when nothing is left to do.
pub(crate) fn at_rest(cursor: DeliveryCursor) -> DeliveryCursor {
    DeliveryCursor { work: WorkState { due_at: None, ..cursor.work }, requests: Vec::new(), ..cursor }
}
