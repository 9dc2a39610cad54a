//! Checks that URLs for requests and URLs of pages share.

use url::{Host, Url};

/// Why `url` is not an acceptable address in the internet: it names no host, or has a user name, a password or a fragment. `url`
/// was parsed from `text`.
pub(crate) fn problem_of_address(text: &str, url: &Url) -> Option<&'static str> {
    if !names_host(text) {
        Some("The URL names no host. Write it as https://host/path.")
    } else if !url.username().is_empty() || url.password().is_some() {
        Some("A user name or a password may not be part of the URL.")
    } else {
        // An empty fragment counts too: `https://host/#`.
        url.fragment().map(|_| "A fragment (#) may not be part of the URL.")
    }
}

/// Whether a host follows the scheme.
fn names_host(text: &str) -> bool {
    let rest = text.split_once("://").map(|(_, rest)| rest);
    // If the host is missing, the parser takes the first path segment as the host, as browsers do: events for `https:///hooks`
    // would go to a host called `hooks`.
    rest.is_some_and(|rest| !rest.starts_with(['/', '\\']))
}

/// Whether the host is `localhost` or a loopback address.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        // Other names may resolve to other computers.
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
