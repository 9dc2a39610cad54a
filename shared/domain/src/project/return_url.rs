//! The URL where candidates continue after the interview.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _};
use url::{Host, Url, form_urlencoded};

use crate::id::CandidateId;
use crate::text::{ExternalId, TextLine, is_loopback, problem_of_address};

/// The maximum length of the URL, in characters.
const MAX: usize = 2000;
/// The query parameters that only the service may add.
const ADDED: [&str; 2] = ["candidate", "external_id"];

/// The client's URL where candidates continue after the interview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, extend("format" = "uri", "maxLength" = MAX))]
pub struct ReturnUrl(String);

impl ReturnUrl {
    /// Parses a URL and normalises it as browsers do. In a deployment that `is_local`, http may lead to the same computer. The
    /// error is a message for the client.
    pub fn parse(text: &str, is_local: bool) -> Result<Self, String> {
        let line = TextLine::<MAX>::parse_unmarked(text)?;
        let url = Url::parse(line.as_str()).map_err(|_| "Enter a valid URL.")?;
        let is_web = url.scheme() == "https" || (is_local && url.scheme() == "http" && is_loopback(&url));
        if !is_web {
            return Err("Use a URL that begins with https://".to_owned());
        }
        if let Some(problem) = problem_of_address(line.as_str(), &url) {
            return Err(problem.to_owned());
        }
        let is_number = matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_)));
        if is_number && !(is_local && is_loopback(&url)) {
            return Err("Use a host name instead of an IP address.".to_owned());
        }
        check_query(&url)?;
        // Normalising adds escapes, and clients must be able to send back what they have read.
        if url.as_str().len() > MAX {
            return Err(format!(
                "Ensure this field has no more than {MAX} characters. Escapes such as %20 count as three."
            ));
        }
        Ok(Self(url.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The URL for one candidate: at the end of the query, their identifier and, if there is one, the client's key for them.
    pub fn of_candidate(&self, candidate: CandidateId, external_id: Option<&ExternalId>) -> String {
        let mut address = self.0.clone();
        let mark = address.find('?').unwrap_or_else(|| {
            address.push('?');
            address.len() - 1
        });
        // The existing query stays as it was sent: parsing it would rewrite its escapes.
        let mut query = form_urlencoded::Serializer::for_suffix(address, mark + 1);
        query.append_pair("candidate", &candidate.to_string());
        query.extend_pairs(external_id.map(|key| ("external_id", key.as_str())));
        query.finish()
    }
}

/// Checks that servers agree on the meaning of the query, and that it has no parameter which the service adds.
// If two parameters have one name, some servers take the first and some the last, so a candidate could return as another one.
fn check_query(url: &Url) -> Result<(), String> {
    // Some frameworks end a parameter at `;`.
    if url.query().is_some_and(|query| query.contains(';')) {
        return Err("Write `;` in the query as %3B: some servers read a new parameter after it.".to_owned());
    }
    for (sent, _) in url.query_pairs() {
        // PHP, Rails and others read these as a list or an object, one of whose names may be that of an added parameter.
        if sent.contains(['[', ']']) {
            return Err(
                "Parameters with `[` or `]` in their names are not possible: servers read them differently."
                    .to_owned(),
            );
        }
        // PHP replaces these characters by underscores, and ASP.NET ignores case.
        let read = sent.trim_start().replace(['.', ' '], "_").to_lowercase();
        if let Some(name) = ADDED.iter().find(|name| read == **name) {
            return Err(format!(
                "The service adds the parameter `{name}` itself. Leave it out of the query."
            ));
        }
    }
    Ok(())
}

impl<'de> Deserialize<'de> for ReturnUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Accept local URLs, because an archive may come from a local service.
        Self::parse(&String::deserialize(deserializer)?, true).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str, is_local: bool) -> String {
        ReturnUrl::parse(text, is_local).unwrap_err()
    }

    #[test]
    fn candidates_return_over_https() {
        for (sent, kept) in [
            (" https://jobs.example/done?step=4&step=5 ", "https://jobs.example/done?step=4&step=5"),
            ("HTTPS://Jobs.example:443", "https://jobs.example/"),
            ("https://jobs.example:8443/%23?", "https://jobs.example:8443/%23?"),
            ("https://müller.example/ä", "https://xn--mller-kva.example/%C3%A4"),
            ("https://localhost/?candidates=1&a=%3B", "https://localhost/?candidates=1&a=%3B"),
            ("https://jobs.example/a;b/[x]?a=[1]&b=%5B", "https://jobs.example/a;b/[x]?a=[1]&b=%5B"),
        ] {
            let url = ReturnUrl::parse(sent, false).unwrap();
            assert_eq!(url.as_str(), kept);
            assert_eq!(ReturnUrl::parse(kept, false), Ok(url));
        }
        for (refused, reason) in [
            ("jobs.example", "valid URL"),
            ("https://", "valid URL"),
            ("http://jobs.example/", "https://"),
            ("http://localhost/", "https://"),
            ("http://127.0.0.1:8080/", "https://"),
            ("javascript:alert(1)", "https://"),
            ("data:text/html,x", "https://"),
            ("https:///jobs.example/", "names no host"),
            ("https:jobs.example", "names no host"),
            ("https:\\\\jobs.example", "names no host"),
            ("https://me@jobs.example/", "user name"),
            ("https://:secret@jobs.example/", "user name"),
            ("https://jobs.example/#x", "fragment"),
            ("https://jobs.example/#", "fragment"),
            ("https://jobs.example/?a=1&candidate=2", "`candidate`"),
            ("https://jobs.example/?%63andidate", "`candidate`"),
            ("https://jobs.example/?external_id=", "`external_id`"),
            ("https://jobs.example/?Candidate=1", "`candidate`"),
            ("https://jobs.example/?external.id=1", "`external_id`"),
            ("https://jobs.example/?a=1&+external+id=1", "`external_id`"),
            ("https://jobs.example/?external_id[]=1", "`[` or `]`"),
            ("https://jobs.example/?external_id%5B%5D=1", "`[` or `]`"),
            ("https://jobs.example/?a=1&b[c]=2", "`[` or `]`"),
            ("https://jobs.example/?external[id=1", "`[` or `]`"),
            ("https://jobs.example/?a=1;candidate=2", "%3B"),
            ("https://jobs.example/?;", "%3B"),
            ("https://192.0.2.1/", "host name"),
            ("https://2130706433/", "host name"),
            ("https://0x7f.1:8443/", "host name"),
            ("https://127.0.0.1/", "host name"),
            ("https://[::1]/", "host name"),
            ("https://[2001:db8::1]/", "host name"),
            ("https://jobs.example/\nx", "Control characters"),
            ("https://jobs.example/\tx", "Control characters"),
        ] {
            let problem = refusal(refused, false);
            assert!(problem.contains(reason), "{refused}: {problem}");
        }
    }

    #[test]
    fn an_address_is_short_with_its_escapes_too() {
        let of = |characters: usize, letter: &str| {
            format!("https://jobs.example/{}", letter.repeat(characters - "https://jobs.example/".len()))
        };
        assert!(ReturnUrl::parse(&of(MAX, "a"), false).is_ok());
        assert_eq!(refusal(&of(MAX + 1, "a"), false), "Ensure this field has no more than 2000 characters.");
        assert!(refusal(&of(MAX, "ä"), false).contains("count as three"));
    }

    #[test]
    fn the_local_run_leads_to_this_computer_alone() {
        for own in [
            "http://localhost:3000/",
            "http://127.0.0.1/x",
            "http://[::1]:1/",
            "https://127.0.0.1/",
            "https://jobs.example/",
        ] {
            assert_eq!(ReturnUrl::parse(own, true).unwrap().as_str(), own);
        }
        for other in
            ["http://jobs.example/", "http://localhost.example/", "http://10.0.0.1/", "ftp://localhost/"]
        {
            assert!(refusal(other, true).contains("https://"), "{other}");
        }
        assert!(refusal("https://10.0.0.1/", true).contains("host name"));
    }

    #[test]
    fn the_query_is_kept() {
        let candidate: CandidateId = "01JQ8ZB4T1H6W5Y7X3Q9E2G0FA".parse().unwrap();
        for (address, with_separator) in [
            ("https://jobs.example/done", "https://jobs.example/done?"),
            ("https://jobs.example/?", "https://jobs.example/?"),
            ("https://jobs.example/?a=%2B+b&c&d=/?", "https://jobs.example/?a=%2B+b&c&d=/?&"),
        ] {
            let url = ReturnUrl::parse(address, false).unwrap();
            let expected = format!("{with_separator}candidate={candidate}");
            assert_eq!(url.of_candidate(candidate, None), expected);
            let key = ExternalId::parse("A 17&b=ö").unwrap();
            let with_key = format!("{expected}&external_id=A+17%26b%3D%C3%B6");
            assert_eq!(url.of_candidate(candidate, Some(&key)), with_key);
        }
    }
}
