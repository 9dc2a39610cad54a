//! Finds the account that a mail was sent to when SES reports on the mail.

use std::str::FromStr;

use crate::account::Account;
use crate::id::{CompanyId, InvalidId};

/// The account that a mail was sent to, as the SES message tag `recipient`: letters, digits, `-` and `_`. SES returns the tag
/// with bounces and complaints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipientTag {
    /// The company of the account.
    pub company: CompanyId,
    /// The customer or candidate.
    pub account: Account,
}

impl std::fmt::Display for RecipientTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let company = &self.company;
        match self.account {
            Account::Customer { customer } => write!(f, "{company}_{customer}"),
            Account::Candidate { project, candidate } => write!(f, "{company}_{project}_{candidate}"),
        }
    }
}

impl FromStr for RecipientTag {
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

    #[test]
    fn tags_parse_back_and_fit_the_limits_of_ses() {
        let id = "01JCB0000000000000000000CD";
        for text in [format!("acme-2_{id}"), format!("{}_{id}_{id}", "a".repeat(63))] {
            let tag: RecipientTag = text.parse().unwrap();
            assert_eq!(tag.to_string(), text);
            let taken = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            assert!(text.len() <= 256 && text.bytes().all(taken));
        }
        for text in ["", "acme", "acme_1", &format!("Acme_{id}"), &format!("acme_{id}_{id}_{id}")] {
            assert!(text.parse::<RecipientTag>().is_err(), "{text}");
        }
    }
}
