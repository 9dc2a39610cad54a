//! Mails to staff about ended interviews: a notification, and reminders of interviews that wait for evaluation.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::company::Company;
use shared::domain::id::{CompanyId, CustomerId, ProjectId};
use shared::domain::project::Project;
use shared::domain::staff::customer::Customer;
use shared::domain::staff::ended_interviews::EndedInterviews;
use shared::domain::text::ShortName;
use shared::http::reference::ReferenceUris;
use shared::mail::{EndedInterviewLine, EndedInterviewList, MailOccasion, Mailer, WaitingDays};
use shared::store::NoticeSubject;

use crate::mails::account::send_to_customer;
use crate::outcome::EffectResult;

/// The maximum number of interviews that a mail names.
const MAX_NAMED: usize = 10;

/// Tells a customer which interviews have ended: completed, or ended by time with answers. Skips projects where the
/// customer no longer has a role, and candidates who are deleted, have requested erasure, or continue the interview.
pub(crate) async fn tell(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    customer: CustomerId,
    interviews: &EndedInterviews,
) -> Result<(EffectResult, String)> {
    let subject = system.store.notice_subject(company, customer, interviews).await?;
    let is_in = |project: &Project| project.staff.awaits_interviews(customer);
    let has_ended = |candidate: &Candidate| {
        candidate.status == CandidateStatus::Interviewed || candidate.ended_by_time.is_some()
    };
    let line = |_: &Project, candidate: &Candidate, reader: Reader<'_>| {
        let is_told = has_ended(candidate) && candidate.erasure_request.is_none();
        is_told.then(|| reader.line(system, candidate))
    };
    send(system, mailer, subject, interviews, is_in, line, |count, project, lists, more| {
        MailOccasion::InterviewsEnded { count, project, lists, more }
    })
    .await
}

/// Reminds a customer of interviews that wait for their evaluation. Skips interviews that no longer need a reminder.
pub(crate) async fn remind(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    customer: CustomerId,
    interviews: &EndedInterviews,
) -> Result<(EffectResult, String)> {
    let subject = system.store.notice_subject(company, customer, interviews).await?;
    let is_in = |project: &Project| {
        project.settings.evaluation_days.is_some() && project.staff.evaluators.contains(&customer)
    };
    let now = system.now;
    let line = |project: &Project, candidate: &Candidate, reader: Reader<'_>| {
        let zone = reader.company.time_zone();
        let day = zone.local_time(now).date_naive();
        let mut reminded = candidate.reminded_evaluators(project, &zone, day, now);
        let ended = zone.local_time(candidate.interviewed_at?).date_naive();
        let days = (day - ended).num_days();
        reminded.any(|by| by == customer).then(|| EndedInterviewLine {
            waiting_days: Some(WaitingDays(days)),
            ..reader.line(system, candidate)
        })
    };
    send(system, mailer, subject, interviews, is_in, line, |count, project, lists, more| {
        MailOccasion::EvaluationsAwaited { count, project, lists, more }
    })
    .await
}

/// The recipient of a mail.
#[derive(Clone, Copy)]
struct Reader<'a> {
    customer: &'a Customer,
    company: &'a Company,
}

impl Reader<'_> {
    fn line(&self, system: &SystemAccess, candidate: &Candidate) -> EndedInterviewLine {
        let references = ReferenceUris::new(system.config());
        let page = references.candidate_page(&self.company.id, candidate.project, candidate.id);
        EndedInterviewLine::new(candidate, self.company, self.customer.preferred_language, page.to_string())
    }
}

/// Sends a mail about the interviews whose project satisfies `is_in` and whose `line` is not `None`.
async fn send(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    mut subject: NoticeSubject,
    interviews: &EndedInterviews,
    is_in: impl Fn(&Project) -> bool,
    line: impl Fn(&Project, &Candidate, Reader<'_>) -> Option<EndedInterviewLine>,
    occasion: impl for<'a> Fn(usize, Option<&'a ShortName>, &'a [EndedInterviewList], usize) -> MailOccasion<'a>,
) -> Result<(EffectResult, String)> {
    let (Some(customer), Some(company)) = (&subject.customer, &subject.company) else {
        return Ok((EffectResult::Outdated, "the customer is gone".to_owned()));
    };
    if !customer.takes_interview_notices() {
        return Ok((EffectResult::Outdated, "the customer takes no such mails".to_owned()));
    }
    subject.projects.retain(|_, project| is_in(project));
    let reader = Reader { customer, company };
    let told = interviews.listed.iter().filter_map(|interview| {
        let project = subject.projects.get(&interview.project)?;
        let candidate = subject.candidates.get(&interview.candidate)?;
        Some((project.id, line(project, candidate, reader)?))
    });
    let told: Vec<(ProjectId, EndedInterviewLine)> = told.collect();
    let counted = interviews.more.iter().filter(|(project, _)| subject.projects.contains_key(project));
    let counted: Vec<(ProjectId, usize)> =
        counted.map(|(project, count)| (*project, usize::try_from(*count).unwrap_or(usize::MAX))).collect();
    let count = told.len() + counted.iter().map(|(_, count)| count).sum::<usize>();
    if count == 0 {
        return Ok((EffectResult::Outdated, "there is nothing to tell".to_owned()));
    }
    let more = if told.is_empty() { 0 } else { count - told.len().min(MAX_NAMED) };
    let of = |project: ProjectId, lines| {
        let project = subject.projects.get(&project)?;
        let link = ReferenceUris::new(system.config()).project_page(&project.company, project.id).to_string();
        let name = project.settings.name.to_string();
        Some((project.id, EndedInterviewList { project: name, link, lines }))
    };
    let mut all = told.iter().map(|(project, _)| *project).chain(counted.iter().map(|(project, _)| *project));
    let first = all.next();
    let only = first.filter(|first| all.all(|other| other == *first));
    let mut lists: Vec<(ProjectId, EndedInterviewList)> = Vec::new();
    for (project, line) in told.into_iter().take(MAX_NAMED) {
        if let Some((_, list)) = lists.iter_mut().find(|(id, _)| *id == project) {
            list.lines.push(line);
        } else {
            lists.extend(of(project, vec![line]));
        }
    }
    if lists.is_empty() {
        // If no candidate is left to name, link to the projects, whose pages show the others.
        lists.extend(counted.iter().take(MAX_NAMED).filter_map(|(id, _)| of(*id, Vec::new())));
    }
    let project = only.and_then(|only| subject.projects.get(&only)).map(|only| &only.settings.name);
    let lists: Vec<EndedInterviewList> = lists.into_iter().map(|(_, list)| list).collect();
    send_to_customer(mailer, customer, company, occasion(count, project, &lists, more)).await
}
