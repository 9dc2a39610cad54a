//! URLs that clients have chosen for requests of the service.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _};
use url::{Host, Url};

use crate::text::{is_domain, is_loopback, problem_of_address, without_marks};

/// The maximum length of a URL, in bytes.
const MAX: usize = 2048;
/// Suffixes of names that public DNS does not resolve.
const PRIVATE: [&str; 9] =
    ["local", "localhost", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa"];

/// The addresses that requests may be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedTargets {
    /// Public names, over https.
    Public,
    /// Public names over https, and the loopback interface, over http too: for tests and the local run.
    Loopback,
}

/// A URL to which the service sends requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, extend("format" = "uri", "maxLength" = MAX))]
pub struct OutgoingUrl(String);

impl OutgoingUrl {
    /// Parses a URL and normalises it as browsers do. The error is a message for the client, above all if the URL could lead into
    /// the service's own network. Host names are resolved and checked again for each request.
    pub fn parse(text: &str, targets: AllowedTargets) -> Result<Self, String> {
        let text = without_marks(text);
        let url = Url::parse(&text).map_err(|_| "Enter a valid URL.")?;
        let is_on_loopback = targets == AllowedTargets::Loopback && is_loopback(&url);
        let problem = problem_of_address(&text, &url);
        let problem = problem.or_else(|| match url.scheme() {
            "https" => None,
            "http" if is_on_loopback => None,
            _ if targets == AllowedTargets::Loopback => {
                Some("Use a URL that begins with https://, or with http:// for this computer.")
            }
            _ => Some("Use a URL that begins with https://"),
        });
        // This check only tells the client early. The check at each connection is the safe one, since the name may resolve
        // differently by then.
        let problem = problem
            .or_else(|| if is_on_loopback { problem_of_any_place(&url) } else { problem_of_place(&url) });
        if let Some(problem) = problem {
            return Err(problem.to_owned());
        }
        if url.as_str().len() > MAX {
            return Err(format!("Ensure this field has no more than {MAX} characters."));
        }
        Ok(Self(url.into()))
    }

