//! The pages of the web application that mails lead to.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use crate::domain::candidate::Candidate;
use crate::domain::project::Project;

/// The link that opens a candidate's interview, in mails and for clients who send it themselves.
#[derive(Clone, PartialEq, Eq)]
pub enum InterviewLink {
    /// Registration with a password. Secret: holds the activation key.
    Register(String),
    /// The interview without a password. Secret: holds the interview key.
    Open(String),
    /// Login, then the interview.
    Start(String),
}

impl InterviewLink {
    /// Registration, or the interview if no password is needed and none was chosen; login once the candidate needs no key any
    /// more. `key` is the candidate's access key in the clear.
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

/// The page where a guest watches the answers of a candidate, at the `origin` of the service. Secret: holds the key of the link.
pub fn review_link(origin: &Url, key: &str) -> String {
    page(origin, &["review", key])
}

/// Characters that need no escape. Keys have no others.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// A page of the web application at `suite`. Segments are escaped.
// A `Url` would be parsed again for each link of a list.
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
