//! Mails to staff about completed interviews.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::id::{CompanyId, CustomerId, ProjectId};
use shared::domain::staff::notice::InterviewedCandidates;
use shared::http::reference::ReferenceUris;
use shared::mail::{CompletedCandidate, CompletedProject, MailOccasion, Mailer};

use crate::mails::account::send_to_customer;
use crate::outcome::EffectResult;

/// The most candidates that a mail names.
const MAX_NAMED: usize = 10;

/// Tells a customer which candidates have completed the interview. Leaves out projects in which they have no role any more, and
/// candidates who are gone, have requested erasure, or go on with the interview.
pub(crate) async fn send(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    customer: CustomerId,
    candidates: &InterviewedCandidates,
) -> Result<(EffectResult, String)> {
    let mut subject = system.store.notice_subject(company, customer, candidates).await?;
    let (Some(customer), Some(company)) = (&subject.customer, &subject.company) else {
        return Ok((EffectResult::Outdated, "the customer is gone".to_owned()));
    };
    if !customer.takes_interview_notices() {
        return Ok((EffectResult::Outdated, "the customer takes no such mails".to_owned()));
    }
    subject.projects.retain(|_, project| project.staff.awaits_interviews(customer.id));
    let is_told =
        |one: &Candidate| one.status == CandidateStatus::Interviewed && one.erasure_request.is_none();
    let listed = candidates.listed.iter().filter(|one| subject.projects.contains_key(&one.project));
    let listed = listed.filter_map(|one| subject.candidates.get(&one.candidate));
    let told: Vec<&Candidate> = listed.map(|one| &**one).filter(|one| is_told(one)).collect();
    let counted = candidates.more.iter().filter(|(project, _)| subject.projects.contains_key(project));
    let counted: Vec<(ProjectId, usize)> =
        counted.map(|(project, count)| (*project, usize::try_from(*count).unwrap_or(usize::MAX))).collect();
    let count = told.len() + counted.iter().map(|(_, count)| count).sum::<usize>();
    if count == 0 {
        return Ok((EffectResult::Outdated, "there is nothing to tell".to_owned()));
    }
    let references = ReferenceUris::new(system.config());
    let mut projects: Vec<(ProjectId, CompletedProject)> = Vec::new();
    for candidate in told.iter().take(MAX_NAMED) {
        let named = CompletedCandidate::new(candidate, company, customer.preferred_language);
        if let Some((_, project)) = projects.iter_mut().find(|(id, _)| *id == candidate.project) {
            project.candidates.push(named);
        } else if let Some(project) = subject.projects.get(&candidate.project) {
            let page = references.suite_page(&references.uri(&project.company, project.id));
            let name = project.settings.name.to_string();
            let link = page.map(|page| page.to_string());
            projects.push((project.id, CompletedProject { name, link, candidates: vec![named] }));
        }
    }
    let mut all = told.iter().map(|one| one.project).chain(counted.iter().map(|(project, _)| *project));
    let first = all.next();
    let only = first.filter(|first| all.all(|other| other == *first));
    let project = only.and_then(|only| subject.projects.get(&only)).map(|only| &only.settings.name);
    let more = if told.is_empty() { 0 } else { count - told.len().min(MAX_NAMED) };
    let projects: Vec<CompletedProject> = projects.into_iter().map(|(_, project)| project).collect();
    let occasion = MailOccasion::InterviewsCompleted { count, project, projects: &projects, more };
    send_to_customer(mailer, customer, company, occasion).await
}
