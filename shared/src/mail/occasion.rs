//! The reasons why mails are sent, with what only mails of this kind say.

use super::{InterviewLink, moment};
use crate::domain::candidate::{Candidate, CandidateProfile, EndedByTime, HelpKind, InterviewLength};
use crate::domain::company::Company;
use crate::domain::id::{ExportId, WebhookId};
use crate::domain::language::Language;
use crate::domain::project::contact::Contact;
use crate::domain::text::{Email, ShortName};
use crate::domain::transition::CandidateMail;

/// The reason why a mail is sent, with what only mails of this kind say.
#[derive(Clone)]
pub enum MailOccasion<'a> {
    /// Is about a candidate's interview.
    Interview {
        /// The event that the mail tells.
        reason: CandidateMail,
        project: &'a ShortName,
        /// The length of the interview; `None` if it takes place elsewhere.
        length: Option<InterviewLength>,
        /// The company's message to the candidate.
        message: Option<String>,
        /// How the interview ended; `None` unless the mail is about that.
        end: Option<InterviewEnd>,
        /// Answers questions.
        contact: Contact,
        /// The end of the time for the interview, in words.
        deadline: Option<String>,
        /// The candidate's next page; `None` once the interview has ended.
        link: Option<InterviewLink>,
        /// The URL of the company's logo.
        logo: Option<String>,
        /// The page about accessibility; `None` unless the mail invites to an interview on a page of this service.
        accessibility: Option<String>,
    },
    /// Asks a customer to choose a first password.
    StaffInvitation {
        /// The customer's user name.
        username: &'a str,
        /// The identifier of the company.
        identifier: &'a str,
        /// Secret: holds a one-time key.
        link: &'a str,
        /// Validity of the key.
        days: i64,
    },
    /// Leads a customer to the provider of their company, by which alone its staff sign in.
    StaffSignIn {
        /// Whether the mail is an invitation; otherwise they have asked for another password.
        is_invited: bool,
        /// The address of the sign-in.
        link: &'a str,
    },
    /// Tells a customer that interviews have ended: complete, or by their time with answers.
    InterviewsEnded {
        /// The number of interviews.
        count: usize,
        /// The name of the project, if all are of one.
        project: Option<&'a ShortName>,
        /// The interviews that the mail names, by project.
        lists: &'a [EndedInterviewList],
        /// How many it does not name, though it names others.
        more: usize,
    },
    /// Reminds a customer that interviews wait for their evaluation.
    EvaluationsAwaited {
        /// The number of candidates.
        count: usize,
        /// The name of the project, if all are of one.
        project: Option<&'a ShortName>,
        /// The interviews that the mail names, by project.
        lists: &'a [EndedInterviewList],
        /// How many it does not name, though it names others.
        more: usize,
    },
    /// Tells staff, or the contact for candidates, what candidates ask for.
    HelpRequested {
        /// The open requests, at least one, the oldest first.
        requests: &'a [AskedHelpEntry],
        /// How many it does not name.
        more: usize,
        /// Whether the mail goes to the contact, because no manager takes notices.
        is_to_contact: bool,
    },
    /// Lets the reader choose a new password for one account or several.
    PasswordReset {
        /// The accounts with the reader's address, at least one.
        accounts: &'a [AccountLink],
        /// Validity of the keys.
        hours: i64,
    },
    /// Asks the reader to confirm the address that the mail goes to.
    AddressConfirmation {
        /// The user name of the account; for candidates without one, the name of their project.
        username: &'a str,
        /// Secret: holds a one-time key.
        link: &'a str,
        /// Validity of the key.
        days: i64,
    },
    /// Tells the reader, at a former address, that the account is to get another one or has got it.
    AddressChanged {
        /// The user name of the account; for candidates without one, the name of their project.
        username: &'a str,
        /// The name of the user or token that has changed it, or of the company.
        by: &'a str,
        /// The time of the change, in words.
        at: &'a str,
        /// Whether the new address awaits its confirmation.
        is_pending: bool,
        /// Secret: holds a one-time key.
        link: &'a str,
        /// Validity of the key.
        hours: i64,
    },
    /// Tells an owner that the holder of an account has restored their former address.
    AddressRestored {
        /// First and last name of the holder.
        by: &'a str,
        /// The account's user name; for candidates without one, the name of their project.
        username: &'a str,
    },
    /// Tells an owner that somebody has changed how the staff of the company sign in, or a customer that another one has changed the account
    /// that they sign in with.
    SignInChanged {
        /// The name of the user, who may be the reader, or of the token; `None` for the operator of the service.
        by: Option<&'a str>,
        /// Whether the reader's own account was changed, and not the settings of the company.
        is_own: bool,
    },
    /// Tells the reader that their account was deleted.
    AccountDeleted {
        /// The name of the user, or of the company, that deleted it.
        by: &'a str,
        /// The address for questions; the company's name stands in if there is none.
        contact: Option<&'a Email>,
    },
    /// Tells an owner that every delivery to a webhook has failed for a day.
    WebhookFailing {
        id: WebhookId,
        /// Tells the reader which one it is.
        name: &'a str,
    },
    /// Tells an owner that a webhook was disabled.
    WebhookDisabled {
        id: WebhookId,
        /// Tells the reader which one it is.
        name: &'a str,
        /// Whether its server has answered 410, or else every delivery has failed for five days.
        is_gone: bool,
    },
    /// Tells an owner that a user has requested an export of all data of the company.
    ExportRequested {
        /// The owner needs it to delete the export.
        id: ExportId,
        /// First and last name of the user, who may be the reader.
        by: &'a str,
    },
    /// Tells the user who requested an export that it can be downloaded.
    ExportFinished {
        /// Tells the reader which one it is.
        id: ExportId,
        /// The end of the time for the download, in words.
        until: &'a str,
    },
    /// Tells the user who requested an export that it has failed.
    ExportFailed {
        /// Tells the reader which one it is.
        id: ExportId,
    },
}

/// How an interview ended: complete, or by its time.
#[derive(Clone)]
pub struct InterviewEnd {
    /// The end of the interview, in words.
    pub at: String,
    /// The number of questions with an answer, at least one; `None` if the interview took place elsewhere.
    pub answered: Option<usize>,
}

/// Interviews of one project that have ended.
pub struct EndedInterviewList {
    /// The name of the project.
    pub project: String,
    /// The page that shows the project.
    pub link: String,
    pub lines: Vec<EndedInterviewLine>,
}

/// An interview that has ended.
pub struct EndedInterviewLine {
    /// First and last name of the candidate.
    pub candidate: String,
    /// The end of the interview, in words.
    pub ended_at: String,
    /// The answers at the end of the time; `None` if the interview is complete.
    pub ended_by_time: Option<EndedByTime>,
    /// For how many days it has waited for the reader's evaluation; `None` if the mail does not remind of that.
    pub waiting_days: Option<WaitingDays>,
    /// The page that shows the interview.
    pub link: String,
}

impl EndedInterviewLine {
    /// The interview of a candidate, which the page at `link` shows, for readers of `language`, who see the time zone of the
    /// company.
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
    /// The page where staff answer.
    pub link: String,
}

impl AskedHelpEntry {
    /// The open request of a candidate of this project, which staff answer at `link`; `None` if there is none.
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

/// A link to choose a password for one of several accounts.
pub struct AccountLink {
    /// Distinguishes the reader's accounts: a user name, or the name of a candidate's project.
    pub name: String,
    /// Secret: holds a one-time key.
    pub link: String,
}
