//! A mail to one person, before rendering.

use url::Url;

use super::occasion::{AccountLink, AskedHelpEntry, EndedInterviewList, InterviewEnd, MailOccasion};
use super::{InterviewLink, moment};
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::language::Language;
use crate::domain::project::Project;
use crate::domain::project::contact::Contact;
use crate::domain::questionnaire::Questionnaire;
use crate::domain::text::{Email, ShortName};
use crate::domain::transition::CandidateMail;

/// A mail to one person.
pub struct PersonalMail<'a> {
    /// The reader's first name.
    pub first_name: &'a ShortName,
    /// The reader's last name.
    pub last_name: &'a ShortName,
    pub company: &'a ShortName,
    /// The reader's language.
    pub language: Language,
    /// Why the mail is sent, and what it shows.
    pub occasion: MailOccasion<'a>,
}

impl<'a> PersonalMail<'a> {
    /// A mail to a candidate about their interview. `answered` is the number of answers in a complete interview, `suite` the web
    /// application's base URL, `key` the candidate's decrypted access key, `logo` the URL of the company's logo, and
    /// `accessibility` the URL of the accessibility statement.
    #[expect(clippy::too_many_arguments, reason = "what a mail shows comes from as many places")]
    pub fn about_interview(
        reason: CandidateMail,
        candidate: &'a Candidate,
        project: &'a Project,
        questionnaire: Option<&Questionnaire>,
        answered: Option<usize>,
        company: &'a Company,
        suite: &Url,
        key: Option<&str>,
        logo: Option<String>,
        accessibility: Option<String>,
    ) -> Self {
        let language = candidate.mail_language(Some(project), company);
        let has_ended = [CandidateMail::Completed, CandidateMail::EndedByTime, CandidateMail::Cancelled];
        // An answer to a request for help may come after the interview has ended.
        let is_open = match reason {
            CandidateMail::HelpAnswered => candidate.has_open_interview(),
            _ => !has_ended.contains(&reason),
        };
        let ends_at = candidate.ends_at().filter(|_| is_open);
        let in_words = |at| moment::in_words(at, company.timezone.as_str(), language);
        let end = match (reason, candidate.ended_by_time, candidate.interviewed_at) {
            (CandidateMail::EndedByTime, Some(ended), _) => Some((ended.ended_at, Some(ended.answered))),
            // An interview that took place elsewhere has no answers here, and "0 answers" would be wrong.
            (CandidateMail::Completed, _, Some(at)) => Some((at, answered.filter(|count| *count > 0))),
            _ => None,
        };
        // The message says why the interview was reopened, so every later mail about the interview repeats it, even the one
        // with the latest link.
        let message = match reason {
            CandidateMail::HelpAnswered => {
                let request = candidate.help_request.as_ref();
                request.and_then(|request| request.answer.as_ref()).map(ToString::to_string)
            }
            _ => candidate.reopening_message().filter(|_| is_open).map(ToString::to_string),
        };
        let length =
            questionnaire.and_then(|questionnaire| candidate.interview_length(project, questionnaire));
        Self {
            first_name: &candidate.profile.first_name,
            last_name: &candidate.profile.last_name,
            company: &company.name,
            language,
            occasion: MailOccasion::Interview {
                reason,
                project: &project.settings.name,
                length,
                message,
                end: end.map(|(at, answered)| InterviewEnd { at: in_words(at), answered }),
                contact: Contact::of(project, company),
                deadline: ends_at.map(in_words),
                link: is_open.then(|| InterviewLink::new(suite, candidate, project, key)),
                logo,
                accessibility: accessibility
                    .filter(|_| reason == CandidateMail::Invitation && length.is_some()),
            },
        }
    }

