//! Mails to people: what stands in them, in the language they read, and how they reach SES.

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
use crate::domain::text::{Line, Name};

pub use account::{AccountLetter, AccountLink, AccountMail, activation_link, render_account, reset_link};
pub use render::{Rendered, render};
pub use send::{Delivery, Envelope, Mailer};

/// What a mail to a candidate tells.
pub struct Letter<'a> {
    /// The candidate's first name.
    pub first_name: &'a Name,
    /// The candidate's last name.
    pub last_name: &'a Name,
    /// Who invites.
    pub company: &'a Name,
    /// What the interview is for.
    pub project: &'a Name,
    /// Who answers questions; may be empty.
    pub contact_person: &'a Line<150>,
    /// Where questions may be sent; may be empty.
    pub contact_address: &'a Line<254>,
    /// The language to write in.
    pub language: Language,
    /// Until when the interview can be taken.
    pub deadline: Option<DateTime<Utc>>,
    /// IANA name of the time zone to tell the deadline in. One that is empty or unknown means UTC.
    pub timezone: &'a str,
    /// Where the candidate goes next.
    pub link: Link,
}

impl<'a> Letter<'a> {
    /// What to tell this candidate, as it stands, of its interview. `suite` is the web application's address.
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
            link: Link::new(suite, candidate, project),
        }
    }
}

/// Where a mail leads its reader.
#[derive(Clone, PartialEq, Eq)]
pub enum Link {
    /// To register with a password. The address is a secret: it holds the activation key.
    Register(String),
    /// To take the interview without a password. The address is a secret: it holds the key that does for one.
    Open(String),
    /// To log in and take the interview.
    Start(String),
}

impl Link {
    /// The page for who has a key: to register on, or the interview where that needs no password and none was chosen; the
    /// page to log in on for who needs a key no more.
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

    /// Whether the address is a secret of its reader.
    pub fn is_personal(&self) -> bool {
        matches!(self, Self::Register(_) | Self::Open(_))
    }

    /// The address.
    pub fn url(&self) -> &str {
        match self {
            Self::Register(url) | Self::Open(url) | Self::Start(url) => url,
        }
    }
}

/// A page of the web application at `suite`, wherever that is mounted. Nothing can leave its segment.
fn page(suite: &Url, segments: &[&str]) -> String {
    let mut url = suite.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    String::from(url)
}

#[cfg(test)]
mod tests;
