//! Whether mails reach somebody, as far as SES has told.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Refusal;
use super::account::Account;
use super::id::{CompanyId, InvalidId};
use super::text::Email;

/// Mails to the person's address do not arrive, or were reported as spam.
pub const UNDELIVERABLE: Refusal = Refusal {
    code: "undeliverable",
    detail: "Mails to this address bounced or were reported as spam. Set another email address first.",
};

/// Why somebody gets no mails any more; each outweighs those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trouble {
    /// The address does not take mails.
    Bounced,
    /// Whoever reads them has called them unwanted.
    Complained,
}

/// Whether mails reach somebody, as clients are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum EmailStatus {
    /// Nothing is known against the address.
    Deliverable,
    /// The address does not take mails.
    Bounced,
    /// Mails to the address were reported as spam.
    Complained,
    /// There is no address.
    #[serde(rename = "")]
    NoAddress,
}

/// What went wrong with mails to an address. It says nothing of any other that somebody has later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailTrouble {
    /// The address.
    address: Email,
    /// What went wrong.
    trouble: Trouble,
}

impl MailTrouble {
    /// What is known of somebody with this `address`, after `known` and the news of `trouble` with mails to `told`; none
    /// when that is nothing new.
    pub fn after(
        known: Option<&Self>,
        address: Option<&Email>,
        told: &str,
        trouble: Trouble,
    ) -> Option<Self> {
        let address = address.filter(|address| address.as_str().eq_ignore_ascii_case(told))?;
        let is_known = Self::of(known, Some(address)).is_some_and(|known| known >= trouble);
        (!is_known).then(|| Self { address: address.clone(), trouble })
    }

    /// Why somebody with this `address` gets no mails; none when nothing is known against it.
    pub fn of(known: Option<&Self>, address: Option<&Email>) -> Option<Trouble> {
        let known = known.filter(|known| Some(&known.address) == address)?;
        Some(known.trouble)
    }

    /// What clients are told of somebody with this `address`.
    pub fn status(known: Option<&Self>, address: Option<&Email>) -> EmailStatus {
        match Self::of(known, address) {
            Some(Trouble::Bounced) => EmailStatus::Bounced,
            Some(Trouble::Complained) => EmailStatus::Complained,
            None if address.is_some() => EmailStatus::Deliverable,
            None => EmailStatus::NoAddress,
        }
    }
}

/// Whom a mail is to, in a form that goes with it through SES: letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailTag {
    /// The company.
    pub company: CompanyId,
    /// Who.
    pub account: Account,
}

impl std::fmt::Display for MailTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let company = &self.company;
        match self.account {
            Account::Customer { customer } => write!(f, "{company}_{customer}"),
            Account::Candidate { project, candidate } => write!(f, "{company}_{project}_{candidate}"),
        }
    }
}

impl FromStr for MailTag {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let parts: Vec<&str> = text.split('_').collect();
        let (company, account) = match parts[..] {
            [company, customer] => (company, Account::Customer { customer: customer.parse()? }),
            [company, project, candidate] => {
                (company, Account::Candidate { project: project.parse()?, candidate: candidate.parse()? })
            }
            _ => return Err(InvalidId),
        };
        Ok(Self { company: company.parse()?, account })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn email(text: &str) -> Email {
        Email::parse(text).unwrap()
    }

    #[test]
    fn trouble_is_with_an_address_and_ends_with_it() {
        let (ada, other) = (email("Ada@mail.example"), email("ada@other.example"));
        let bounced = MailTrouble::after(None, Some(&ada), "ada@MAIL.example", Trouble::Bounced);
        let status = |known: &Option<MailTrouble>, address| MailTrouble::status(known.as_ref(), address);
        assert_eq!(status(&bounced, Some(&ada)), EmailStatus::Bounced);
        assert_eq!(status(&bounced, Some(&other)), EmailStatus::Deliverable);
        assert_eq!(status(&bounced, None), EmailStatus::NoAddress);
        assert_eq!(status(&None, Some(&ada)), EmailStatus::Deliverable);
        for (address, told) in [(Some(&other), "ada@mail.example"), (None, "ada@mail.example")] {
            assert_eq!(MailTrouble::after(None, address, told, Trouble::Bounced), None);
        }
        // Of the new address, nothing is known.
        let again = MailTrouble::after(bounced.as_ref(), Some(&other), "ada@other.example", Trouble::Bounced);
        assert_eq!(status(&again, Some(&other)), EmailStatus::Bounced);
    }

    #[test]
    fn a_complaint_outweighs_a_bounce_whichever_is_told_first() {
        let ada = email("ada@mail.example");
        let after = |known: &Option<MailTrouble>, trouble| {
            MailTrouble::after(known.as_ref(), Some(&ada), "ada@mail.example", trouble)
        };
        let bounced = after(&None, Trouble::Bounced);
        assert_eq!(after(&bounced, Trouble::Bounced), None);
        let complained = after(&bounced, Trouble::Complained);
        assert_eq!(MailTrouble::status(complained.as_ref(), Some(&ada)), EmailStatus::Complained);
        assert_eq!(after(&complained, Trouble::Bounced), None);
    }

    #[test]
    fn tags_read_back_and_ses_takes_them() {
        let id = "01JCB0000000000000000000CD";
        for text in [format!("acme-2_{id}"), format!("{}_{id}_{id}", "a".repeat(63))] {
            let tag: MailTag = text.parse().unwrap();
            assert_eq!(tag.to_string(), text);
            let taken = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            assert!(text.len() <= 256 && text.bytes().all(taken));
        }
        for text in ["", "acme", "acme_1", &format!("Acme_{id}"), &format!("acme_{id}_{id}_{id}")] {
            assert!(text.parse::<MailTag>().is_err(), "{text}");
        }
    }
}
