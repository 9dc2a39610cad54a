//! The pages of the web application that mails lead to.

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

/// A page of the web application at `suite`. Segments are escaped.
fn page(suite: &Url, segments: &[&str]) -> String {
    let mut url = suite.clone();
    // Only a URL such as `mailto:` has no segments, and the configuration refuses those.
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    String::from(url)
}

#[cfg(test)]
mod tests;
