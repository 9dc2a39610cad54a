//! Mails to staff about interviews that have ended.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::id::{CompanyId, CustomerId, ProjectId};
use shared::domain::staff::notice::EndedInterviews;
use shared::http::reference::ReferenceUris;
use shared::mail::{EndedInterviewLine, EndedInterviewList, MailOccasion, Mailer};

use crate::mails::account::send_to_customer;
use crate::outcome::EffectResult;

/// The most interviews that a mail names.
const MAX_NAMED: usize = 10;

/// Tells a customer which interviews have ended, complete or by their time with answers. Leaves out projects in which the customer has
/// no role any more, and candidates who are gone, have requested erasure, or go on with the interview.
pub(crate) async fn send(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    customer: CustomerId,
    interviews: &EndedInterviews,
) -> Result<(EffectResult, String)> {
    let mut subject = system.store.notice_subject(company, customer, interviews).await?;
    let (Some(customer), Some(company)) = (&subject.customer, &subject.company) else {
        return Ok((EffectResult::Outdated, "the customer is gone".to_owned()));
    };
    if !customer.takes_interview_notices() {
        return Ok((EffectResult::Outdated, "the customer takes no such mails".to_owned()));
    }
    subject.projects.retain(|_, project| project.staff.awaits_interviews(customer.id));
    let has_ended =
        |one: &Candidate| one.status == CandidateStatus::Interviewed || one.ended_by_time.is_some();
    let is_told = |one: &Candidate| has_ended(one) && one.erasure_request.is_none();
    let listed = interviews.listed.iter().filter(|one| subject.projects.contains_key(&one.project));
    let listed = listed.filter_map(|one| subject.candidates.get(&one.candidate));
    let told: Vec<&Candidate> = listed.map(|one| &**one).filter(|one| is_told(one)).collect();
    let counted = interviews.more.iter().filter(|(project, _)| subject.projects.contains_key(project));
    let counted: Vec<(ProjectId, usize)> =
        counted.map(|(project, count)| (*project, usize::try_from(*count).unwrap_or(usize::MAX))).collect();
    let count = told.len() + counted.iter().map(|(_, count)| count).sum::<usize>();
    if count == 0 {
        return Ok((EffectResult::Outdated, "there is nothing to tell".to_owned()));
    }
    let references = ReferenceUris::new(system.config());
    let mut lists: Vec<(ProjectId, EndedInterviewList)> = Vec::new();
    for candidate in told.iter().take(MAX_NAMED) {
        let page = references.candidate_page(&company.id, candidate.project, candidate.id);
        let line = EndedInterviewLine::new(candidate, company, customer.preferred_language, page.to_string());
        if let Some((_, list)) = lists.iter_mut().find(|(id, _)| *id == candidate.project) {
            list.lines.push(line);
        } else if let Some(project) = subject.projects.get(&candidate.project) {
            let link = references.project_page(&project.company, project.id).to_string();
            let name = project.settings.name.to_string();
            lists.push((project.id, EndedInterviewList { project: name, link, lines: vec![line] }));
        }
    }
    if lists.is_empty() {
        // All candidates who would be named are gone or go on with the interview: the pages of the projects show the others.
        for project in counted.iter().take(MAX_NAMED).filter_map(|(id, _)| subject.projects.get(id)) {
            let link = references.project_page(&project.company, project.id).to_string();
            let name = project.settings.name.to_string();
            lists.push((project.id, EndedInterviewList { project: name, link, lines: Vec::new() }));
        }
    }
    let mut all = told.iter().map(|one| one.project).chain(counted.iter().map(|(project, _)| *project));
    let first = all.next();
    let only = first.filter(|first| all.all(|other| other == *first));
    let project = only.and_then(|only| subject.projects.get(&only)).map(|only| &only.settings.name);
    let more = if told.is_empty() { 0 } else { count - told.len().min(MAX_NAMED) };
    let lists: Vec<EndedInterviewList> = lists.into_iter().map(|(_, list)| list).collect();
    let occasion = MailOccasion::InterviewsEnded { count, project, lists: &lists, more };
    send_to_customer(mailer, customer, company, occasion).await
}
