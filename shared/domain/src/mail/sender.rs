//! Senders of a company's mails.

use serde::{Deserialize, Serialize};

use crate::text::{Email, is_domain};

/// The maximum number of senders of a company.
pub const MAX_SENDERS: usize = 20;

/// A sender that SES has verified for a company: an address, or a domain with its subdomains.
///
/// Compared as SES compares: domains ignore case and are stored in lower case; local parts must be equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderAddress(String);

impl SenderAddress {
    /// Parses an address or a domain.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if is_domain(text) {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        let address = Email::parse(text).ok();
        let parts = address.as_ref().and_then(|address| address.as_str().rsplit_once('@'));
        let (local, domain) =
            parts.ok_or_else(|| format!("\"{text}\" is neither a domain nor an email address."))?;
        Ok(Self(format!("{local}@{}", domain.to_ascii_lowercase())))
    }

    /// Parses at most [`MAX_SENDERS`] texts and removes duplicates. The error is a message about the first invalid text.
    pub fn parse_all(texts: &[String]) -> Result<Vec<Self>, String> {
        if texts.len() > MAX_SENDERS {
            return Err(format!("Ensure this list has no more than {MAX_SENDERS} items."));
        }
        let mut senders = Vec::with_capacity(texts.len());
        for text in texts {
            let sender = Self::parse(text)?;
            if !senders.contains(&sender) {
                senders.push(sender);
            }
        }
        Ok(senders)
    }

    /// The address or the domain.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `address` is this address, or belongs to this domain or a subdomain.
    pub fn covers(&self, address: &Email) -> bool {
        let Some((local, domain)) = address.as_str().rsplit_once('@') else { return false };
        let domain = domain.to_ascii_lowercase();
        match self.0.rsplit_once('@') {
            Some(parts) => parts == (local, domain.as_str()),
            None => domain
                .strip_suffix(self.0.as_str())
                .is_some_and(|above| above.is_empty() || above.ends_with('.')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(sender: &str, address: &str) -> bool {
        SenderAddress::parse(sender).unwrap().covers(&Email::parse(address).unwrap())
    }

    #[test]
    fn a_domain_covers_its_addresses_and_those_below() {
        for address in ["jobs@acme.example", "jobs@mail.ACME.example", "x@a.b.acme.example"] {
            assert!(covers(" Acme.example ", address), "{address}");
        }
        for address in ["jobs@badacme.example", "jobs@acme.example.org", "acme.example@other.example"] {
            assert!(!covers("acme.example", address), "{address}");
        }
        assert!(!covers("mail.acme.example", "jobs@acme.example"));
    }

    #[test]
    fn an_address_covers_itself() {
        assert!(covers("Jobs@Acme.example", "Jobs@acme.EXAMPLE"));
        for address in ["jobs@acme.example", "Jobs@mail.acme.example", "x.Jobs@acme.example"] {
            assert!(!covers("Jobs@acme.example", address), "{address}");
        }
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for bad in ["", " ", "acme", "@acme.example", "a b@acme.example", "acme.example.", "*.acme.example"] {
            let message = SenderAddress::parse(bad).unwrap_err();
            assert_eq!(message, format!("\"{}\" is neither a domain nor an email address.", bad.trim()));
        }
        assert!(SenderAddress::parse(&format!("{}.example", ["a"; 130].join("."))).is_err());
    }

    #[test]
    fn a_list_is_bounded_and_names_each_once() {
        let parse = |texts: &[&str]| {
            SenderAddress::parse_all(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(parse(&["acme.example", "b.example", "ACME.example"]).unwrap().len(), 2);
        assert!(parse(&["acme.example", "acme"]).unwrap_err().contains("\"acme\""));
        assert_eq!(parse(&["acme.example"; MAX_SENDERS]).unwrap().len(), 1);
        assert!(parse(&["acme.example"; MAX_SENDERS + 1]).unwrap_err().contains("no more than 20"));
        assert!(parse(&[]).unwrap().is_empty());
    }
}
