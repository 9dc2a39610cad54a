//! Email addresses in the form that SES accepts.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _};

use super::TextLine;

const INVALID: &str = "Enter a valid email address.";

/// An email address of at most 254 characters, the limit of RFC 5321.
///
/// Internationalised domains are stored in ASCII (IDNA 2008). The local part is ASCII, because SES does not support
/// SMTPUTF8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, extend("format" = "email"))]
pub struct Email(TextLine<254>);

impl Email {
    /// Parses an address that mail servers accept: a dot-atom, an @, a domain with a dot.
    pub fn parse(text: &str) -> Result<Self, String> {
        let line = TextLine::<254>::parse_unmarked(text)?;
        let (local, domain) = line.as_str().rsplit_once('@').ok_or(INVALID)?;
        let domain = to_ascii(domain).ok_or(INVALID)?;
        if !is_domain(&domain) {
            return Err(INVALID.to_owned());
        }
        // Refuse it now, while the client can enter another address, instead of when SES refuses the mail.
        if !local.is_ascii() {
            return Err(
                "Mail cannot be sent to this address. Use one with only ASCII characters before the @."
                    .to_owned(),
            );
        }
        if !is_local_part(local) {
            return Err(INVALID.to_owned());
        }
        TextLine::parse_exact(&format!("{local}@{domain}")).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The address as a line of text.
    pub fn into_line(self) -> TextLine<254> {
        self.0
    }
}

impl<'de> Deserialize<'de> for Email {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = TextLine::deserialize(deserializer)?;
        let parts = line.as_str().rsplit_once('@');
        if parts.is_some_and(|(local, domain)| is_local_part(local) && is_domain(domain)) {
            Ok(Self(line))
        } else {
            Err(D::Error::custom(INVALID))
        }
    }
}

/// A dot-atom. Encoded words (RFC 2047) are refused.
fn is_local_part(text: &str) -> bool {
    text.len() <= 64
        // Mail programs decode encoded words: they would show, or reply to, another address.
        && !text.contains("=?")
        && text.split('.').all(|part| !part.is_empty() && part.bytes().all(is_atom))
}

fn is_atom(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

pub(crate) fn is_domain(text: &str) -> bool {
    text.len() <= 253 && text.contains('.') && text.split('.').all(is_label)
}

fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// A domain in ASCII; `None` if it is invalid.
pub(super) fn to_ascii(domain: &str) -> Option<String> {
    if domain.is_ascii() { Some(domain.to_owned()) } else { idna::domain_to_ascii_strict(domain).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_that_servers_take() {
        for good in ["a@b.co", "first.last+tag@mail.example.com", "o'neil@x-y.org", "a=b?c@b.co"] {
            assert_eq!(Email::parse(good).unwrap().as_str(), good);
        }
        let long = format!("{}@b.co", "a".repeat(65));
        for bad in [
            "",
            "a",
            "@b.co",
            "a@",
            "a@b",
            "a b@c.de",
            "a@@b.co",
            ".a@b.co",
            "a@-b.co",
            "a@b..co",
            "a@b.co\nBcc: c@d.e",
            "=?utf-8?q?eve=40evil.example?=@b.co",
            "=?utf-8?b?ZXZl?=@b.co",
            "x=?y@b.co",
            "jörg@b.co",
            "a\u{200d}b@b.co",
            "a@ü b.example",
            "a@ü..example",
            "a@-ü.example",
            "a@ü%2e.example",
            "a@ü",
            &long,
        ] {
            assert!(Email::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn internationalised_domains_are_kept_in_ascii() {
        for (sent, kept) in [
            ("a@müller.example", "a@xn--mller-kva.example"),
            ("A@MU\u{308}LLER.Example", "A@xn--mller-kva.example"),
            ("a@例え。テスト", "a@xn--r8jz45g.xn--zckzah"),
            ("a@straße.example", "a@xn--strae-oqa.example"),
            ("a@Example.COM", "a@Example.COM"),
            ("\u{202a}a@example.com\u{202c}", "a@example.com"),
            ("\u{200e}a@\u{200b}ü.example", "a@xn--tda.example"),
        ] {
            assert_eq!(Email::parse(sent).unwrap().as_str(), kept);
        }
        let long = format!("a@{}.example", "ü".repeat(250));
        assert!(Email::parse(&long).is_err());
    }
}
