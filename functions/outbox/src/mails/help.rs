//! Mails about candidates' requests for help.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::id::CompanyId;
use shared::domain::project::contact::Contact;
use shared::domain::staff::help_notice::{AskedHelp, HelpRecipient};
use shared::http::reference::ReferenceUris;
use shared::mail::{AskedHelpEntry, MailEnvelope, MailOccasion, Mailer, PersonalMail};
use shared::store::HelpSubject;

use crate::mails::account::send_to_customer;
use crate::outcome::{EffectResult, send_mail};

/// Tells a recipient about requests for help; `more` is the number of requests that the mail does not name. Skips
/// requests that were answered or withdrawn, and projects without a role for the customer.
pub(crate) async fn send(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    recipient: HelpRecipient,
    asked: &[AskedHelp],
    more: usize,
) -> Result<(EffectResult, String)> {
    let subject = system.store.help_subject(company, recipient, asked).await?;
    let entries = entries(system, recipient, asked, &subject);
    if entries.is_empty() {
        return Ok((EffectResult::Outdated, "there is nothing to tell".to_owned()));
    }
    let Some(company) = &subject.company else {
        return Ok((EffectResult::Outdated, "the company is gone".to_owned()));
    };
    let project = match recipient {
        HelpRecipient::Customer(_) => {
            let Some(customer) = &subject.customer else {
                return Ok((EffectResult::Outdated, "the customer is gone".to_owned()));
            };
            let occasion = MailOccasion::HelpRequested { requests: &entries, more, is_to_contact: false };
            return send_to_customer(mailer, customer, company, occasion).await;
        }
        HelpRecipient::Contact(project) => subject.projects.get(&project),
    };
    let contact = project.map(|project| (project, Contact::of(project, company)));
    let Some((project, Contact { email: Some(to), .. })) = contact else {
        return Ok((EffectResult::Outdated, "there is no contact any more".to_owned()));
    };
    let mail = PersonalMail {
        // No personal salutation: it is unknown who reads the contact's mailbox.
        first_name: &company.name,
        last_name: &company.name,
        company: &company.name,
        language: project.settings.support_lang.unwrap_or(company.default_project_lang),
        occasion: MailOccasion::HelpRequested { requests: &entries, more, is_to_contact: true },
    };
    let envelope = MailEnvelope { to: &to, account: None, company, alias: None, reply_to: None };
    send_mail(mailer, &envelope, &mail).await
}

/// The open requests that the recipient may see.
fn entries(
    system: &SystemAccess,
    recipient: HelpRecipient,
    asked: &[AskedHelp],
    subject: &HelpSubject,
) -> Vec<AskedHelpEntry> {
    let HelpSubject { customer, projects, candidates, .. } = subject;
    let references = ReferenceUris::new(system.config());
    let entry = |asked: &AskedHelp| {
        let candidate = candidates.get(&asked.candidate);
        let candidate = candidate.filter(|candidate| candidate.asked_help() == Some(*asked))?;
        let project = projects.get(&asked.project)?;
        let may_know = match (recipient, customer) {
            (HelpRecipient::Customer(id), Some(customer)) => {
                project.staff.interview_managers.contains(&id) || customer.is_owner_at_work()
            }
            (HelpRecipient::Customer(_), None) => false,
            (HelpRecipient::Contact(_), _) => true,
        };
        let page = references.candidate_page(&candidate.company, candidate.project, candidate.id);
        let entry = AskedHelpEntry::of(candidate, &project.settings.name, page.to_string());
        entry.filter(|_| may_know)
    };
    asked.iter().filter_map(entry).collect()
}
