//! The reasons for mails, each with the data that only its mails show.

use super::{InterviewLink, moment};
use crate::domain::candidate::{Candidate, CandidateProfile, EndedByTime, HelpKind, InterviewLength};
use crate::domain::company::Company;
use crate::domain::id::{ExportId, WebhookId};
use crate::domain::language::Language;
use crate::domain::project::contact::Contact;
use crate::domain::text::{Email, ShortName};
use crate::domain::transition::CandidateMail;

/// The reason for a mail, with the data that only mails for this reason show.
#[derive(Clone)]
pub enum MailOccasion<'a> {
    /// Tells a candidate about their interview.
    Interview {
        /// The event that the mail is about.
        reason: CandidateMail,
        project: &'a ShortName,
        /// The length of the interview; `None` if it takes place elsewhere.
        length: Option<InterviewLength>,
        /// The company's message to the candidate.
        message: Option<String>,
        /// How the interview ended; `None` unless the mail is about that.
        end: Option<InterviewEnd>,
        /// The contact for questions.
        contact: Contact,
        /// The end of the time for the interview, formatted.
        deadline: Option<String>,
        /// The link to the candidate's next page; `None` once the interview has ended.
        link: Option<InterviewLink>,
        /// The URL of the company's logo.
        logo: Option<String>,
        /// The URL of the accessibility statement; `None` unless the mail is an invitation to an interview on a page of this service.
        accessibility: Option<String>,
    },
    /// Asks a customer to choose a first password.
    StaffInvitation {
        /// The customer's user name.
        username: &'a str,
        /// The identifier of the company.
        identifier: &'a str,
        /// Secret: contains a one-time key.
        link: &'a str,
        /// How long the key is valid.
        days: i64,
    },
    /// Tells a customer to sign in by their company's provider, because the company does not allow them a password.
    StaffSignIn {
        /// Whether the mail is an invitation; otherwise the customer has asked for a new password.
        is_invited: bool,
        /// The URL where the sign-in begins.
        link: &'a str,
    },
    /// Tells a customer that interviews have ended, because they are complete or because their time has ended after some answers.
    InterviewsEnded {
        /// The number of interviews.
        count: usize,
        /// The name of the project, if all interviews belong to one.
        project: Option<&'a ShortName>,
        /// The interviews that the mail lists, by project.
        lists: &'a [EndedInterviewList],
        /// How many further interviews the mail does not list; 0 if it lists none at all.
        more: usize,
    },
    /// Reminds a customer that interviews wait for their evaluation.
    EvaluationsAwaited {
        /// The number of candidates.
        count: usize,
        /// The name of the project, if all interviews belong to one.
        project: Option<&'a ShortName>,
        /// The interviews that the mail lists, by project.
        lists: &'a [EndedInterviewList],
        /// How many further interviews the mail does not list; 0 if it lists none at all.
        more: usize,
    },
    /// Tells staff, or the contact for candidates, about candidates' requests for help.
    HelpRequested {
        /// The open requests, at least one, oldest first.
        requests: &'a [AskedHelpEntry],
        /// How many open requests the mail does not list.
        more: usize,
        /// Whether the mail goes to the contact, because no manager receives such mails.
        is_to_contact: bool,
    },
    /// Lets the reader choose new passwords for one or more accounts.
    PasswordReset {
        /// The accounts with the reader's address, at least one.
        accounts: &'a [AccountLink],
        /// How long the keys are valid.
        hours: i64,
    },
    /// Asks the reader to confirm the address that the mail goes to.
    AddressConfirmation {
        /// The user name of the account; for candidates without one, the name of their project.
        username: &'a str,
        /// Secret: contains a one-time key.
        link: &'a str,
        /// How long the key is valid.
        days: i64,
    },
    /// Tells the reader, at the former address, that the account has a new address or will have it after a confirmation.
    AddressChanged {
        /// The user name of the account; for candidates without one, the name of their project.
        username: &'a str,
        /// The name of the user or token that has changed the address, or of the company.
        by: &'a str,
        /// The time of the change, formatted.
        at: &'a str,
        /// Whether the new address has yet to be confirmed.
        is_pending: bool,
        /// Secret: contains a one-time key.
        link: &'a str,
        /// How long the key is valid.
        hours: i64,
    },
    /// Tells an owner that the holder of an account has restored their former address.
    AddressRestored {
        /// First and last name of the holder.
        by: &'a str,
        /// The account's user name; for candidates without one, the name of their project.
        username: &'a str,
    },
    /// Tells an owner that the company's sign-in settings have changed, or tells a customer that another user has changed the
    /// provider's account with which they sign in.
    SignInChanged {
        /// The name of the user (who may be the reader) or token that made the change; `None` for the operator of the service.
        by: Option<&'a str>,
        /// Whether the reader's own account has changed, and not the company's settings.
        is_own: bool,
    },
    /// Tells the reader that their account was deleted.
    AccountDeleted {
        /// The name of the user, or of the company, that deleted it.
        by: &'a str,
        /// The address for questions; if `None`, the mail names the company instead.
        contact: Option<&'a Email>,
    },
    /// Tells an owner that every delivery to a webhook has failed for a day.
    WebhookFailing {
        id: WebhookId,
        /// Identifies the webhook for the reader.
        name: &'a str,
    },
    /// Tells an owner that a webhook was disabled.
    WebhookDisabled {
        id: WebhookId,
        /// Identifies the webhook for the reader.
        name: &'a str,
        /// Whether the receiver has answered 410; otherwise every delivery has failed for five days.
        is_gone: bool,
    },
    /// Tells an owner that a user has requested an export of all data of the company.
    ExportRequested {
        /// The export's identifier, which the owner needs to delete it.
        id: ExportId,
        /// First and last name of the user, who may be the reader.
        by: &'a str,
    },
    /// Tells the user who requested an export that it can be downloaded.
    ExportFinished {
        /// The export's identifier, by which the reader recognises it.
        id: ExportId,
        /// The end of the time for the download, formatted.
        until: &'a str,
    },
    /// Tells the user who requested an export that it has failed.
    ExportFailed {
        /// The export's identifier, by which the reader recognises it.
        id: ExportId,
    },
}

