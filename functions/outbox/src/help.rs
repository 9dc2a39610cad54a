//! Mails staff about candidates' requests for help: at once, but to each recipient at most every ten minutes.

use std::collections::BTreeSet;

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::id::CompanyId;
use shared::domain::project::Project;
use shared::domain::project::contact::Contact;
use shared::domain::staff::help_notice::{AskedHelp, HelpRecipient};
use shared::work::DueWork;

use crate::outcome::{EffectResult, SweepSummary};

/// The maximum number of owners who are mailed if there is no other recipient.
const MAX_OWNERS: usize = 20;

/// Notifies the recipients of a request for help, unless it has been answered or withdrawn.
pub(crate) async fn tell(
    system: &SystemAccess,
    company: &CompanyId,
    asked: AskedHelp,
) -> Result<(EffectResult, String)> {
    let subject = system.store.candidate_subject(company, asked.project, asked.candidate).await?;
    let (Some(candidate), Some(project), Some(owner)) =
        (&subject.candidate, &subject.project, &subject.company)
    else {
        return Ok((EffectResult::Outdated, "the candidate is gone".to_owned()));
    };
    if candidate.asked_help() != Some(asked) {
        return Ok((EffectResult::Outdated, "the request is not open any more".to_owned()));
    }
    let contact = Contact::of(project, owner);
    for recipient in recipients(system, project, &contact).await? {
        system.store.tell_of_help(company, recipient, asked, system.now).await?;
    }
    Ok((EffectResult::Started, String::new()))
}

/// The project's managers who want notifications; else the contact for candidates; without an address, the owners.
// Every request needs a recipient: the candidate waits for an answer, perhaps while their time runs.
async fn recipients(
    system: &SystemAccess,
    project: &Project,
    contact: &Contact,
) -> Result<BTreeSet<HelpRecipient>> {
    let company = &project.company;
    let managers = project.staff.interview_managers.iter().copied();
    let managers = system.store.customers(company, managers).await?;
    let told = managers.iter().filter(|customer| customer.takes_interview_notices());
    let told: BTreeSet<HelpRecipient> = told.map(|customer| HelpRecipient::Customer(customer.id)).collect();
    if !told.is_empty() {
        return Ok(told);
    }
    if contact.email.is_some() {
        return Ok([HelpRecipient::Contact(project.id)].into());
    }
    let customers = system.store.all_customers(company).await?;
    let owners = customers.iter().filter(|customer| customer.is_owner_at_work() && customer.takes_mail());
    Ok(owners.take(MAX_OWNERS).map(|owner| HelpRecipient::Customer(owner.id)).collect())
}

/// Turns notices into mails if ten minutes have passed since the previous mail.
pub(crate) async fn hand_over(work: DueWork<'_>, summary: &mut SweepSummary) -> Result<()> {
    let system = work.system;
    let due = system.store.due_help_notices(system.now);
    let handed_over = work.run(due, summary, |notice| async move {
        // The index may still show a notice that is no longer due.
        if notice.is_due(system.now) {
            system.commit(system.store.hand_over_help_notice(&notice, system.now)).await?;
        }
        Ok(SweepSummary { notices: 1, ..SweepSummary::default() })
    });
    handed_over.await
}
