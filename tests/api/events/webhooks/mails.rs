//! Mails about webhooks to the owners of a company, and when they are sent.

use serde_json::json;
use shared::auth::SystemAccess;
use shared::domain::effect::Effect;
use shared::domain::webhook::WebhookMail::{self, Disabled, Failing};
use shared::domain::webhook::{DeliveryCursor, DisabledReason, Webhook};
use shared::store::DeliveryProgress;
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};

use super::webhook;

/// Notes the mail as the function that sends events does, which may disable the webhook in the same transaction.
pub(crate) async fn note(app: &TestApp, uri: &str, mail: WebhookMail, reason: Option<DisabledReason>) {
    let system = SystemAccess::of(app.app());
    let (company, id) = ("acme".parse().unwrap(), last_segment(uri).parse().unwrap());
    let before = system.store.endpoint(&company, id).await.unwrap().unwrap();
    let webhook = reason.into_iter().fold(Webhook::clone(&before.webhook), Webhook::disabled);
    let customers = system.store.all_customers(&company).await.unwrap();
    let customers = customers.iter().map(|customer| &**customer);
    let version = before.cursor.version() + 1;
    let effects = Effect::of_webhook(&webhook, mail, customers, version, system.now);
    let cursor = DeliveryCursor::clone(&before.cursor);
    let after = DeliveryProgress { webhook, cursor, stalled: Vec::new(), attempts: Vec::new(), effects };
    system.commit(system.store.record_progress(&before, &after)).await.unwrap();
}

/// The mails to an address about a webhook: other tests have users of the same address.
fn mails(app: &TestApp, email: &str, uri: &str) -> Vec<String> {
    let texts = app.mails_to(email).into_iter().filter_map(|mail| mail.text.clone());
    texts.filter(|text| text.contains(last_segment(uri))).collect()
}

#[tokio::test]
async fn every_owner_who_can_log_in_is_told_and_nobody_else() {
    let app = TestApp::start().await;
    let (owner, other, admin) = (app.owner().await, app.staff("owner").await, app.staff("admin").await);
    let fields = json!({ "description": "Applicant <tracking>", "types": ["candidate.created"] });
    let uri = webhook(&owner, fields).await;
    for (count, mail, reason, told) in [
        (1, Failing, None, "every delivery has failed. No event is lost."),
        (2, Disabled, Some(DisabledReason::Failing), "every delivery has failed for five days."),
        (3, Disabled, Some(DisabledReason::Gone), "(410 Gone)"),
    ] {
        owner.patch(&uri, json!({ "is_enabled": true })).await.expect(200);
        note(&app, &uri, mail, reason).await;
        app.settle().await;
        for reader in [&owner, &other] {
            let mails = mails(&app, &reader.email, &uri);
            assert_eq!(mails.len(), count, "{mails:?}");
            let text = mails.iter().find(|text| text.contains(told)).unwrap();
            assert!(text.contains("hooks.example.com (Applicant <tracking>)"), "{text}");
            assert!(!text.contains("hooks.example.com/in"), "the rest of the URL may be secret: {text}");
        }
    }
    assert_eq!(mails(&app, &admin.email, &uri), [""; 0]);
}

#[tokio::test]
async fn a_mail_that_later_changes_have_made_pointless_is_not_sent() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = webhook(&owner, json!({ "types": ["candidate.created"] })).await;
    note(&app, &uri, Disabled, Some(DisabledReason::Gone)).await;
    owner.patch(&uri, json!({ "is_enabled": true })).await.expect(200);
    app.settle().await;
    note(&app, &uri, Failing, None).await;
    owner.patch(&uri, json!({ "is_enabled": false })).await.expect(200);
    app.settle().await;
    owner.patch(&uri, json!({ "is_enabled": true })).await.expect(200);
    note(&app, &uri, Failing, None).await;
    owner.delete(&uri).await.expect(204);
    app.settle().await;
    assert_eq!(mails(&app, &owner.email, &uri), [""; 0]);
}
