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

pub use account::{AccountLetter, AccountMail, activation_link, render_account, reset_link};
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
            link: Link::new(suite, candidate.access_key.as_ref()),
        }
    }
}

/// Where a mail leads its reader.
#[derive(Clone, PartialEq, Eq)]
pub enum Link {
    /// To register. The address is a secret: it holds the activation key.
    Register(String),
    /// To log in and take the interview.
    Start(String),
}

impl Link {
    /// The page to register on for who has a key, the page to log in on for who needs none any more.
    pub fn new(suite: &Url, key: Option<&AccessKey>) -> Self {
        let page = |segments: &[&str]| {
            let mut url = suite.clone();
            if let Ok(mut path) = url.path_segments_mut() {
                path.pop_if_empty().extend(segments);
            }
            String::from(url)
        };
        match key {
            Some(key) => Self::Register(page(&["register", key.as_str()])),
            None => Self::Start(page(&["interview", ""])),
        }
    }

    /// Whether the reader has registered already.
    pub fn is_registered(&self) -> bool {
        matches!(self, Self::Start(_))
    }

    /// The address.
    pub fn url(&self) -> &str {
        match self {
            Self::Register(url) | Self::Start(url) => url,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_into_the_web_application_wherever_it_is_mounted() {
        let key = AccessKey::new("aB3-_x".to_owned());
        for (suite, root) in [
            ("https://hr.example", "https://hr.example"),
            ("https://hr.example/", "https://hr.example"),
            ("https://hr.example/app", "https://hr.example/app"),
            ("http://localhost:8080/app/", "http://localhost:8080/app"),
        ] {
            let suite = Url::parse(suite).unwrap();
            let register = Link::new(&suite, Some(&key));
            assert_eq!(register.url(), format!("{root}/register/aB3-_x"));
            assert!(!register.is_registered());
            let start = Link::new(&suite, None);
            assert_eq!(start.url(), format!("{root}/interview/"));
            assert!(start.is_registered());
        }
    }

    #[test]
    fn a_key_cannot_leave_its_segment() {
        let suite = Url::parse("https://hr.example/").unwrap();
        let link = Link::new(&suite, Some(&AccessKey::new("../a?b#c\"<".to_owned())));
        assert_eq!(link.url(), "https://hr.example/register/..%2Fa%3Fb%23c%22%3C");
    }
}
