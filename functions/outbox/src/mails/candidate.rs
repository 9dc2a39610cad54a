//! Mails to candidates.

use chrono::{DateTime, Utc};
use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::candidate::Candidate;
use shared::domain::id::{CandidateId, CompanyId, ProjectId};
use shared::domain::project::contact::Contact;
use shared::domain::secret::SecretHash;
use shared::domain::transition::CandidateMail;
use shared::http::reference::ReferenceUris;
use shared::mail::{MailEnvelope, Mailer, PersonalMail};
use shared::store::MailSubject;

use crate::outcome::{EffectResult, send_mail};

/// Mails a candidate the link to their interview if `key` is the hash of one of their keys that no longer works.
/// Otherwise does nothing, so that a stranger learns nothing.
pub(crate) async fn send_link(
    system: &SystemAccess,
    company: &CompanyId,
    project: ProjectId,
    candidate: CandidateId,
    key: &SecretHash,
) -> Result<(EffectResult, String)> {
    let found = system.store.candidate(company, project, candidate).await?;
    let Some(before) = found else {
        return Ok((EffectResult::Outdated, "the candidate is gone".to_owned()));
    };
    let Some(change) = Candidate::clone(&before).with_latest_link(key, system.now) else {
        return Ok((EffectResult::Outdated, "no link may be mailed".to_owned()));
    };
    // The mail is a separate effect, so that one write both records and counts it.
    system.commit(system.store.change_candidate(&before, &change, system.now)).await?;
    Ok((EffectResult::Started, String::new()))
}

/// Sends a mail to a candidate unless later moves have made it pointless.
pub(crate) async fn send(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    mail: CandidateMail,
    caused_at: DateTime<Utc>,
    subject: &MailSubject,
) -> Result<(EffectResult, String)> {
    let (Some(candidate), Some(project), Some(company)) =
        (&subject.candidate, &subject.project, &subject.company)
    else {
        return Ok((EffectResult::Outdated, "the candidate is gone".to_owned()));
    };
    // A late mail with a revoked key or an old deadline would be worse than none.
    if mail.is_outdated(candidate, caused_at) {
        return Ok((EffectResult::Outdated, "the candidate has moved on".to_owned()));
    }
    let Some(to) = candidate.interview_mail_address() else {
        return Ok((EffectResult::Outdated, "the candidate takes no mails".to_owned()));
    };
    let suite = &system.config().suite_url;
    let references = ReferenceUris::new(system.config());
    let logo = references.logo(company).map(|logo| logo.to_string());
    let accessibility = references.accessibility_page(&company.id).map(|page| page.to_string());
    let questionnaire = subject.questionnaire.as_deref();
    let key = system.store.open_access_key(candidate).await?;
    let key = key.as_deref();
    let answered = match mail {
        CandidateMail::Completed => count_answers(system, candidate).await?,
        _ => None,
    };
    let mail = PersonalMail::about_interview(
        mail,
        candidate,
        project,
        questionnaire,
        answered,
        company,
        suite,
        key,
        logo,
        accessibility,
    );
    let account = Some(candidate.account());
    let alias = project.settings.email_alias.as_ref();
    let contact = Contact::of(project, company);
    let envelope = MailEnvelope { to, account, company, alias, reply_to: contact.email.as_ref() };
    send_mail(mailer, &envelope, &mail).await
}

/// The number of answers in the interview; `None` if another platform conducted it.
async fn count_answers(system: &SystemAccess, candidate: &Candidate) -> Result<Option<usize>> {
    if candidate.interview.is_none() {
        return Ok(None);
    }
    let answers = system.store.answers(&candidate.company, candidate.project, candidate.id).await?;
    Ok(answers.map(|answers| answers.answered()))
}
