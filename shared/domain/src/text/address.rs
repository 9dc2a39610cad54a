//! The checks that addresses of requests and addresses of pages share.

use url::{Host, Url};

/// Returns the problem of an address in the internet: it names no host, or has a user name, a password or a fragment. `text` is
/// what `url` was parsed from.
pub(crate) fn problem_of_address(text: &str, url: &Url) -> Option<&'static str> {
    if !names_host(text) {
        Some("The URL names no host. Write it as https://host/path.")
    } else if !url.username().is_empty() || url.password().is_some() {
        Some("A user name or a password may not be part of the URL.")
    } else {
        // An empty one is one: `https://host/#`.
        url.fragment().map(|_| "A fragment (#) may not be part of the URL.")
    }
}

/// Whether a host follows the scheme.
fn names_host(text: &str) -> bool {
    let rest = text.split_once("://").map(|(_, rest)| rest);
    // Without a host, the parser does what browsers do and takes the first segment of the path: events for
    // `https:///hooks` would go to a host called `hooks`.
    rest.is_some_and(|rest| !rest.starts_with(['/', '\\']))
}

/// Whether an address leads to the computer that uses it.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        // No other name is sure to lead to this computer.
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
