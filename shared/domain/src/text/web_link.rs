//! Links to pages.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _};
use url::Url;

use super::TextLine;

/// An absolute http or https URL, at most 2,000 characters, possibly empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, extend("format" = "uri"))]
pub struct WebLink(TextLine<2000>);

impl WebLink {
    /// Parses a URL after removing invisible marks. Fails unless it is empty or absolute http(s), with at most 2,000 characters.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::check(TextLine::parse_unmarked(text)?)
    }

    fn check(line: TextLine<2000>) -> Result<Self, String> {
        if line.is_empty() {
            return Ok(Self(line));
        }
        // Schemes are case-insensitive. Check for `://` here, because the parser accepts URLs without it.
        let (scheme, _) = line.as_str().split_once("://").unwrap_or_default();
        let is_absolute = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        if is_absolute && Url::parse(line.as_str()).is_ok_and(|url| url.has_host()) {
            Ok(Self(line))
        } else {
            Err("Enter a valid URL that begins with https:// or http://.".to_owned())
        }
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl<'de> Deserialize<'de> for WebLink {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::check(TextLine::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_absolute_web_addresses() {
        assert!(WebLink::parse("https://jobs.example/1?x=y").is_ok());
        for link in ["Https://example.com/", "HTTP://Example.com", "https://[::1]:8443/"] {
            assert_eq!(WebLink::parse(link).unwrap().as_str(), link);
        }
        assert_eq!(
            WebLink::parse("\u{200e}https://jobs.\u{200b}example/").unwrap().as_str(),
            "https://jobs.example/"
        );
        assert!(WebLink::parse("").is_ok());
        for bad in [
            "http:x",
            "http:/x",
            "hTtps:",
            "//jobs.example/",
            "javascript:alert(1)",
            "JavaScript://x/",
            "/jobs/1",
            "ftp://x.y",
            "https://",
        ] {
            assert!(WebLink::parse(bad).is_err(), "{bad}");
        }
    }
}