    /// Parses a stored URL, wherever it leads.
    // The target was checked when a client sent the URL, and is checked again at each connection. Archives may bring URLs from
    // other deployments that this one refuses.
    fn parse_stored(text: &str) -> Result<Self, &'static str> {
        let url = Url::parse(text).map_err(|_| "Enter a valid URL.")?;
        let is_http = matches!(url.scheme(), "https" | "http");
        let problem = problem_of_address(text, &url);
        let problem = problem.or_else(|| (!is_http).then_some("Use a URL that begins with https://"));
        match problem.or_else(|| problem_of_any_place(&url)) {
            Some(problem) => Err(problem),
            None => Ok(Self(url.into())),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the host.
    pub fn host(&self) -> &str {
        let authority = self.authority();
        // Only IPv6 addresses have colons other than the port's, within brackets.
        authority.rsplit_once(':').filter(|_| !authority.ends_with(']')).map_or(authority, |(host, _)| host)
    }

    /// The host, with the port if it is not the scheme's default.
    pub fn authority(&self) -> &str {
        let rest = self.0.split_once("://").map_or(self.0.as_str(), |(_, rest)| rest);
        rest.split(['/', '?']).next().unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for OutgoingUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse_stored(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Why no request can be sent to the host and port of `url`, even if it is a local address.
fn problem_of_any_place(url: &Url) -> Option<&'static str> {
    if url.port() == Some(0) {
        return Some("Nothing can be reached at port 0. Use another port, or leave it out.");
    }
    let Some(Host::Domain(name)) = url.host() else { return None };
    // Allow underscores, which names of containers contain. Refuse wildcards and other punctuation, which the parser accepts.
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    (!is_name).then_some("Use the name of one host: letters, digits, hyphens and dots.")
}

/// Why requests may not be sent to the host and port of `url`, unless loopback addresses are allowed.
fn problem_of_place(url: &Url) -> Option<&'static str> {
    if !matches!(url.port(), None | Some(1024..)) {
        return Some("Use port 443, or a port of 1024 or higher.");
    }
    // The parser has recognised IP addresses in every notation.
    let Some(Host::Domain(name)) = url.host() else {
        return Some("Use the name of a host. IP addresses are not allowed.");
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_private =
        PRIVATE.iter().any(|suffix| name.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.')));
    (is_private || !is_domain(name)).then_some("Use the name of a host in the public internet.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_public_names_over_https() {
        for (sent, kept) in [
            ("https://hooks.example.com/in?x=1", "https://hooks.example.com/in?x=1"),
            ("https://hooks.example.com", "https://hooks.example.com/"),
            ("HTTPS://Hooks.Example.com:443/", "https://hooks.example.com/"),
            ("https://hooks.example.com:8443/", "https://hooks.example.com:8443/"),
            ("https://müller.example/", "https://xn--mller-kva.example/"),
            ("https://localhost.example/", "https://localhost.example/"),
            ("https://10.example/", "https://10.example/"),
            ("\u{202a}https://hooks.example/\u{202c}", "https://hooks.example/"),
        ] {
            assert_eq!(OutgoingUrl::parse(sent, AllowedTargets::Public).unwrap().as_str(), kept);
        }
        for (sent, authority) in [
            ("https://hooks.example.com:443/in?x=1", "hooks.example.com"),
            ("https://hooks.example.com:8443?x=/", "hooks.example.com:8443"),
        ] {
            let url = OutgoingUrl::parse(sent, AllowedTargets::Public).unwrap();
            assert_eq!((url.authority(), url.host()), (authority, "hooks.example.com"));
        }
        for (sent, host) in [("http://[::1]:8080/", "[::1]"), ("http://[::1]/", "[::1]")] {
            assert_eq!(OutgoingUrl::parse(sent, AllowedTargets::Loopback).unwrap().host(), host);
        }
        let long = format!("https://hooks.example/{}", "a".repeat(MAX));
        for (refused, reason) in [
            ("", "valid URL"),
            ("hooks.example", "valid URL"),
            ("https://", "valid URL"),
            ("http://hooks.example/", "https://"),
            ("ftp://hooks.example/", "https://"),
            ("https://me@hooks.example/", "user name"),
            ("https://:secret@hooks.example/", "user name"),
            ("https://hooks.example/#x", "fragment"),
            ("https://hooks.example:80/", "port"),
            ("https://hooks.example:0/", "port"),
            ("https://*.example.com/x", "public internet"),
            ("https://*/", "public internet"),
            ("https://hooks.example:22/", "port"),
            ("https://127.0.0.1/", "IP addresses"),
            ("https://2130706433/", "IP addresses"),
            ("https://0x7f.1/", "IP addresses"),
            ("https://0177.0.0.1/", "IP addresses"),
            ("https://127.1/", "IP addresses"),
            ("https://１２７.0.0.1/", "IP addresses"),
            ("https://8.8.8.8/", "IP addresses"),
            ("https://[::1]/", "IP addresses"),
            ("https://[::ffff:127.0.0.1]/", "IP addresses"),
            ("https://localhost/", "public internet"),
            ("https://hooks/", "public internet"),
            ("https://LOCALHOST./", "public internet"),
            ("https://a.localhost/", "public internet"),
            ("https://printer.local/", "public internet"),
            ("https://db.internal./", "public internet"),
            ("https://metadata.google.internal/", "public internet"),
            ("https://a..example/", "public internet"),
            ("https://hooks./", "public internet"),
            ("https:///hooks", "names no host"),
            ("https:///hooks.example/in", "names no host"),
            ("https:/hooks.example/in", "names no host"),
            ("https:hooks.example/in", "names no host"),
            ("https://\\hooks.example/in", "names no host"),
            ("https:\\\\hooks.example/in", "names no host"),
            (&long, "no more than"),
        ] {
            let problem = OutgoingUrl::parse(refused, AllowedTargets::Public).unwrap_err();
            assert!(problem.contains(reason), "{refused}: {problem}");
        }
    }

    #[test]
    fn a_service_on_ones_own_computer_may_send_to_this_computer_as_well() {
        for sent in [
            "http://127.0.0.1:8080/hooks",
            "http://127.8.8.8/hooks",
            "http://[::1]:1/hooks",
            "http://localhost/",
            "https://localhost:443/",
            "https://hooks.example/",
            "https://müller.example/",
        ] {
            let url = OutgoingUrl::parse(sent, AllowedTargets::Loopback).unwrap();
            let stored = serde_json::to_string(&url).unwrap();
            assert_eq!(serde_json::from_str::<OutgoingUrl>(&stored).unwrap(), url);
        }
        for refused in [
            "ftp://localhost/",
            "http://me@localhost/",
            "http://localhost/#x",
            "http:///hooks",
            "http://localhost:0/",
            "http://127.0.0.1:0/",
            "http://hooks.example/",
            "http://receiver/",
            "http://192.168.0.7/",
            "https://192.168.0.7/",
            "http://169.254.169.254/latest/meta-data/",
            "http://0.0.0.0:8080/",
            "http://localhost.example/",
            "https://printer.local/",
        ] {
            assert!(OutgoingUrl::parse(refused, AllowedTargets::Loopback).is_err(), "{refused}");
        }
        for damaged in ["ftp://localhost/", "https://me@hooks.example/", "https://hooks.*/", "http:///hooks"]
        {
            assert!(serde_json::from_value::<OutgoingUrl>(damaged.into()).is_err(), "{damaged}");
        }
        // An earlier release sent to all computers of a local network, and stored such addresses.
        assert!(serde_json::from_value::<OutgoingUrl>("http://receiver:8080/".into()).is_ok());
    }
}