/// How an interview has ended: it is complete, or its time has ended.
#[derive(Clone)]
pub struct InterviewEnd {
    /// The end of the interview, formatted.
    pub at: String,
    /// The number of answered questions, at least one; `None` if the interview took place elsewhere.
    pub answered: Option<usize>,
}

/// Ended interviews of one project.
pub struct EndedInterviewList {
    /// The name of the project.
    pub project: String,
    /// The URL of the project's page.
    pub link: String,
    pub lines: Vec<EndedInterviewLine>,
}

/// An ended interview.
pub struct EndedInterviewLine {
    /// First and last name of the candidate.
    pub candidate: String,
    /// The end of the interview, formatted.
    pub ended_at: String,
    /// The number of answers when the time ended; `None` if the interview is complete.
    pub ended_by_time: Option<EndedByTime>,
    /// For how many days the interview has waited for the reader's evaluation; `None` if the mail is not such a reminder.
    pub waiting_days: Option<WaitingDays>,
    /// The URL of the candidate's page.
    pub link: String,
}

impl EndedInterviewLine {
    /// The ended interview of `candidate`, with times in `language` and in the company's time zone. `link` is the URL of the
    /// candidate's page.
    pub fn new(candidate: &Candidate, company: &Company, language: Language, link: String) -> Self {
        let CandidateProfile { first_name, last_name, .. } = &candidate.profile;
        let ended_by_time = candidate.ended_by_time;
        let at = candidate.interview_ended_at();
        let at = at.map(|at| moment::in_words(at, company.timezone.as_str(), language));
        let candidate = format!("{first_name} {last_name}");
        Self { candidate, ended_at: at.unwrap_or_default(), ended_by_time, waiting_days: None, link }
    }
}

/// A number of days.
pub struct WaitingDays(pub i64);

/// A candidate's request for help.
pub struct AskedHelpEntry {
    /// First and last name of the candidate.
    pub candidate: String,
    /// The name of the project.
    pub project: String,
    pub kind: HelpKind,
    /// The candidate's own words.
    pub text: String,
    /// The URL of the page where staff answer the request.
    pub link: String,
}

impl AskedHelpEntry {
    /// The candidate's open request; `None` if there is none. `link` is the URL of the page where staff answer it.
    pub fn of(candidate: &Candidate, project: &ShortName, link: String) -> Option<Self> {
        let request = candidate.open_help_request()?;
        let CandidateProfile { first_name, last_name, .. } = &candidate.profile;
        Some(Self {
            candidate: format!("{first_name} {last_name}"),
            project: project.to_string(),
            kind: request.kind,
            text: request.text.to_string(),
            link,
        })
    }
}

/// The link with which the reader chooses a password for one of their accounts.
pub struct AccountLink {
    /// Distinguishes the reader's accounts: a user name or, for a candidate without one, the name of their project.
    pub name: String,
    /// Secret: contains a one-time key.
    pub link: String,
}
