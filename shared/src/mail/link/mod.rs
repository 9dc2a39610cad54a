//! The links in mails to pages of the web application.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use crate::domain::candidate::Candidate;
use crate::domain::project::Project;

/// The link to a candidate's interview, in mails and for clients that send it themselves.
#[derive(Clone, PartialEq, Eq)]
pub enum InterviewLink {
    /// Registration with a password. Secret: contains the activation key.
    Register(String),
    /// The interview without a password. Secret: contains the interview key.
    Open(String),
    /// Login, then the interview.
    Start(String),
}

impl InterviewLink {
    /// Login if there is no `key` (the decrypted access key). With a key: the interview if the candidate needs no password
    /// and has none, else registration.
    pub fn new(suite: &Url, candidate: &Candidate, project: &Project, key: Option<&str>) -> Self {
        let company = candidate.company.as_str();
        let needs_password = candidate.needs_password(project.settings.allow_hash_login);
        let needs_no_password = !needs_password && candidate.password_hash.is_none();
        match key {
            Some(key) if needs_no_password => Self::Open(page(suite, &["interview", company, key])),
            Some(key) => Self::Register(page(suite, &["register", key])),
            None => Self::Start(page(suite, &["interview", company, ""])),
        }
    }

    /// Whether the URL is secret.
    pub fn is_secret(&self) -> bool {
        matches!(self, Self::Register(_) | Self::Open(_))
    }

    pub fn url(&self) -> &str {
        match self {
            Self::Register(url) | Self::Open(url) | Self::Start(url) => url,
        }
    }
}

/// The page where an invited customer chooses a first password.
pub fn activation_link(suite: &Url, key: &str) -> String {
    page(suite, &["activate", key])
}

/// The page where a user chooses a new password.
pub fn reset_link(suite: &Url, key: &str) -> String {
    page(suite, &["reset-password", key])
}

/// The page where a user confirms a new address.
pub fn confirmation_link(suite: &Url, key: &str) -> String {
    page(suite, &["confirm-email", key])
}

/// The page where a user restores a former address.
pub fn restoration_link(suite: &Url, key: &str) -> String {
    page(suite, &["restore-email", key])
}

/// The page where guests watch a candidate's answers, at the `origin` of the service. Secret: contains the guest link's key.
pub fn review_link(origin: &Url, key: &str) -> String {
    page(origin, &["review", key])
}

/// Escapes everything except these characters, of which keys consist.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// The URL of a page of the web application at `suite`, with escaped segments.
// A string instead of a `Url`, which would be parsed again for each link in a list.
fn page(suite: &Url, segments: &[&str]) -> String {
    let suite = suite.as_str().trim_end_matches('/');
    let lengths = segments.iter().map(|segment| 1 + segment.len());
    let mut page = String::with_capacity(suite.len() + lengths.sum::<usize>());
    page.push_str(suite);
    for segment in segments {
        page.push('/');
        page.extend(utf8_percent_encode(segment, PLAIN));
    }
    page
}

#[cfg(test)]
mod tests;