    /// `word`, which says that the interview is by video; empty if all questions are answered in writing.
    pub(super) fn by_video(&self, word: &'static str) -> &'static str {
        if self.is_written() { "" } else { word }
    }

    /// Whether the mail is about an interview in writing.
    pub(super) fn is_written(&self) -> bool {
        matches!(&self.occasion, MailOccasion::Interview { length: Some(length), .. } if length.is_written)
    }

    /// The address to which the mail tells the reader to write.
    pub(super) fn asked_address(&self) -> Option<&str> {
        let address = match &self.occasion {
            MailOccasion::Interview { contact, .. } => contact.email.as_ref(),
            MailOccasion::AccountDeleted { contact, .. } => *contact,
            _ => None,
        };
        address.map(Email::as_str)
    }

    /// The company's message to the candidate.
    pub(super) fn message(&self) -> Option<&str> {
        match &self.occasion {
            MailOccasion::Interview { message, .. } => message.as_deref(),
            _ => None,
        }
    }

    /// The formatted deadline to show.
    pub(super) fn deadline(&self) -> Option<&str> {
        match &self.occasion {
            MailOccasion::Interview { deadline, .. } => deadline.as_deref(),
            _ => None,
        }
    }

    /// The URL of the logo to show.
    pub(super) fn logo(&self) -> Option<&str> {
        match &self.occasion {
            MailOccasion::Interview { logo, .. } => logo.as_deref(),
            _ => None,
        }
    }

    /// The URL of the accessibility statement to link to.
    pub(super) fn accessibility(&self) -> Option<&str> {
        match &self.occasion {
            MailOccasion::Interview { accessibility, .. } => accessibility.as_deref(),
            _ => None,
        }
    }

    /// The link to show as a button; `None` unless the mail has exactly one link.
    pub(super) fn link(&self) -> Option<&str> {
        match &self.occasion {
            MailOccasion::Interview { link, .. } => link.as_ref().map(InterviewLink::url),
            MailOccasion::StaffInvitation { link, .. }
            | MailOccasion::StaffSignIn { link, .. }
            | MailOccasion::AddressConfirmation { link, .. }
            | MailOccasion::AddressChanged { link, .. } => Some(link),
            // For several accounts, the mail has a list instead, because a button would not say whose password it sets.
            MailOccasion::PasswordReset { accounts: [account], .. } => Some(&account.link),
            _ => None,
        }
    }

    /// The list of links in a mail about several accounts.
    pub(super) fn links(&self) -> &[AccountLink] {
        match self.occasion {
            MailOccasion::PasswordReset { accounts, .. } if accounts.len() > 1 => accounts,
            _ => &[],
        }
    }

    /// The ended interviews that a mail to a customer lists, by project.
    pub(super) fn ended_interviews(&self) -> &[EndedInterviewList] {
        match self.occasion {
            MailOccasion::InterviewsEnded { lists, .. } | MailOccasion::EvaluationsAwaited { lists, .. } => {
                lists
            }
            _ => &[],
        }
    }

    /// The requests for help that the mail lists.
    pub(super) fn help_requests(&self) -> &[AskedHelpEntry] {
        match self.occasion {
            MailOccasion::HelpRequested { requests, .. } => requests,
            _ => &[],
        }
    }

    /// The number of secret links in the mail.
    pub(super) fn secret_links(&self) -> usize {
        match &self.occasion {
            MailOccasion::Interview { link, .. } => {
                usize::from(link.as_ref().is_some_and(InterviewLink::is_secret))
            }
            MailOccasion::StaffInvitation { .. }
            | MailOccasion::AddressConfirmation { .. }
            | MailOccasion::AddressChanged { .. } => 1,
            MailOccasion::PasswordReset { accounts, .. } => accounts.len(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples;
    use crate::domain::text::TextLine;

    #[test]
    fn a_mail_about_an_interview_has_the_fields_of_the_stored_items() {
        let mut company = samples::company();
        let project = samples::project();
        let mut candidate = samples::candidate();
        company.timezone = TextLine::parse("Europe/Berlin").unwrap();
        candidate.profile.deadline = Some("2026-11-08T22:59:59Z".parse().unwrap());
        let suite = Url::parse("https://hr.example").unwrap();
        let reason = CandidateMail::Invitation;
        let mail = PersonalMail::about_interview(
            reason, &candidate, &project, None, None, &company, &suite, None, None, None,
        );
        assert_eq!((mail.first_name.as_str(), mail.last_name.as_str()), ("Ada", "Byron"));
        assert_eq!((mail.company.as_str(), mail.language), ("Acme", company.default_project_lang));
        assert_eq!(mail.deadline(), Some("Sunday 8 November 2026 at 23:59 (Europe/Berlin, UTC+1)"));
        let MailOccasion::Interview { project: name, link, .. } = &mail.occasion else { panic!() };
        assert_eq!(name.as_str(), "Sales");
        assert!(*link == Some(InterviewLink::new(&suite, &candidate, &project, None)));
    }
}
