//! Mails: their texts in six languages, and their delivery through SES.

mod account;
mod from;
mod moment;
mod render;
mod send;

use chrono::{DateTime, Utc};
use url::Url;

use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::language::Language;
use crate::domain::project::Project;
use crate::domain::secret::AccessKey;
use crate::domain::text::{ShortName, TextLine};

pub use account::{AccountLetter, AccountLink, AccountMail, activation_link, render_account, reset_link};
pub use render::{RenderedMail, render};
pub use send::{MailDelivery, MailEnvelope, Mailer};

/// The content of a mail to a candidate.
pub struct CandidateLetter<'a> {
    /// Of the candidate.
    pub first_name: &'a ShortName,
    /// Of the candidate.
    pub last_name: &'a ShortName,
    /// The company's name.
    pub company: &'a ShortName,
    /// The project's name.
    pub project: &'a ShortName,
    /// Answers questions; may be empty.
    pub contact_person: &'a TextLine<150>,
    /// The address for questions; may be empty.
    pub contact_address: &'a TextLine<254>,
    /// The project's language.
    pub language: Language,
    /// The end of the time for the interview.
    pub deadline: Option<DateTime<Utc>>,
    /// IANA name of the time zone for the deadline; UTC if it is empty or unknown.
    pub timezone: &'a str,
    /// The candidate's next page.
    pub link: LetterLink,
}

impl<'a> CandidateLetter<'a> {
    /// A letter for the candidate's current state. `suite` is the web application's base URL.
    pub fn new(candidate: &'a Candidate, project: &'a Project, company: &'a Company, suite: &Url) -> Self {
        Self {
            first_name: &candidate.profile.first_name,
            last_name: &candidate.profile.last_name,
            company: &company.name,
            project: &project.settings.name,
            contact_person: &project.settings.contact_person,
            contact_address: &company.registration_email,
            language: project.settings.support_lang.unwrap_or(company.default_project_lang),
            deadline: candidate.profile.deadline,
            timezone: company.timezone.as_str(),
            link: LetterLink::new(suite, candidate, project),
        }
    }
}

/// The link in a mail to a candidate.
#[derive(Clone, PartialEq, Eq)]
pub enum LetterLink {
    /// Registration with a password. Secret: holds the activation key.
    Register(String),
    /// The interview without a password. Secret: holds the interview key.
    Open(String),
    /// Login, then the interview.
    Start(String),
}

impl LetterLink {
    /// Registration, or the interview if the project needs no password and none was chosen; login once the candidate
    /// needs no key any more.
    pub fn new(suite: &Url, candidate: &Candidate, project: &Project) -> Self {
        let page = |segments: &[&str]| page(suite, segments);
        let company = candidate.company.as_str();
        let does_without_password = project.settings.allow_hash_login && candidate.password_hash.is_none();
        match candidate.access_key.as_ref().map(AccessKey::as_str) {
            Some(key) if does_without_password => Self::Open(page(&["interview", company, key])),
            Some(key) => Self::Register(page(&["register", key])),
            None => Self::Start(page(&["interview", company, ""])),
        }
    }

    /// Whether the URL is secret.
    pub fn is_personal(&self) -> bool {
        matches!(self, Self::Register(_) | Self::Open(_))
    }

    /// The URL.
    pub fn url(&self) -> &str {
        match self {
            Self::Register(url) | Self::Open(url) | Self::Start(url) => url,
        }
    }
}

/// A page of the web application at `suite`. Segments are escaped.
fn page(suite: &Url, segments: &[&str]) -> String {
    let mut url = suite.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    String::from(url)
}

#[cfg(test)]
mod tests;
