//! Mails to owners about exports of their company.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::export::{ExportMail, ExportStatus};
use shared::domain::id::{CompanyId, CustomerId, ExportId};
use shared::mail::{MailOccasion, Mailer, moment_in_words};

use crate::mails::account::send_to_customer;
use crate::outcome::EffectResult;

/// Tells an owner about an export, unless they are no longer an owner or the export's status no longer fits the mail.
pub(crate) async fn notify_owner(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    customer: CustomerId,
    export: ExportId,
    mail: ExportMail,
) -> Result<(EffectResult, String)> {
    let store = &system.store;
    let (customer, export, company) = tokio::try_join!(
        store.customer(company, customer),
        store.export(company, export),
        store.company(company)
    )?;
    let (Some(customer), Some(export), Some(company)) = (customer, export, company) else {
        return Ok((EffectResult::Outdated, "the customer or the export is gone".to_owned()));
    };
    if !customer.is_owner_at_work() || !customer.takes_mail() {
        return Ok((EffectResult::Outdated, "the customer is no owner, or takes no mails".to_owned()));
    }
    let id = export.id;
    match (mail, export.status) {
        // Sent even if the export has been deleted: it may have been downloaded before.
        (ExportMail::Requested, _) => {
            let requester = store.customer(&company.id, export.created_by).await?;
            let by = requester
                .map(|by| format!("{} {}", by.first_name, by.last_name))
                .unwrap_or_else(|| company.name.to_string());
            send_to_customer(mailer, &customer, &company, MailOccasion::ExportRequested { id, by: &by }).await
        }
        (ExportMail::Finished, ExportStatus::Successful) if export.deleted_at.is_none() => {
            let until = export.expires_at().unwrap_or(system.now);
            let until = moment_in_words(until, company.timezone.as_str(), customer.preferred_language);
            let occasion = MailOccasion::ExportFinished { id, until: &until };
            send_to_customer(mailer, &customer, &company, occasion).await
        }
        (ExportMail::Failed, ExportStatus::Failed) => {
            send_to_customer(mailer, &customer, &company, MailOccasion::ExportFailed { id }).await
        }
        _ => Ok((EffectResult::Outdated, "the export has moved on".to_owned())),
    }
}
